// troupe up: all nodes of a manifest, and a job on them.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <set>

#include "actors/supervision/restart_policy.hpp"
#include "apps/commands/cluster_access.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/conclusion.hpp"
#include "apps/commands/node_start.hpp"
#include "apps/console/node_table.hpp"
#include "apps/console/terminal.hpp"
#include "apps/deploy/children.hpp"
#include "apps/deploy/manifest_check.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

constexpr duration look_every = std::chrono::milliseconds(100);
constexpr duration goodbye = std::chrono::seconds(10);  // after the scheduler has gone

volatile std::sig_atomic_t interrupts = 0;
void on_interrupt(int) {
  interrupts = interrupts + 1;
}

class cluster_run {
 public:
  cluster_run(const up_options& o, std::shared_ptr<live_manifest> manifest)
      : o_(o), live_(std::move(manifest)), manifest_(live_->present()) {}
  int run();

 private:
  result<void> start(const config::ManifestNode& node);
  void on_ended(const ended_child& child);
  void show(const pb::JobStatus& status);
  void say(const std::string& line);
  void wipe();
  std::string output_of(const std::string& name) const {
    return manifest_.cluster().state() + "/" + name + "/output";
  }
  std::string last_lines(const std::string& name) const;
  void show_end();
  void end_children();

  const up_options& o_;
  const std::shared_ptr<live_manifest> live_;
  const config::Manifest manifest_;
  std::shared_ptr<file_system> files_ = posix_file_system();
  children nodes_;
  std::map<std::string, restart_policy> policies_;
  std::map<std::string, instant> again_at_;
  std::optional<console::progress> progress_;
  bool live_table_ = false;
  std::size_t table_lines_ = 0;
  std::string shown_nodes_;
  std::set<std::string> started_;
  const std::string run_ =
      format("%d-%lld", static_cast<int>(::getpid()), static_cast<long long>(wall_clock().ns));
  int code_of_job_ = exit_failed;  // as its last status has it
  std::optional<int> code_;        // of the scheduler, once it has ended for good
  bool ended_ = false;             // the job has, whatever the processes do
};

result<void> cluster_run::start(const config::ManifestNode& node) {
  if (auto done = files_->create_folders(manifest_.cluster().state() + "/" + node.name()); !done)
    return done;
  children::order order;
  order.name = node.name();
  // Begun anew it is once: a scheduler that is started again goes on.
  const bool first = started_.insert(node.name()).second;
  order.words =
      words_of(node, o_, std::filesystem::absolute(o_.manifest).string(), run_, o_.fresh && first);
  order.keeps_input_open = order.words[0] == "ssh";
  // What it prints would stand in the middle of the table; the scheduler's is shown at the end.
  order.output_file = order.error_file = output_of(node.name());
  if (node.role() == "scheduler") order.error_file += ".errors";
  return nodes_.start(order);
}

void cluster_run::wipe() {
  if (progress_) console::write_to(1, progress_->wipe());
  if (table_lines_ > 0) console::write_to(1, format("\r\033[%zuA\033[J", table_lines_));
  table_lines_ = 0;
}

void cluster_run::say(const std::string& line) {
  wipe();
  console::write_to(1, line + "\n");
}

std::string cluster_run::last_lines(const std::string& name) const {
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  const auto text = read_text(*files_, output_of(name), most);
  if (!text || text->empty()) return {};
  const auto end = text->find_last_not_of('\n');
  auto begin = end;
  for (int lines = 0; begin != std::string::npos && begin > 0 && lines < 3; ++lines)
    begin = text->rfind('\n', begin - 1);
  const auto from = begin == std::string::npos ? 0 : begin + 1;
  return end == std::string::npos ? std::string() : text->substr(from, end + 1 - from);
}

// On a terminal the table is drawn anew where it was; elsewhere it appears when a node's state
// changes.
void cluster_run::show(const pb::JobStatus& status) {
  const auto name = name_in(manifest_);
  std::string states;
  for (const auto& n : status.nodes()) states += console::state_word(n.state());
  auto table = console::node_table(status, name);
  if (live_table_) {
    wipe();
    const auto width = console::terminal_width(1);
    constexpr std::size_t most_nodes = 20;
    table = console::clipped_table(table, width, most_nodes);
    const auto line = progress_->line(status, width);
    console::write_to(1, table + line + "\n");
    table_lines_ = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')) + 1;
    return;
  }
  if (o_.progress == "none") return;
  if (states != shown_nodes_ && !table.empty() && status.waiting_for().empty()) {
    shown_nodes_ = states;
    console::write_to(1, table);
  }
  console::write_to(1, progress_->on_status(status, wall_clock(), console::terminal_width(1)));
}

void cluster_run::on_ended(const ended_child& child) {
  const auto* node = config::find_node(manifest_, child.name);
  const bool scheduler = node->role() == "scheduler";
  constexpr int not_found = 127;
  const auto how =
      format(child.by_signal ? "was ended by signal %d" : "ended with code %d", child.code);
  if (scheduler && !child.by_signal && child.code != not_found) {
    code_ = child.code;
    return;
  }
  if ((!child.by_signal && child.code == exit_done) || ended_ || interrupts > 0) {
    if (scheduler) code_ = ended_ ? code_of_job_ : exit_interrupted;
    return;
  }
  const auto said = last_lines(child.name);
  if (!child.by_signal && (child.code == exit_bad_input || child.code == not_found)) {
    say("troupe: " + child.name + " " + how + (said.empty() ? "" : ":\n" + said));
    if (!code_) code_ = exit_bad_input;
    return;
  }
  const auto wait = policies_.at(child.name).on_death(wall_clock());
  if (!wait) {
    say("troupe: " + child.name + " " + how + ", and has been started again often enough" +
        (said.empty() ? "" : ":\n" + said));
    if (scheduler) code_ = exit_failed;
    return;
  }
  say(child.name + format(" (process %d) ", static_cast<int>(child.pid)) + how +
      ", and is started again");
  again_at_[child.name] = wall_clock() + *wait;
}

// The summary, or why there is none.
void cluster_run::show_end() {
  wipe();
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  const auto path = output_of(config::scheduler_of(manifest_).name());
  if (const auto said = read_text(*files_, path, most)) console::write_to(1, *said);
  if (const auto said = read_text(*files_, path + ".errors", most)) console::write_to(2, *said);
}

void cluster_run::end_children() {
  const auto begun = wall_clock();
  bool asked = false;
  while (!nodes_.empty()) {
    (void)nodes_.reap();
    const auto waited = wall_clock() - begun;
    // They hear of the end from the scheduler; who did not is told so here.
    const bool failed = code_ && *code_ != exit_done && *code_ != exit_interrupted;
    if (!asked && (failed || interrupts > 1 || waited > goodbye / 2)) {
      nodes_.signal_all(SIGTERM);
      asked = true;
    }
    if (waited > goodbye || (asked && (failed || interrupts > 1) && waited > goodbye / 2))
      nodes_.signal_all(SIGKILL);
    if (!nodes_.empty()) ::usleep(20000);
  }
}

int cluster_run::run() {
  const auto& ops = manifest_.operations();
  const restart_settings restarts{ops.restarts(), duration(ops.restart_window()),
                                  std::chrono::milliseconds(100), std::chrono::seconds(5)};
  auto access = cluster_access::open(live_, "admin", true);
  if (!access) return report(as_bad_input(access.failure()));
  // What each node would say for itself is better said once; elsewhere there may be other files.
  if (!o_.ssh) {
    error wrong{errc::bad_config, {}};
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    for (const auto& finding : check_manifest(*files_, manifest_, "", now))
      if (finding.fatal) wrong.text += (wrong.text.empty() ? "" : "\n") + finding.text;
    if (!wrong.text.empty()) return report(wrong);
  }
  const auto job = config::load_job(*files_, o_.job, o_.overrides);
  if (!job) return report(as_bad_input(job.failure()));
  for (const auto& n : manifest_.nodes())
    if (!n.spare() && !is_here(n) && !o_.ssh)
      return report({errc::bad_config, n.name() + " is at " + n.address() +
                                           ", which is another machine: use --ssh, or start it "
                                           "there with 'troupe node'"});
  console::run_facts facts;
  facts.job = job->job().name();
  facts.epochs = job->training().epochs();
  progress_.emplace(style_of(o_.progress), duration(job->output().progress_every()), facts);
  live_table_ = style_of(o_.progress) == console::progress_style::live;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
  if (manifest_.cluster().insecure())
    std::cerr
        << "troupe: INSECURE: no certificates, plain TCP; anybody on this machine may command "
           "this cluster"
        << std::endl;
  for (const auto& n : manifest_.nodes()) {
    if (n.spare()) continue;
    for (const auto* old : {"", ".errors"})
      if (const auto path = output_of(n.name()) + old; files_->exists(path))
        (void)files_->remove(path);
    if (job->model().app() == "external" && n.role() == "worker") {
      say(n.name() + " is a program of your own: start it with this manifest and name");
      continue;
    }
    policies_.emplace(n.name(), restart_policy(restarts));
    if (const auto started = start(n); !started) return report(started.failure());
  }
  auto& cluster = (*access)->process();
  bool stops = false;
  std::optional<instant> asked_to_stop;
  while (!code_) {
    const auto seen = cluster.wait(look_every);
    if (seen.status) {
      ended_ = ended_ || seen.status->phase() == pb::JobStatus::FINISHED ||
               seen.status->phase() == pb::JobStatus::FAILED;
      if (ended_) code_of_job_ = exit_code_of_status(*seen.status);
      if (!ended_) show(*seen.status);
    }
    if (ended_) {  // its summary is the scheduler's, who waits for us to go
      wipe();
      (*access).reset();
      break;
    }
    for (const auto& child : nodes_.reap()) on_ended(child);
    for (auto i = again_at_.begin(); i != again_at_.end();) {
      if (wall_clock() < i->second) {
        ++i;
        continue;
      }
      if (const auto started = start(*config::find_node(manifest_, i->first)); !started)
        say("troupe: " + started.failure().text);
      i = again_at_.erase(i);
    }
    stops = stops || (seen.command && seen.command->accepted());
    if (interrupts > 0 && !asked_to_stop)
      say("stopping: training ends, and the model is saved (again: at once)");
    // Until it is heard: at first there may be nobody to hear it.
    if (interrupts > 0 && !stops &&
        (!asked_to_stop || wall_clock() - *asked_to_stop > std::chrono::milliseconds(500))) {
      asked_to_stop = wall_clock();
      cluster.stop_job("interrupted");
    }
    if (interrupts > 1) {
      code_ = exit_interrupted;
      nodes_.signal_all(SIGTERM);
    }
  }
  wipe();
  (*access).reset();
  const auto begun = wall_clock();
  while (!code_ && wall_clock() - begun < std::chrono::seconds(60)) {
    for (const auto& child : nodes_.reap()) on_ended(child);
    if (!code_) ::usleep(20000);
  }
  end_children();
  show_end();
  return code_.value_or(exit_failed);
}

}  // namespace

int up_command(const std::vector<std::string>& arguments) {
  command_line line(
      "up --manifest FILE JOB [options]",
      "Starts the nodes of a manifest as processes, trains the JOB on them, shows how "
      "they are, starts again what dies, and ends them with the job. Ctrl-C ends "
      "training early and saves the model; nothing is left behind.");
  up_options o;
  o.program = "troupe";
  line.options().add_options()("manifest", po::value(&o.manifest)->value_name("FILE"),
                               "the cluster's manifest")(
      "ssh",
      "starts nodes of other machines by ssh, where the manifest and the job must be at "
      "the same paths")(
      "remote-program", po::value(&o.program)->value_name("PATH"),
      "with --ssh: where troupe is on the other machines ('troupe', found by their PATH)")(
      "fresh", "does not go on with an unfinished job of the same name")(
      "json", po::value(&o.json)->value_name("FILE"), "writes all results to a file")(
      "progress", po::value(&o.progress)->value_name("STYLE"), "live, plain, none or auto");
  add_override_options(line.options());
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (o.manifest.empty() || !values.count("job"))
    return report({errc::bad_usage, "up needs --manifest FILE and a job; see 'troupe up --help'"});
  o.job = std::filesystem::absolute(values["job"].as<std::vector<std::string>>().front()).string();
  if (!o.json.empty()) o.json = std::filesystem::absolute(o.json).string();
  o.ssh = values.count("ssh") > 0;
  o.fresh = values.count("fresh") > 0;
  o.overrides = overrides_of(values);
  auto manifest = live_manifest::load(posix_file_system(), o.manifest);
  if (!manifest) return report(as_bad_input(manifest.failure()));
  return cluster_run(o, *std::move(manifest)).run();
}

}  // namespace troupe
