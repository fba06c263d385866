// troupe status, drain, rebalance, stop, and checkpoint now: what an administrator asks of a
// running cluster.

#include <unistd.h>

#include <csignal>
#include <iostream>

#include "apps/commands/cluster_access.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/console/terminal.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) {
  interrupted = 1;
}

struct admin_line {
  std::string manifest;
  double wait = 10;

  void add_to(command_line& line) {
    line.options().add_options()("manifest", po::value(&manifest)->value_name("FILE"),
                                 "the cluster's manifest; the certificate is that of 'admin'")(
        "wait", po::value(&wait)->value_name("SECONDS"),
        "how long to wait for the scheduler's answer (10)");
  }
  duration within() const { return duration(static_cast<std::int64_t>(wait * 1e9)); }
  result<std::shared_ptr<live_manifest>> load() const {
    if (manifest.empty()) return error{errc::bad_usage, "--manifest FILE is missing"};
    auto read = live_manifest::load(posix_file_system(), manifest);
    if (!read) return as_bad_input(read.failure());
    return read;
  }
};

bool has_ended(const pb::JobStatus& status) {
  return status.phase() == pb::JobStatus::FINISHED || status.phase() == pb::JobStatus::FAILED;
}

int send(const admin_line& admin, const std::function<void(node_process&)>& what) {
  const auto manifest = admin.load();
  if (!manifest) return report(manifest.failure());
  auto access = cluster_access::open(*manifest, "admin", false);
  if (!access) return report(as_bad_input(access.failure()));
  const auto done = (*access)->command(what, admin.within());
  if (!done) return report(done.failure());
  std::cout << *done << '\n';
  return exit_done;
}

int watch(cluster_access& access, const console::name_of_node& name, bool json, duration within) {
  std::signal(SIGINT, on_interrupt);
  const bool redraws = !json && console::is_terminal(1);
  for (;;) {
    const auto status = access.status(within);
    if (!status) return report(status.failure());
    if (json)
      std::cout << console::cluster_json(*status, name).text() << std::endl;
    else
      console::write_to(1, (redraws ? "\033[H\033[J" : "") +
                               console::cluster_report(*status, name) + (redraws ? "" : "\n"));
    if (has_ended(*status)) return exit_done;
    for (int i = 0; i < 10 && interrupted == 0; ++i) ::usleep(100000);
    if (interrupted != 0) return exit_done;
    (void)access.process().wait(duration::zero());  // what came meanwhile is old
  }
}

}  // namespace

int status_command(const std::vector<std::string>& arguments) {
  command_line line(
      "status --manifest FILE [--watch] [--json]",
      "Shows a running cluster: where the job stands, every node, when it was heard of "
      "last, what it leads and what it waits for.");
  admin_line admin;
  admin.add_to(line);
  line.options().add_options()("watch", "again every second, until the job ends")(
      "json", "for programs, one line each time (docs/results.md)");
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  const auto manifest = admin.load();
  if (!manifest) return report(manifest.failure());
  auto access = cluster_access::open(*manifest, "admin", true);
  if (!access) return report(as_bad_input(access.failure()));
  const auto name = name_in((*manifest)->present());
  const bool json = values.count("json") > 0;
  if (values.count("watch")) return watch(**access, name, json, admin.within());
  const auto status = (*access)->status(admin.within());
  if (!status) return report(status.failure());
  std::cout << (json ? console::cluster_json(*status, name).text() + "\n"
                     : console::cluster_report(*status, name));
  return exit_done;
}

int drain_command(const std::vector<std::string>& arguments) {
  command_line line("drain --manifest FILE NODE",
                    "Gives what a server or a worker has to others, after which it may be ended.");
  admin_line admin;
  admin.add_to(line);
  line.positional("node", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("node")) return report({errc::bad_usage, "drain needs a node's name"});
  const auto manifest = admin.load();
  if (!manifest) return report(manifest.failure());
  const auto who =
      member_of((*manifest)->present(), values["node"].as<std::vector<std::string>>().front());
  if (!who) return report(who.failure());
  if (who->role.role != pb::SERVER && who->role.role != pb::WORKER)
    return report({errc::bad_usage, "only servers and workers are drained"});
  return send(admin, [&](node_process& p) { p.drain(who->role); });
}

int rebalance_command(const std::vector<std::string>& arguments) {
  command_line line("rebalance --manifest FILE",
                    "Moves shards between servers until all have about as much to do.");
  admin_line admin;
  admin.add_to(line);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  return send(admin, [](node_process& p) { p.rebalance(); });
}

int stop_command(const std::vector<std::string>& arguments) {
  command_line line(
      "stop --manifest FILE",
      "Ends training after the clocks under way; the model is evaluated and saved, and "
      "the nodes end.");
  admin_line admin;
  admin.add_to(line);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  return send(admin, [](node_process& p) { p.stop_job("stopped by an administrator"); });
}

int checkpoint_now(const std::string& manifest) {
  admin_line admin;
  admin.manifest = manifest;
  return send(admin, [](node_process& p) { p.take_checkpoint(); });
}

}  // namespace troupe
