// Mutual TLS without sockets: who is let in, and what those are told who are not.
#include <doctest/doctest.h>

#include <ctime>

#include "tests/support/linked_pair.hpp"

namespace troupe {
namespace {

using namespace testing;
using namespace std::chrono_literals;

struct authority {
  certificate_folder disk;
  key_pair ca = *make_authority("test", 10);
  key_pair foreign = *make_authority("test", 10);

  authority() {
    disk.put("ca", ca);
    disk.put("foreign", foreign);
    disk.put("server-0", *make_certificate(ca, {"test", "server", "server-0"}, {"127.0.0.1"}, 5));
    disk.put("worker-0", *make_certificate(ca, {"test", "worker", "worker-0"}, {"localhost"}, 5));
    disk.put("rogue", *make_certificate(foreign, {"test", "worker", "worker-0"}, {}, 5));
    disk.put("old", *make_certificate(ca, {"test", "worker", "worker-0"}, {}, -1));
  }
};

link_settings with_tls(const std::string& name, pb::Role role,
                       std::shared_ptr<const tls_context> tls) {
  auto s = settings_of(name, role);
  s.tls = std::move(tls);
  return s;
}

}  // namespace

TEST_CASE("a certificate holds cluster, role and name, and is its authority's") {
  const auto ca = *make_authority("blue", 10);
  const auto pair = *make_certificate(ca, {"blue", "server", "server-3"}, {"10.0.0.1", "host"}, 7);
  const auto facts = facts_of_certificate(pair.certificate);
  REQUIRE(facts.ok());
  CHECK(facts->who.cluster == "blue");
  CHECK(facts->who.role == "server");
  CHECK(facts->who.name == "server-3");
  CHECK(facts->common_name == "server-3");
  CHECK(facts->valid_to > std::time(nullptr) + 6 * 86400);
  CHECK(check_key(pair.certificate, pair.key).ok());
  CHECK(check_signature(pair.certificate, ca.certificate).ok());
  const auto other = *make_authority("blue", 10);
  CHECK(!check_signature(pair.certificate, other.certificate).ok());
  CHECK(!check_key(pair.certificate, other.key).ok());
  CHECK(!facts_of_certificate("no certificate").ok());
  CHECK(!identity_of_uri("troupe:a/b").ok());
  CHECK(!identity_of_uri("troupe:a/b/c/d").ok());
  CHECK(!identity_of_uri("spiffe:a/b/c").ok());
}

TEST_CASE("a context is opened with all three files that fit, and with nothing less") {
  authority a;
  CHECK(a.disk.context("server-0") != nullptr);
  const auto why = [&](tls_files paths) {
    const auto opened = tls_context::open(*a.disk.files, paths);
    return opened ? std::string() : opened.failure().text;
  };
  auto paths = a.disk.paths("server-0");
  paths.certificate.clear();
  CHECK(why(paths) == "no file is named for the TLS certificate");
  paths = a.disk.paths("server-0");
  paths.key = a.disk.paths("worker-0").key;
  CHECK(why(paths).find("not that of the certificate") != std::string::npos);
  paths = a.disk.paths("server-0");
  paths.authority += ".gone";
  CHECK(why(paths).find("ca.pem.gone") != std::string::npos);
  paths = a.disk.paths("ca");
  CHECK(why(paths).find("names no node") != std::string::npos);
  paths = a.disk.paths("server-0");
  std::filesystem::permissions(paths.key, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  CHECK(why(paths).find("chmod 600") != std::string::npos);
}

TEST_CASE("over TLS all is as without, and the peer is who its certificate says") {
  authority a;
  auto from = with_tls("worker-0", pb::WORKER, a.disk.context("worker-0"));
  auto to = with_tls("server-0", pb::SERVER, a.disk.context("server-0"));
  std::string shown;
  to.admit = [&](const pb::Hello&, const std::optional<certificate_identity>& who) {
    shown = who ? who->role + " " + who->name : "nobody";
    return std::optional<refusal>();
  };
  from.limits.chunk = to.limits.chunk = 100'000;
  linked_pair p(from, to);
  p.settle();
  CHECK(p.dials.present_state() == link::state::open);
  CHECK(shown == "worker worker-0");
  for (const std::size_t size : {0, 5, 16'384, 16'385, 300'000}) {
    link_message m;
    m.what = 1;
    m.number = size + 1;
    m.text = "over TLS";
    m.first = bytes(size);
    REQUIRE(p.dials.send(m));
    p.settle();
    const auto got = p.accepts.take_messages();
    REQUIRE(got.size() == 1);
    CHECK(parts_of(got[0].payload)->first == m.first);
  }
}

TEST_CASE(
    "who has no certificate of this authority that is valid is told so, and nothing is read") {
  authority a;
  const auto server = [&] {
    auto s = with_tls("server-0", pb::SERVER, a.disk.context("server-0"));
    s.admit = [](const pb::Hello&, const std::optional<certificate_identity>&) {
      FAIL("nobody may have come so far");
      return std::optional<refusal>();
    };
    return s;
  };
  SUBCASE("of a foreign authority") {
    auto from = with_tls("worker-0", pb::WORKER, a.disk.context("rogue"));
    linked_pair p(from, server());
    p.settle();
    CHECK(p.accepts.present_state() == link::state::closing);
    CHECK(p.accepts.reason().find("the peer's certificate: ") == 0);
    CHECK(p.dials.reason().find("does not know the authority") != std::string::npos);
  }
  SUBCASE("expired") {
    auto from = with_tls("worker-0", pb::WORKER, a.disk.context("old"));
    linked_pair p(from, server());
    p.settle();
    CHECK(p.accepts.reason() == "the peer's certificate: certificate has expired");
    CHECK(p.dials.reason().find("has expired") != std::string::npos);
  }
  SUBCASE("the server's is of another authority than the dialling node trusts") {
    auto from = with_tls("worker-0", pb::WORKER, a.disk.context("worker-0", "foreign"));
    linked_pair p(from, server());
    p.settle();
    CHECK(p.dials.reason().find("the peer's certificate: ") == 0);
    CHECK(p.accepts.present_state() == link::state::closing);
  }
  SUBCASE("plain TCP against TLS") {
    linked_pair p(settings_of("worker-0", pb::WORKER), server());
    p.settle();
    CHECK(p.accepts.present_state() == link::state::closing);
    CHECK(p.dials.reason() == "it refuses this node: this cluster speaks TLS, and it plain TCP");
    CHECK(p.dials.was_judged());
  }
  SUBCASE("half a handshake") {
    linked_pair p(with_tls("worker-0", pb::WORKER, a.disk.context("worker-0")), server());
    p.carry(p.dials, p.accepts);
    for (int i = 0; i < 21; ++i) p.pass(250ms);
    CHECK(p.accepts.present_state() == link::state::closing);
    CHECK(p.accepts.reason() == "it did not finish the TLS handshake in time");
    CHECK(!p.dials.was_judged());  // silence is no verdict
  }
}

TEST_CASE("TLS against plain TCP is told apart too") {
  authority a;
  linked_pair p(with_tls("worker-0", pb::WORKER, a.disk.context("worker-0")),
                settings_of("server-0", pb::SERVER));
  p.settle();
  CHECK(p.accepts.reason() == "it speaks TLS, and this node plain TCP");
  CHECK(p.dials.reason().find("does not speak TLS") != std::string::npos);
  CHECK(p.dials.was_judged());
}

}  // namespace troupe
