// What a link costs: a server in a process of its own, a worker here, over loopback, plain and with
// TLS. One slot keeps four requests on their way; f32, function "add", sorted keys, the same batch
// again and again. Every figure is the median of 7 turns. In each turn two others run too: a bare
// loopback connection, whose other end is a process that only reads (or writes) as many bytes, and
// a loop that adds the batch to a std::unordered_map, and the ratios to them are medians of the
// turns' ratios.
//
// The whole stack takes part: client, links, shard, table; a scheduler's node is here too.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "actors/links/certificate.hpp"
#include "apps/deploy/node_process.hpp"
#include "bench/bare_tcp.hpp"
#include "bench/interleaved.hpp"
#include "bench/load_job.hpp"
#include "core/random.hpp"

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

struct workload {
  const char* name;
  std::size_t table = 0;
  kind what = kind::push;
  std::size_t keys = 1;       // of a request
  std::size_t row_bytes = 4;  // of a key's values
  int in_flight = 4;
  std::size_t requests = 100;

  std::size_t bytes() const { return keys * (8 + row_bytes); }
  bool dense() const { return row_bytes > 8; }
};

constexpr std::size_t block_floats = 1 << 18;  // 1 MiB
constexpr std::size_t block_bytes = block_floats * sizeof(float);

std::vector<workload> workloads = {
    {"push, 10^3 keys", 0, kind::push, 1'000, 4, 4, 8'000},
    {"pull, 10^3 keys", 0, kind::pull, 1'000, 4, 4, 8'000},
    {"push, 10^4 keys", 1, kind::push, 10'000, 4, 4, 2'000},
    {"pull, 10^4 keys", 1, kind::pull, 10'000, 4, 4, 2'000},
    {"push, 10^5 keys", 2, kind::push, 100'000, 4, 4, 200},
    {"pull, 10^5 keys", 2, kind::pull, 100'000, 4, 4, 200},
    {"push, 10^6 keys", 3, kind::push, 1'000'000, 4, 4, 20},
    {"pull, 10^6 keys", 3, kind::pull, 1'000'000, 4, 4, 20},
    {"push, 1 MiB block", 4, kind::push, 1, block_bytes, 4, 800},
    {"pull, 1 MiB block", 4, kind::pull, 1, block_bytes, 4, 800},
    {"push, one key", 0, kind::push, 1, 4, 1, 4'000},
    {"pull, one key", 0, kind::pull, 1, 4, 1, 4'000},
};

struct figures {
  std::vector<double> seconds, bare, map, round_trip;  // by turn; round trips of one key each
};

// ---- what it is compared with

double time_map(const std::vector<key_id>& ids, std::size_t times) {
  static std::unordered_map<std::uint64_t, float> map;
  for (const auto id : ids) map[id] += 1;
  const auto begun = seconds_now();
  for (std::size_t i = 0; i < times; ++i)
    for (const auto id : ids) map[id] += 1;
  return seconds_now() - begun;
}

// ---- the work

class load_program final : public slot_program {
 public:
  load_program(std::vector<figures>& out, bare_peer& bare) : out_(out), bare_(bare) {}
  std::uint64_t clocks() const override { return 1; }
  std::uint64_t examples_before(std::uint64_t) const override { return 0; }

  void run(slot_session& session, std::uint64_t) override {
    random_source random(7);
    for (std::size_t k = 0; k < 1'000'000; ++k)
      ids_.push_back(splitmix64(random.below(std::uint64_t{1} << 62)));
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    begin(session);
  }

 private:
  const workload& now() const { return workloads[which_]; }

  void begin(slot_session& session) {
    const auto& w = now();
    std::vector<key_id> ids;
    if (w.dense())
      ids = {3};
    else
      for (std::size_t i = 0; i < w.keys; ++i) ids.push_back(ids_[i * (ids_.size() / w.keys)]);
    keys_.emplace(*session.kv().keys(w.table, ids));
    if (w.what == kind::push)
      values_ =
          blob::copy_of(span<const float>(std::vector<float>(ids.size() * w.row_bytes / 4, 1)));
    out_[which_].bare.push_back(bare_.move(w.what, w.bytes(), w.requests));
    if (!w.dense())
      out_[which_].map.push_back(time_map(ids, std::max<std::size_t>(w.requests / 4, 1)) * 4);
    sent_ = answered_ = 0;
    begun_ = seconds_now();
    for (int i = 0; i < w.in_flight; ++i) send(session);
  }

  void send(slot_session& session) {
    const auto& w = now();
    if (sent_ == w.requests) return;
    ++sent_;
    const auto at = seconds_now();
    if (w.what == kind::push) {
      push_options options;
      options.last = false;
      session.kv().push(w.table, *keys_, values_, options,
                        [this, &session, at](result<pushed>) { answered(session, at); });
    } else {
      session.kv().pull(w.table, *keys_, {},
                        [this, &session, at](result<pulled>) { answered(session, at); });
    }
  }

  void answered(slot_session& session, double at) {
    auto& f = out_[which_];
    if (now().in_flight == 1) f.round_trip.push_back(seconds_now() - at);
    ++answered_;
    send(session);
    if (answered_ < now().requests) return;
    f.seconds.push_back(seconds_now() - begun_);
    if (++which_ == workloads.size()) {
      which_ = 0;
      if (++turn_ > turns) return session.end_clock({});
      if (turn_ == 1)  // the first turn made the rows
        for (auto& each : out_) each = {};
    }
    begin(session);
  }

  std::vector<figures>& out_;
  bare_peer& bare_;
  std::vector<key_id> ids_;
  std::optional<key_set> keys_;
  blob values_;
  std::size_t which_ = 0, sent_ = 0, answered_ = 0;
  int turn_ = 0;
  double begun_ = 0;
};

double resident_bytes(pid_t pid) {
  const auto text =
      read_text(*posix_file_system(), "/proc/" + std::to_string(pid) + "/status", 1 << 16);
  const auto at = text ? text->find("VmRSS:") : std::string::npos;
  return at == std::string::npos ? 0 : 1024 * std::strtod(text->c_str() + at + 6, nullptr);
}

// Fills the server with keys, and looks at what it takes.
class filling_program final : public slot_program {
 public:
  filling_program(const pid_t& server, double& ratio) : server_(server), ratio_(ratio) {}
  std::uint64_t clocks() const override { return 1; }
  std::uint64_t examples_before(std::uint64_t) const override { return 0; }

  void run(slot_session& session, std::uint64_t) override {
    if (batch_ == 0) empty_ = resident_bytes(server_);
    if (batch_ == batches) {
      const auto rows = static_cast<double>(batches * keys);
      ratio_ = (resident_bytes(server_) - empty_) / (rows * (8 + sizeof(float)));
      return session.end_clock({});
    }
    std::vector<key_id> ids;
    for (std::size_t k = 0; k < keys; ++k) ids.push_back(splitmix64(batch_ * keys + k));
    std::sort(ids.begin(), ids.end());
    ++batch_;
    push_options options;
    options.last = false;
    session.kv().push(0, *session.kv().keys(0, ids),
                      blob::copy_of(span<const float>(std::vector<float>(ids.size(), 1))), options,
                      [this, &session](result<pushed>) { run(session, 0); });
  }

 private:
  static constexpr std::size_t batches = 100, keys = 200'000;
  const pid_t& server_;
  double& ratio_;
  std::size_t batch_ = 0;
  double empty_ = 0;
};

struct filling_application final : load_only {
  pid_t server = 0;
  double ratio = 0;
  std::unique_ptr<slot_program> slot(std::uint32_t, meter&) override {
    return std::make_unique<filling_program>(server, ratio);
  }
};

struct load_application final : load_only {
  std::vector<figures> out = std::vector<figures>(workloads.size());
  bare_peer bare;
  std::unique_ptr<slot_program> slot(std::uint32_t, meter&) override {
    return std::make_unique<load_program>(out, bare);
  }
};

cluster_settings cluster_of(std::shared_ptr<application> app) {
  cluster_settings c;
  auto& plan = c.scheduler.job.plan;
  plan.set_slots(1);
  // A table to each size of requests, which holds just those keys.
  for (const char* name : {"1e3", "1e4", "1e5", "1e6"}) add_table(plan, name);
  auto& blocks = add_table(plan, "blocks", "dense", block_floats);
  blocks.set_by_range(true);
  blocks.set_first_key(0);
  blocks.set_last_key(7);
  auto* t = patient_timings(plan);
  t->set_report_every(duration(100ms).count());
  t->set_beat_every(duration(100ms).count());
  t->set_suspect_after(duration(60s).count());
  t->set_death_after(duration(120s).count());
  c.scheduler.job.servers = 1;
  scores_nothing(c, std::move(app));
  return c;
}

// ---- the cluster

node_settings node_of(const std::shared_ptr<live_manifest>& manifest, const std::string& name) {
  node_settings s;
  s.manifest = manifest;
  s.who = *member_of(manifest->present(), name);
  s.who.incarnation = 1;
  s.files = posix_file_system();
  s.tls = *open_security(*s.files, manifest->present(), s.who);
  const auto* node = config::find_node(manifest->present(), name);
  if (s.who.role.role != pb::WORKER)
    s.listening = *listen_at({"127.0.0.1", static_cast<std::uint16_t>(node->port())});
  return s;
}

int serve(const std::string& path) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  node_process process(node_of(*live_manifest::load(posix_file_system(), path), "server-0"));
  process.start({});
  for (;;) {
    const auto seen = process.wait(100ms);
    if (seen.status && seen.status->phase() >= pb::JobStatus::FINISHED) return 0;
  }
}

std::string make_manifest(const std::string& folder, bool insecure) {
  const auto probe = *listen_at({"127.0.0.1", 0});
  ::close(probe.socket);
  std::filesystem::create_directories(folder + "/certs");
  const auto text = std::string("[cluster]\nid = \"bench\"\ninsecure = ") +
                    (insecure ? "true" : "false") +
                    "\n[[nodes]]\nname = \"scheduler\"\nrole = \"scheduler\"\nport = " +
                    std::to_string(probe.port) +
                    "\n[[nodes]]\nname = \"server-0\"\nrole = \"server\"\n"
                    "[[nodes]]\nname = \"worker-0\"\nrole = \"worker\"\n";
  const auto files = posix_file_system();
  (void)write_text_atomically(*files, folder + "/cluster.toml", text);
  const auto ca = *make_authority("bench", 2);
  (void)write_text_atomically(*files, folder + "/certs/ca.pem", ca.certificate);
  for (const auto& [name, role] :
       {std::pair("scheduler", "scheduler"), {"server-0", "server"}, {"worker-0", "worker"}}) {
    const auto pair = *make_certificate(ca, {"bench", role, name}, {}, 1);
    const auto base = folder + "/certs/" + name;
    (void)write_text_atomically(*files, base + ".pem", pair.certificate);
    (void)write_text_atomically(*files, base + ".key", pair.key);
    std::filesystem::permissions(base + ".key", std::filesystem::perms::owner_read);
  }
  return folder + "/cluster.toml";
}

// Runs the job on a server in a process of its own, a scheduler and a worker in this one.
bool run_cluster(const std::string& program, bool insecure, const std::shared_ptr<application>& app,
                 pid_t& server) {
  const auto folder = std::filesystem::temp_directory_path().string() + "/links_bench." +
                      std::to_string(::getpid());
  const auto path = make_manifest(folder, insecure);
  server = ::fork();
  if (server == 0) {
    ::execl(program.c_str(), program.c_str(), "--server", path.c_str(), nullptr);
    ::_exit(127);
  }
  bool ok = false;
  {
    const auto manifest = *live_manifest::load(posix_file_system(), path);
    const auto cluster = cluster_of(app);
    auto settings = node_of(manifest, "scheduler");
    settings.whole_status = true;
    node_process scheduler(std::move(settings));
    scheduler.start(cluster);
    node_process worker(node_of(manifest, "worker-0"));
    worker.start(cluster);
    for (;;) {
      const auto seen = scheduler.wait(100ms);
      if (!seen.status || seen.status->phase() < pb::JobStatus::FINISHED) continue;
      ok = seen.status->phase() == pb::JobStatus::FINISHED;
      if (!ok) std::fprintf(stderr, "links_bench: %s\n", seen.status->text().c_str());
      break;
    }
  }
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  std::filesystem::remove_all(folder);
  return ok;
}

bool measure_memory(const std::string& program) {
  auto app = std::make_shared<filling_application>();
  if (!run_cluster(program, true, app, app->server)) return false;
  std::printf("memory of a server with 20 million keys (f32): %.2f times key plus value\n",
              app->ratio);
  return true;
}

bool measure(const std::string& program, bool insecure) {
  auto app = std::make_shared<load_application>();  // forks, so before there are threads
  pid_t server = 0;
  if (!run_cluster(program, insecure, app, server)) return false;
  std::printf("%s\n%-18s | %10s %8s | %11s %11s\n", insecure ? "plain TCP" : "TLS 1.3", "request",
              "Mkeys/s", "GB/s", "/ bare TCP", "/ map loop");
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto& w = workloads[i];
    auto& f = app->out[i];
    if (w.in_flight == 1) {
      std::printf("%-18s | %7.1f us a round trip (median of %zu)\n", w.name,
                  1e6 * median(f.round_trip), f.round_trip.size());
      continue;
    }
    std::vector<double> rate, to_bare, to_map;
    for (std::size_t t = 0; t < f.seconds.size(); ++t) {
      rate.push_back(static_cast<double>(w.requests) / f.seconds[t]);
      to_bare.push_back(f.bare[t] / f.seconds[t]);
      if (!f.map.empty()) to_map.push_back(f.map[t] / f.seconds[t]);
    }
    const auto payload = static_cast<double>(w.dense() ? w.row_bytes : w.bytes());
    std::printf("%-18s | ", w.name);
    if (!w.dense())
      std::printf("%10.1f ", median(rate) * static_cast<double>(w.keys) / 1e6);
    else
      std::printf("%10s ", "");
    std::printf("%8.2f | %11.2f ", median(rate) * payload / 1e9, median(to_bare));
    if (!to_map.empty()) std::printf("%11.2f", median(to_map));
    std::printf("\n");
    std::fflush(stdout);
  }
  return true;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 3 && std::string(argv[1]) == "--server") return troupe::bench::serve(argv[2]);
  // "plain", "tls" or "memory", and a part of the names of requests.
  const auto only = argc > 1 ? std::string(argv[1]) : std::string();
  auto& all = troupe::bench::workloads;
  if (argc > 2)
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const auto& w) {
                               return std::string(w.name).find(argv[2]) == std::string::npos;
                             }),
              all.end());
  if (all.empty()) return 2;
  if (only == "memory") return troupe::bench::measure_memory(argv[0]) ? 0 : 1;
  if (only != "tls" && !troupe::bench::measure(argv[0], true)) return 1;
  if (only != "plain" && !troupe::bench::measure(argv[0], false)) return 1;
  return !only.empty() || troupe::bench::measure_memory(argv[0]) ? 0 : 1;
}
