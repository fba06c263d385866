// troupe add: one node more in a running cluster.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "apps/commands/cluster_access.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/commands/node_start.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

// Runs on after us, in a session of its own.
result<void> start_detached(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return error{errc::io, words[0] + " could not be started"};
  if (pid == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::close_range(3, ~0u, 0);  // nobody waits for the end of what is not its own
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  (void)::waitpid(pid, nullptr, 0);
  return {};
}

}  // namespace

int add_command(const std::vector<std::string>& arguments) {
  command_line line("add --manifest FILE NODE [--ssh]",
                    "Starts a node that the manifest has (a spare, or one that was written behind "
                    "the others since) and waits until it has joined. It runs on by itself.");
  up_options o;
  o.program = "troupe";
  line.options().add_options()("manifest", po::value(&o.manifest)->value_name("FILE"),
                               "the cluster's manifest")("ssh", "starts it by ssh")(
      "remote-program", po::value(&o.program)->value_name("PATH"),
      "with --ssh: where troupe is there");
  line.positional("node", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (o.manifest.empty() || !values.count("node"))
    return report({errc::bad_usage, "add needs --manifest FILE and a node's name"});
  o.ssh = values.count("ssh") > 0;
  const auto files = posix_file_system();
  const auto live = live_manifest::load(files, o.manifest);
  if (!live) return report(as_bad_input(live.failure()));
  const auto manifest = (*live)->present();
  const auto name = values["node"].as<std::vector<std::string>>().front();
  const auto who = member_of(manifest, name);
  if (!who) return report(who.failure());
  if (who->role.role != pb::SERVER && who->role.role != pb::WORKER)
    return report({errc::bad_usage, "servers and workers can be added"});
  if (!o.ssh && !is_here(*config::find_node(manifest, name)))
    return report(
        {errc::bad_usage,
         name + " is on another machine: use --ssh, or start it there with 'troupe node'"});
  auto access = cluster_access::open(*live, "admin", true);
  if (!access) return report(as_bad_input(access.failure()));
  const auto is_alive = [&](const pb::JobStatus& status) {
    return std::any_of(status.nodes().begin(), status.nodes().end(), [&](const auto& n) {
      return role_id{n.role(), n.index()} == who->role &&
             (n.state() == pb::NodeStatus::ALIVE || n.state() == pb::NodeStatus::SUSPECTED);
    });
  };
  const duration patience = std::chrono::seconds(30);
  auto status = (*access)->status(patience);
  if (!status) return report(status.failure());
  if (is_alive(*status)) return report({errc::bad_usage, name + " is there already"});
  const auto folder = manifest.cluster().state() + "/" + name;
  if (auto made = files->create_folders(folder); !made) return report(made.failure());
  auto words = words_of(*config::find_node(manifest, name), o,
                        std::filesystem::absolute(o.manifest).string());
  if (words[0] == "ssh") {
    auto& remote = words.back();
    remote = "nohup " + remote.substr(std::string("exec ").size());
    remote.erase(remote.rfind(" '--until-eof'"));
    remote += " >/dev/null 2>&1 </dev/null &";
  }
  if (auto done = start_detached(words, folder + "/output"); !done) return report(done.failure());
  const auto begun = wall_clock();
  while (wall_clock() - begun < patience) {
    status = (*access)->status(patience);
    if (!status) return report(status.failure());
    if (!is_alive(*status)) continue;
    std::cout << name << " has joined\n";
    return exit_done;
  }
  return report({errc::timeout, name + " has not joined; " + folder + "/output may say why"});
}

}  // namespace troupe
