#include "apps/chaos/process_cluster.hpp"

#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "apps/sweep/child_program.hpp"
#include "core/dialling.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

constexpr const char* disk_bytes = "size=48m";

std::string text_of(file_system& files, const std::string& path) {
  const auto text = read_text(files, path, 1 << 22);
  return text ? *text : std::string();
}

}  // namespace

process_cluster::process_cluster(const config::Scenario& scenario, std::string program,
                                 std::string folder)
    : scenario_(scenario),
      program_(std::move(program)),
      folder_(std::move(folder)),
      run_(format("chaos-%d", static_cast<int>(::getpid()))),
      who_(cast_of(scenario)) {}

process_cluster::~process_cluster() {
  end_all();
  if (mounted_) (void)::umount(shared().c_str());
}

std::string process_cluster::name(role_id node) const {
  if (node.role == pb::SCHEDULER) return "scheduler";
  return (node.role == pb::SERVER ? "server-" : "worker-") + std::to_string(node.index);
}

role_id process_cluster::role_of(const std::string& child) const {
  for (const auto id : who_.all())
    if (to_string(id) == child) return id;
  return the_scheduler;
}

std::string process_cluster::manifest_text() const {
  const auto death = seconds_of(duration(scenario_.cluster().death_after())) * 1e3 *
                     scenario_.scenario().stretch();
  auto text = format(
      "[cluster]\nid = \"%s\"\nstate = \"state\"\n[links]\nbeat_every = \"%.0f ms\"\nsilence = "
      "\"%.0f ms\"\nconnect_timeout = \"%.0f ms\"\n",
      run_.c_str(), death / 4, death * 2, death * 2);
  for (const auto id : who_.all()) {
    const char* role = id.role == pb::SCHEDULER ? "scheduler"
                       : id.role == pb::SERVER  ? "server"
                                                : "worker";
    text += "[[nodes]]\nname = \"" + name(id) + "\"\nrole = \"" + role + "\"\naddress = \"" +
            (network_ ? network_->address(id) : std::string("127.0.0.1")) + "\"\n";
    if (id.role == pb::SCHEDULER) text += format("port = %u\n", port_);
    if (who_.joins_later(id)) text += "spare = true\n";
  }
  return text;
}

std::string process_cluster::job_text() const {
  return "[job]\nname = \"chaos\"\nseed = " + std::to_string(scenario_.scenario().seed()) +
         "\n[model]\napp = \"chaos\"\nscenario = \"scenario.toml\"\noutput = "
         "\"\"\n[cluster]\nservers = " +
         std::to_string(who_.servers) + "\nworkers = " + std::to_string(who_.workers) +
         "\nslots = " + std::to_string(scenario_.cluster().slots()) + "\n";
}

result<void> process_cluster::prepare(bool with_network) {
  for (const auto* part : {"", "/shared", "/ledgers", "/said"})
    if (auto made = files_->create_folders(folder_ + part); !made) return made;
  for (const auto& f : scenario_.faults())
    if (f.kind() == "disk_full" && !mounted_) {
      if (::mount("tmpfs", shared().c_str(), "tmpfs", 0, disk_bytes) != 0)
        return error{errc::bad_usage, std::string("disk_full on processes needs root, to mount a "
                                                  "small file system: ") +
                                          std::strerror(errno)};
      mounted_ = true;
    }
  if (with_network) {
    network_ = std::make_unique<process_network>(folder_ + "/said", who_.all());
    if (auto made = network_->make(); !made) return made;
  }
  if (!network_) {  // whose ports are all its own
    const auto free = listen_at({"127.0.0.1", 0});
    if (!free) return free.failure();
    port_ = free->port;
    ::close(free->socket);  // the system gives it to nobody else for a while
  }
  for (const auto& [path, text] : {std::pair<std::string, std::string>{manifest(), manifest_text()},
                                   {folder_ + "/job.toml", job_text()},
                                   {folder_ + "/scenario.toml", config::to_toml(scenario_)}})
    if (auto written = write_text_atomically(*files_, path, text); !written) return written;
  auto certs =
      child_program::start({program_, "certs", "--manifest", manifest()}, folder_ + "/said/certs");
  if (!certs) return certs.failure();
  for (int i = 0; i < 3000 && !certs->ended(); ++i) ::usleep(10'000);
  if (!certs->ended() || certs->exit_code() != 0)
    return error{errc::internal, "no certificates: " + text_of(*files_, folder_ + "/said/certs")};
  return {};
}

std::vector<std::string> process_cluster::words_of(role_id node, bool first) const {
  std::vector<std::string> words{program_, "node", "--manifest", manifest(), "--name", name(node)};
  if (node.role == pb::SCHEDULER) {
    words.insert(words.end(), {folder_ + "/job.toml", "--progress", "none", "--run", run_});
    if (first) words.push_back("--fresh");
  }
  return network_ ? network_->inside(node, std::move(words)) : words;
}

result<void> process_cluster::begin(role_id node) {
  down_.erase(node);
  children::order order;
  order.name = to_string(node);
  order.words = words_of(node, begun_.insert(node).second);
  order.output_file = order.error_file = folder_ + "/said/" + name(node);
  return nodes_.start(order);
}

void process_cluster::signal(role_id node, int number) {
  if (const auto pid = nodes_.pid_of(to_string(node)); pid > 0) ::kill(pid, number);
}

void process_cluster::kill(role_id node) {
  down_.insert(node);
  signal(node, SIGKILL);
}

void process_cluster::pause(role_id node, bool whether) {
  signal(node, whether ? SIGSTOP : SIGCONT);
}

result<void> process_cluster::limit_descriptors(role_id node, bool whether) {
  const auto pid = nodes_.pid_of(to_string(node));
  if (pid <= 0) return {};
  rlimit limits{};
  if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limits) != 0)
    return error{errc::io, std::string("prlimit: ") + std::strerror(errno)};
  // What is open stays so; nothing more can be opened.
  limits.rlim_cur = whether ? 3 : limits.rlim_max;
  if (::prlimit(pid, RLIMIT_NOFILE, &limits, nullptr) != 0)
    return error{errc::io, std::string("prlimit: ") + std::strerror(errno)};
  return {};
}

result<void> process_cluster::fill_disk(bool whether) {
  const auto path = shared() + "/filler";
  if (!whether) return files_->exists(path) ? files_->remove(path) : result<void>();
  auto file = files_->create(path);
  if (!file) return file.failure();
  const std::string block(1 << 20, 'x');
  while ((*file)->append({reinterpret_cast<const std::byte*>(block.data()), block.size()}).ok()) {
  }
  // And what is left of the last block.
  while ((*file)->append({reinterpret_cast<const std::byte*>(block.data()), 4096}).ok()) {
  }
  return {};
}

// The folder of the first is locked, so the second's is its own, as on another machine.
result<void> process_cluster::begin_second(role_id node) {
  auto text = manifest_text();
  const std::string state = "state = \"state\"";
  text.replace(text.find(state), state.size(), "state = \"state-of-others\"");
  const auto path = folder_ + "/others.toml";
  if (auto written = write_text_atomically(*files_, path, text); !written) return written;
  children::order order;
  order.name = "second " + to_string(node);
  std::vector<std::string> words{program_, "node", "--manifest", path, "--name", name(node)};
  order.words = network_ ? network_->inside(node, std::move(words)) : words;
  order.output_file = order.error_file = folder_ + "/said/second-" + name(node);
  return nodes_.start(order);
}

bool process_cluster::tend() {
  bool over = false;
  for (const auto& child : nodes_.reap()) {
    if (child.name.rfind("second ", 0) == 0) continue;
    const auto node = role_of(child.name);
    if (down_.count(node)) continue;
    const bool well = !child.by_signal && child.code == 0;
    if (node == the_scheduler && !child.by_signal) over = true;
    if (!well && !(node == the_scheduler)) (void)begin(node).ok();
    if (node == the_scheduler && child.by_signal) (void)begin(node).ok();
  }
  return over;
}

std::optional<holdings> process_cluster::holdings_of(role_id node) const {
  const auto pid = nodes_.pid_of(to_string(node));
  if (pid <= 0) return std::nullopt;
  const auto proc = format("/proc/%d", static_cast<int>(pid));
  holdings h;
  const auto names = files_->list(proc + "/fd");
  if (!names) return std::nullopt;
  h.descriptors = names->size();
  const auto maps = files_->open(proc + "/statm");
  if (!maps) return std::nullopt;
  char text[128] = {};
  const auto got = (*maps)->read_at(0, {reinterpret_cast<std::byte*>(text), sizeof text - 1});
  unsigned long long size = 0, resident = 0;
  if (!got || std::sscanf(text, "%llu %llu", &size, &resident) != 2) return std::nullopt;
  h.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return h;
}

std::string process_cluster::said_by(role_id node) const {
  return text_of(*files_, folder_ + "/said/" + name(node));
}

void process_cluster::end_all() {
  for (const auto number : {SIGCONT, SIGTERM}) nodes_.signal_all(number);
  for (int i = 0; i < 500 && !nodes_.empty(); ++i) {
    if (i == 250) nodes_.signal_all(SIGKILL);
    (void)nodes_.reap();
    if (!nodes_.empty()) ::usleep(20'000);
  }
}

}  // namespace troupe::chaos
