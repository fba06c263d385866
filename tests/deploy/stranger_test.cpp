// Whoever does not belong: refused within seconds and with a reason, and the job does not notice.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "actors/links/certificate.hpp"
#include "actors/links/frame.hpp"
#include "tests/support/deployment.hpp"

using namespace troupe::testing;
using troupe::frame_header;

namespace {

// A connection of somebody's own making.
class stranger {
 public:
  explicit stranger(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  stranger(stranger&& other) noexcept : socket_(other.socket_), connected_(other.connected_) {
    other.socket_ = -1;
  }
  ~stranger() {
    if (socket_ >= 0) ::close(socket_);
  }
  bool connected() const { return connected_; }
  void say(const void* data, std::size_t size) const {
    (void)!::send(socket_, data, size, MSG_NOSIGNAL);
  }
  // Waits until the other side has closed the connection; false after `seconds`.
  bool is_closed_within(int seconds) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      pollfd waiting{socket_, POLLIN, 0};
      if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return false;
      char buffer[4096];
      const auto n = ::recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) return true;
    }
  }

 private:
  int socket_;
  bool connected_ = false;
};

double megabytes_of(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/status");
  const auto at = text.find("VmRSS:");
  return std::strtod(text.c_str() + at + 6, nullptr) / 1000;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

words job_of(int epochs) {
  return set("training.epochs=" + std::to_string(epochs));
}

}  // namespace

TEST_CASE("nodes that do not belong are refused with a reason, and the job does not notice") {
  const deployment cluster(deployment::shape{2, 2, 1, "", ""});
  const auto digest = cluster.digest_of_sim(job_of(250));
  const auto run = cluster.up(job_of(250));
  cluster.wait_until_clocks(40);
  const auto text = read_file(cluster.here / "cluster.toml");
  // All knock at once, each with a state folder of its own, as if on another machine.
  struct knocking {
    std::string what, told;
    std::unique_ptr<running_program> node;
  };
  std::vector<knocking> all;
  const auto refused = [&](const std::string& what, const std::string& manifest,
                           const std::string& name, const std::string& told) {
    const auto file = "other-" + std::to_string(all.size()) + ".toml";
    auto own = manifest;
    if (const auto at = own.find("elsewhere"); at != std::string::npos)
      own.insert(at + 9, std::to_string(all.size()));
    cluster.here.write(file, own);
    all.push_back({what, told, cluster.node(name, {}, file)});
  };
  const auto elsewhere =
      replaced(text, "id = \"test\"\n", "id = \"test\"\nstate = \"elsewhere\"\n");
  refused("two nodes of one name on one machine", text, "server-1", "runs already, as process");
  refused("two nodes of one name on two machines", elsewhere, "server-1",
          "server-1 is connected already");
  const auto blue = replaced(elsewhere, "\"test\"", "\"blue\"") + "[tls]\nfolder = \"blue\"\n";
  cluster.here.write("blue.toml", blue);
  REQUIRE(cluster.here.troupe({"certs", "--manifest", "blue.toml"}).exit_code == 0);
  refused("a foreign authority's certificate", blue, "server-2", "authority");
  refused("the certificate of another cluster", elsewhere + "[tls]\nfolder = \"blue\"\n",
          "server-2", "of the cluster 'blue'");

  // Another cluster's manifest with this one's authority.
  const auto files = troupe::posix_file_system();
  const troupe::key_pair ca{read_file(cluster.here / "certs/ca.pem"),
                            read_file(cluster.here / "certs/ca.key")};
  const auto make = [&](const std::string& folder, const troupe::certificate_identity& who,
                        int days) {
    REQUIRE(files->create_folders(cluster.here / folder));
    const auto pair = *troupe::make_certificate(ca, who, {}, days);
    cluster.here.write(folder + "/ca.pem", ca.certificate);
    cluster.here.write(folder + "/" + who.name + ".pem", pair.certificate);
    cluster.here.write(folder + "/" + who.name + ".key", pair.key);
    REQUIRE(::chmod((cluster.here / (folder + "/" + who.name + ".key")).c_str(), 0600) == 0);
  };
  make("other", {"green", "server", "server-2"}, 5);
  refused("a certificate of another cluster by the same authority",
          replaced(elsewhere, "\"test\"", "\"green\"") + "[tls]\nfolder = \"other\"\n", "server-2",
          "its certificate is of the cluster 'green', this is 'test'");
  make("expired", {"test", "server", "server-2"}, -1);
  refused("an expired certificate", elsewhere + "[tls]\nfolder = \"expired\"\n", "server-2",
          "has expired");
  make("role", {"test", "worker", "server-2"}, 5);
  refused("a certificate of another role", elsewhere + "[tls]\nfolder = \"role\"\n", "server-2",
          "it is the certificate of the worker 'server-2'");
  make("stranger", {"test", "server", "server-77"}, 5);
  refused("a node that the manifest does not know",
          replaced(elsewhere, "\"server-2\"", "\"server-77\"") + "[tls]\nfolder = \"stranger\"\n",
          "server-77", "the manifest has no server 'server-77'");
  refused("no certificate", elsewhere + "[tls]\nfolder = \"nowhere\"\n", "server-2",
          "nowhere/server-2.pem");
  refused("plain TCP to a cluster with TLS",
          replaced(elsewhere, "id = \"test\"\n", "id = \"test\"\ninsecure = true\n"), "server-2",
          "this cluster speaks TLS, and it plain TCP");
  refused("a port that is taken",
          replaced(elsewhere, "name = \"server-2\"\n",
                   "name = \"server-2\"\nport = " + std::to_string(cluster.port) +
                       "\naddress = \"localhost\"\n"),
          "server-2", "Address already in use");
  for (auto& each : all) {
    const auto& end = each.node->wait();
    INFO(each.what, ": ", end.out, end.err, "should say: ", each.told);
    CHECK(end.exit_code == 2);
    CHECK(contains(end.err, each.told));
  }
  check_finished(cluster, *run, digest);
  CHECK(cluster.result().number("failovers") == 0);
}

TEST_CASE("a cluster without TLS says so loudly, refuses TLS, and stays on loopback") {
  const deployment cluster(
      deployment::shape{1, 1, 1, "[cluster]\nid = \"test\"\ninsecure = true\n", ""});
  const auto digest = cluster.digest_of_sim(job_of(60));
  const auto run = cluster.up(job_of(60));
  cluster.wait_until_clocks(20);
  const auto text = read_file(cluster.here / "cluster.toml");
  cluster.here.write("tls.toml", replaced(text, "insecure = true", "state = \"elsewhere\""));
  const auto& with_tls = cluster.node("server-1", {}, "tls.toml")->wait();
  CHECK(with_tls.exit_code == 2);
  CHECK(contains(with_tls.err, "does not speak TLS"));
  cluster.here.write("far.toml", replaced(text, "name = \"server-1\"\n",
                                          "name = \"server-1\"\nbind = \"0.0.0.0\"\n"));
  check_refused(cluster.node("server-1", {}, "far.toml")->wait(),
                {"without certificates a cluster stays on loopback"});
  check_finished(cluster, *run, digest);
  CHECK(contains(run->wait().err, "INSECURE"));
}

TEST_CASE("bytes of any kind harm nobody") {
  const deployment cluster(deployment::shape{2, 2, 0, "", "handshake_timeout = \"1 s\"\n"});
  const auto digest = cluster.digest_of_sim(job_of(100));
  const auto run = cluster.up(job_of(100));
  cluster.wait_until_clocks(30);
  const auto pid = cluster.pid_of("scheduler");
  const auto before = megabytes_of(pid);

  std::string random;
  std::uint64_t seed = 1;
  for (int i = 0; i < 1 << 20; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    random += static_cast<char>(seed >> 56);
  }
  const stranger noisy(cluster.port);
  noisy.say(random.data(), random.size());
  CHECK(noisy.is_closed_within(20));

  const stranger silent(cluster.port);
  CHECK(silent.is_closed_within(20));

  // The first bytes of a TLS client, and no more.
  const unsigned char half[] = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00};
  const stranger slow(cluster.port);
  slow.say(half, sizeof half);
  CHECK(slow.is_closed_within(20));

  // A frame of 4 GB, in plain.
  frame_header huge;
  huge.type = 5;
  huge.size = 0xffffffff;
  huge.total = 0xffffffff;
  const stranger greedy(cluster.port);
  greedy.say(&huge, sizeof huge);
  greedy.say(random.data(), random.size());
  CHECK(greedy.is_closed_within(20));

  CHECK(megabytes_of(pid) < before + 64);
  check_finished(cluster, *run, digest);
  CHECK(cluster.result().number("failovers") == 0);
}

TEST_CASE("a frame of 4 GB is refused without TLS too") {
  const deployment cluster(deployment::shape{1, 1, 0, "[cluster]\nid = \"test\"\ninsecure = true\n",
                                             "handshake_timeout = \"1 s\"\n"});
  const auto run = cluster.up(job_of(60));
  cluster.wait_until_clocks(10);
  const auto pid = cluster.pid_of("scheduler");
  const auto before = megabytes_of(pid);
  for (const int type : {1, 5}) {
    frame_header huge;
    huge.type = static_cast<std::uint8_t>(type);
    huge.size = 0xffffffff;
    huge.total = 0xffffffff;
    const stranger greedy(cluster.port);
    greedy.say(&huge, sizeof huge);
    CHECK(greedy.is_closed_within(20));
  }
  CHECK(megabytes_of(pid) < before + 64);
  CHECK(run->wait().exit_code == 0);
}

TEST_CASE("more connections than there are descriptors: existing work is unharmed") {
  const deployment cluster(deployment::shape{1, 1, 0, "", "handshake_timeout = \"1 s\"\n"});
  const auto digest = cluster.digest_of_sim(job_of(100));
  const auto server = cluster.node("server-0"), worker = cluster.node("worker-0");
  std::string line = "ulimit -n 200; exec \"$0\" \"$@\"";
  running_program scheduler(
      words{"/bin/sh", "-c", line, TROUPE_BINARY, "node", "--manifest", "cluster.toml", "--name",
            "scheduler", "job.toml", "--json", "result.json"} +
          deployment::quick_verdicts() + job_of(100),
      cluster.place());
  cluster.wait_until_clocks(20);
  std::vector<stranger> crowd;
  for (int i = 0; i < 1100; ++i) crowd.emplace_back(cluster.port);
  CHECK(crowd.back().connected());
  // Those who belong still come through.
  cluster.wait_until_clocks(60);
  for (const auto& each : {0, 500, 1099})
    CHECK(crowd[static_cast<std::size_t>(each)].is_closed_within(30));
  crowd.clear();
  check_finished(cluster, scheduler, digest);
  CHECK(server->wait().exit_code == 0);
  CHECK(worker->wait().exit_code == 0);
  CHECK(cluster.result().number("failovers") == 0);
}
