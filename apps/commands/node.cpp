// troupe node: one node of the cluster that a manifest describes.

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "actors/scheduler/state_log.hpp"
#include "apps/chaos/workload/workload.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/conclusion.hpp"
#include "apps/console/terminal.hpp"
#include "apps/deploy/node_process.hpp"
#include "apps/deploy/state_folder.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

constexpr duration look_every = std::chrono::milliseconds(100);
// How long a scheduler stays for those who have not heard of the end.
constexpr duration farewell = std::chrono::seconds(10);

volatile std::sig_atomic_t signals = 0;
void on_signal(int) {
  signals = signals + 1;
  if (signals > 2) std::_Exit(exit_interrupted);
}

// systemd's Type=notify: a word to the socket that it names (sd_notify(3)).
void tell_service_manager(const char* word) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const auto size = std::min(std::strlen(path), sizeof to.sun_path - 1);
  std::memcpy(to.sun_path, path, size);
  if (to.sun_path[0] == '@') to.sun_path[0] = 0;
  const int s = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0) return;
  (void)::sendto(s, word, std::strlen(word), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&to),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
  ::close(s);
}

struct node_options {
  std::string manifest, name, job, json, log, run, log_level = "info", progress = "auto";
  config::overrides overrides;
  bool fresh = false, until_eof = false;
};

// Whoever started this process has gone: standard input is at its end.
bool input_has_ended() {
  pollfd in{0, POLLIN, 0};
  if (::poll(&in, 1, 0) <= 0) return false;
  char ignored[256];
  return (in.revents & (POLLIN | POLLHUP)) != 0 && ::read(0, ignored, sizeof ignored) <= 0;
}

bool has_ended(const pb::JobStatus& status) {
  return status.phase() == pb::JobStatus::FINISHED || status.phase() == pb::JobStatus::FAILED;
}

class node_run {
 public:
  node_run(const node_options& options, std::shared_ptr<live_manifest> manifest, membership who)
      : options_(options), manifest_(std::move(manifest)), who_(std::move(who)) {}

  int run();

 private:
  result<void> open();
  int run_scheduler();
  int run_other();
  std::optional<int> trouble(const node_process::look& seen);
  bool told_to_end() { return signals > 0 || (options_.until_eof && input_has_ended()); }
  node_settings settings_of_node() const;

  const node_options& options_;
  const std::shared_ptr<live_manifest> manifest_;
  membership who_;
  std::shared_ptr<file_system> files_ = posix_file_system();
  std::unique_ptr<state_folder> state_;
  std::shared_ptr<const tls_context> tls_;
  std::optional<listener> listening_;
  log_settings log_;
  std::string refused_;
};

result<void> node_run::open() {
  const auto manifest = manifest_->present();
  auto tls = open_security(*files_, manifest, who_);
  if (!tls) return tls.failure();
  tls_ = *std::move(tls);
  auto state = state_folder::open(files_, manifest.cluster().state(), who_.name);
  if (!state) return state.failure();
  state_ = *std::move(state);
  who_.incarnation = state_->incarnation();
  config::Log words;
  words.set_level(options_.log_level);
  log_ = log_settings_of(words);
  if (options_.log != "-")
    log_.file = options_.log.empty() ? state_->path() + "/log" : options_.log;
  log_.rotate_at = static_cast<std::uint64_t>(manifest.operations().log_size());
  log_.kept = manifest.operations().log_files();
  if (auto done = configure_log(log_); !done) return done;
  if (!tls_) {
    const std::string loud = who_.name +
                             ": INSECURE: no certificates, plain TCP; anybody on this "
                             "machine may command this cluster";
    log("links", log_level::warning, loud);
    std::cerr << "troupe: " << loud << std::endl;
  }
  if (who_.role.role == pb::WORKER) return {};
  const auto& node = *config::find_node(manifest, who_.name);
  auto bound = listen_at({config::bind_address(node), static_cast<std::uint16_t>(node.port())});
  if (!bound)
    return error{bound.failure().code, who_.name + " cannot listen at " + bound.failure().text};
  listening_ = *bound;
  log("links", log_level::info,
      who_.name + " listens at " + to_string(host_port{config::bind_address(node), bound->port}));
  return {};
}

node_settings node_run::settings_of_node() const {
  node_settings s;
  s.manifest = manifest_;
  s.who = who_;
  s.tls = tls_;
  s.files = files_;
  s.listening = listening_;
  return s;
}

// What ends any node: that it is not wanted, that its actor cannot live, that nobody answers.
std::optional<int> node_run::trouble(const node_process::look& seen) {
  const auto manifest = manifest_->present();
  if (seen.given_up) return report({errc::lost, who_.name + " died too often: " + *seen.given_up});
  if (seen.refused) refused_ = *seen.refused;
  const bool alone = seen.silence > std::chrono::seconds(1);
  const duration taken = duration(manifest.links().silence()) + std::chrono::seconds(3);
  if (!refused_.empty() &&
      ((seen.refused_for_good && alone) || (seen.refused && seen.silence > taken)))
    return report({errc::bad_config, who_.name + " was refused: " + refused_});
  const duration patience(manifest.operations().patience());
  if (seen.silence > patience)
    return report(
        {errc::lost, format("%s: the scheduler was not heard of for %.0f s%s%s", who_.name.c_str(),
                            seconds_of(patience), refused_.empty() ? "" : "; ", refused_.c_str())});
  return std::nullopt;
}

int node_run::run() {
  if (const auto opened = open(); !opened) return report(as_bad_input(opened.failure()));
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  const int code = who_.role.role == pb::SCHEDULER ? run_scheduler() : run_other();
  log("job", log_level::info, who_.name + format(" ends with code %d", code));
  return code;
}

// ---- the scheduler

int node_run::run_scheduler() {
  const auto manifest = manifest_->present();
  auto job = config::load_job(*files_, options_.job, options_.overrides);
  if (!job) return report(as_bad_input(job.failure()));
  if (job->debug().kills_size() > 0)
    return report({errc::bad_config, "debug.kills is for 'troupe sim'; here kill the processes"});
  // Who takes part is the manifest's to say.
  job->mutable_cluster()->set_servers(config::count_of(manifest, "server"));
  job->mutable_cluster()->set_workers(config::count_of(manifest, "worker"));
  if (job->cluster().servers() == 0 || job->cluster().workers() == 0)
    return report({errc::bad_config,
                   manifest_->path() + ": a job needs a server and a worker that are no spares"});
  run_choices choices;
  choices.state_folder = state_->path() + "/job";
  choices.log = log_;
  // Whoever joins early is told that the job is being read, and waits.
  auto settings = settings_of_node();
  settings.whole_status = true;
  settings.ask_every = std::chrono::milliseconds(100);
  node_process process(std::move(settings));
  tell_service_manager("READY=1");
  if (options_.fresh && files_->exists(choices.state_folder))
    if (const auto gone = files_->remove(choices.state_folder); !gone)
      return report(gone.failure());
  const auto before = state_log::peek(files_, choices.state_folder);
  if (!before) return report(before.failure());
  // A run that somebody named has one end, however often its scheduler begins.
  const auto run_file = choices.state_folder + ".run";
  const auto last_run = read_text(*files_, run_file, 1000);
  const bool same_run = !options_.run.empty() && last_run && *last_run == options_.run;
  if (const auto kept = write_text_atomically(*files_, run_file, options_.run); !kept)
    return report(kept.failure());
  const bool has_log = *before && (*before)->job() == job->job().name();
  const bool had_ended = has_log && ((*before)->phase() == pb::JobStatus::FINISHED ||
                                     (*before)->phase() == pb::JobStatus::FAILED);
  choices.goes_on = has_log && (!had_ended || same_run);
  auto prepared = prepare_job(*job, files_, choices);
  if (!prepared) return report(as_bad_input(prepared.failure()));
  if (choices.goes_on)
    log("job", log_level::warning,
        "an unfinished job is gone on with ('--fresh' would begin it anew)");
  auto& scheduler = prepared->cluster.scheduler;
  scheduler.take_up_unfinished = true;
  scheduler.take_up_ended = same_run;
  scheduler.first_incarnation = who_.incarnation;
  if (told_to_end()) return exit_interrupted;
  const auto begun = wall_clock();
  process.start(prepared->cluster);

  console::progress progress(style_of(options_.progress), duration(job->output().progress_every()),
                             prepared->facts);
  std::optional<int> code;
  std::optional<instant> ended;
  bool stops = false;
  std::optional<instant> asked_to_stop;
  for (;;) {
    const auto seen = process.wait(look_every);
    stops = stops || (seen.command && seen.command->accepted());
    if (seen.given_up)
      return report({errc::lost, who_.name + " died too often: " + *seen.given_up});
    if (seen.status && !code)
      console::write_to(1,
                        progress.on_status(*seen.status, wall_clock(), console::terminal_width(1)));
    if (seen.status && has_ended(*seen.status) && !code) {
      console::write_to(1, progress.wipe());
      note_end(*prepared, *seen.status, seconds_of(wall_clock() - begun));
      code = conclude(*prepared, *seen.status, "", {}, options_.json);
      ended = wall_clock();
    }
    // The others are to hear of the end.
    if (code && seen.status && seen.status->unaware() == 0 && process.admins() == 0) return *code;
    if (ended && (wall_clock() - *ended > farewell || signals > 1)) return *code;
    // Until it is heard: at first there may be nobody to hear it.
    const bool again =
        !asked_to_stop || wall_clock() - *asked_to_stop > std::chrono::milliseconds(500);
    if (!code && !stops && again && told_to_end()) {
      asked_to_stop = wall_clock();
      tell_service_manager("STOPPING=1");
      process.stop_job("interrupted");
    }
  }
}

// ---- servers and workers

int node_run::run_other() {
  auto settings = settings_of_node();
  settings.wants_job = who_.role.role == pb::WORKER;
  const bool is_server = who_.role.role == pb::SERVER;
  node_process process(std::move(settings));
  cluster_settings cluster;  // of a server: what it does is the scheduler's plan
  std::optional<prepared_job> prepared;
  if (is_server) process.start(cluster);
  tell_service_manager("READY=1");
  std::optional<instant> draining;
  const duration drain_timeout(manifest_->present().operations().drain_timeout());
  for (;;) {
    const auto seen = process.wait(look_every);
    if (const auto code = trouble(seen)) return *code;
    if (seen.job && !prepared) {
      // Data are opened here, and not in the scheduler's words only: they must be the same.
      auto job =
          config::parse_job(seen.job->configuration(), "the scheduler's job", options_.overrides);
      if (!job) return report(as_bad_input(job.failure()));
      run_choices choices;
      choices.worker_alone = true;
      choices.log = log_;
      auto opened = prepare_job(*job, files_, choices);
      if (!opened) return report(as_bad_input(opened.failure()));
      prepared = *std::move(opened);
      const auto rows = prepared->cluster.scheduler.train_rows;
      if (rows != seen.job->train_rows())
        return report(
            {errc::bad_data,
             format("%s has %llu training rows, and the scheduler %llu: their data differ",
                    who_.name.c_str(), static_cast<unsigned long long>(rows),
                    static_cast<unsigned long long>(seen.job->train_rows()))});
      process.start(prepared->cluster);
    }
    if (seen.status && has_ended(*seen.status)) {
      log("job", log_level::info, "the job has ended");
      // Once more, so that the scheduler knows that this node knows.
      return exit_done;
    }
    if (draining) {
      const bool drained = seen.status && !seen.status->nodes().empty() &&
                           seen.status->nodes(0).state() == pb::NodeStatus::DRAINED;
      const bool refused = seen.command && !seen.command->accepted();
      if (refused) log("job", log_level::warning, "not drained: " + seen.command->text());
      if (drained || refused || wall_clock() - *draining > drain_timeout || signals > 1)
        return exit_done;
    } else if (told_to_end()) {
      draining = wall_clock();
      tell_service_manager("STOPPING=1");
      log("job", log_level::info, who_.name + " is told to end, and is drained");
      process.drain(who_.role);
    }
  }
}

}  // namespace

int node_command(const std::vector<std::string>& arguments) {
  chaos::register_functions();  // a server does not know beforehand what job it will serve
  command_line line(
      "node --manifest FILE --name NAME [JOB] [options]",
      "Runs one node of the cluster that a manifest describes. The scheduler takes the JOB; "
      "servers "
      "and workers learn from it what to do, and may be started before it. A node ends when the "
      "job has ended. SIGTERM ends it sooner: a server or a worker gives away what it has, the "
      "scheduler ends training and saves the model.");
  node_options o;
  line.options().add_options()("manifest", po::value(&o.manifest)->value_name("FILE"),
                               "the cluster's manifest")(
      "name", po::value(&o.name)->value_name("NAME"), "which of its nodes this is")(
      "json", po::value(&o.json)->value_name("FILE"), "scheduler: writes all results to a file")(
      "fresh", "scheduler: does not go on with an unfinished job of the same name")(
      "log", po::value(&o.log)->value_name("FILE"),
      "the log, instead of STATE/NAME/log; '-': standard error")(
      "log-level", po::value(&o.log_level)->value_name("LEVEL"),
      "trace, debug, info (the default), warning, error or off")(
      "progress", po::value(&o.progress)->value_name("STYLE"),
      "scheduler: live, plain, none or auto")("run", po::value(&o.run)->value_name("ID"),
                                              "scheduler: a name for this run; started again under "
                                              "it, it goes on even if the job has ended, "
                                              "for those who have not heard of the end")(
      "until-eof", "ends as by SIGTERM when standard input ends");
  add_override_options(line.options());
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (o.manifest.empty() || o.name.empty())
    return report(
        {errc::bad_usage, "node needs --manifest FILE and --name NAME; see 'troupe node --help'"});
  static const std::vector<std::string> levels{"trace", "debug", "info", "warning", "error", "off"};
  if (std::find(levels.begin(), levels.end(), o.log_level) == levels.end())
    return report({errc::bad_usage, "--log-level does not know '" + o.log_level + "'"});
  o.fresh = values.count("fresh") > 0;
  o.until_eof = values.count("until-eof") > 0;
  o.overrides = overrides_of(values);
  if (values.count("job")) o.job = values["job"].as<std::vector<std::string>>().front();
  auto manifest = live_manifest::load(posix_file_system(), o.manifest);
  if (!manifest) return report(as_bad_input(manifest.failure()));
  auto who = member_of((*manifest)->present(), o.name);
  if (!who) return report(who.failure());
  if (who->role.role == pb::ADMIN) return report({errc::bad_usage, "'" + o.name + "' is no node"});
  const bool scheduler = who->role.role == pb::SCHEDULER;
  if (scheduler == o.job.empty())
    return report({errc::bad_usage, scheduler ? "the scheduler needs a job file"
                                              : "the job is the scheduler's alone"});
  return node_run(o, *std::move(manifest), *std::move(who)).run();
}

}  // namespace troupe
