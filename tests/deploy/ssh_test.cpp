// Nodes that are started by ssh: a server of the test's own on loopback, with keys of its own.
// Skipped, visibly, where there is no sshd.
#include <sys/stat.h>

#include "tests/support/deployment.hpp"

using namespace troupe::testing;

namespace {

bool there_is_sshd() {
  const auto files = troupe::posix_file_system();
  return files->exists("/usr/sbin/sshd") && files->exists("/usr/bin/ssh-keygen") &&
         ::geteuid() == 0;
}

}  // namespace

TEST_CASE("nodes are started by ssh, and none is left when the job has ended or was interrupted" *
          doctest::skip(!there_is_sshd())) {
  const deployment cluster(deployment::shape{2, 1, 0, "", ""});
  const auto& folder = cluster.here.path();
  const auto run = [&](const words& command) {
    program_place place;
    place.folder = folder;
    return run_program(command, place).exit_code;
  };
  for (const auto* key : {"host", "user"})
    REQUIRE(run({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}) == 0);
  const auto port = std::to_string(free_port());
  cluster.here.write("sshd_config", "Port " + port + "\nListenAddress 127.0.0.1\nHostKey " +
                                        folder + "/host\nAuthorizedKeysFile " + folder +
                                        "/user.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
                                        "PermitRootLogin prohibit-password\n");
  // ssh as 'troupe up' finds it in the PATH, with this server and these keys.
  cluster.here.write("ssh", "#!/bin/sh\nexec /usr/bin/ssh -p " + port + " -i " + folder +
                                "/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
                                "-o LogLevel=ERROR \"$@\"\n");
  REQUIRE(::chmod((cluster.here / "ssh").c_str(), 0755) == 0);
  (void)::mkdir("/run/sshd", 0755);
  running_program sshd({"/usr/sbin/sshd", "-D", "-e", "-f", folder + "/sshd_config"},
                       cluster.place());

  auto text = read_file(cluster.here / "cluster.toml");
  for (const auto* name : {"\"server-0\"\n", "\"worker-0\"\n"}) {
    const auto at = text.find(std::string("name = ") + name);
    REQUIRE(at != std::string::npos);
    text.insert(at, "ssh = \"127.0.0.1\"\n");
  }
  cluster.here.write("cluster.toml", text);
  auto place = cluster.place();
  place.environment["PATH"] = folder + ":/usr/bin:/bin";
  const auto up = [&](const words& more) {
    return std::make_unique<running_program>(
        words{TROUPE_BINARY, "up", "--manifest", "cluster.toml", "--ssh", "--remote-program",
              TROUPE_BINARY, "job.toml", "--json", "result.json"} +
            deployment::quick_verdicts() + more,
        place);
  };
  const auto job = set("training.epochs=20");
  const auto digest = cluster.digest_of_sim(job);
  const auto whole = up(job);
  check_finished(cluster, *whole, digest);

  const auto stopped = up(set("training.epochs=100000"));
  cluster.wait_until_clocks(20);
  const auto far = cluster.pid_of("server-0");
  stopped->send_signal(SIGINT);
  CHECK(stopped->wait().exit_code == 130);
  CHECK(::kill(far, 0) != 0);
  sshd.send_signal(SIGTERM);
  sshd.wait();
}
