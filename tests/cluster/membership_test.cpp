// Whom a node admits, by what it says first and the certificate that it has shown.
#include "apps/deploy/membership.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <caf/all.hpp>

#include "messages/version.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using troupe::testing::temporary_folder;
using troupe::testing::write_file;

namespace {

constexpr const char* nodes = R"(
[cluster]
id = "blue"
[[nodes]]
name = "boss"
role = "scheduler"
port = 7000
[[nodes]]
name = "s0"
[[nodes]]
name = "s1"
port = 7001
[[nodes]]
name = "s2"
[[nodes]]
name = "w0"
role = "worker"
)";

struct at_node {
  temporary_folder folder;
  std::shared_ptr<live_manifest> manifest;

  explicit at_node(const std::string& text = nodes) {
    write_file(folder / "cluster.toml", text);
    manifest = *live_manifest::load(posix_file_system(), folder / "cluster.toml");
  }
  links_setup setup(const std::string& name) const {
    return links_of(manifest, *member_of(manifest->present(), name), nullptr);
  }
  std::string refusal_of(const pb::Hello& said) const {
    const auto why = setup("boss").admit(said, std::nullopt);
    return why ? why->text : std::string();
  }
};

pb::Hello server(const std::string& name, std::uint32_t index) {
  pb::Hello h;
  h.set_protocol(protocol_version);
  h.set_build(build_version());
  h.set_cluster("blue");
  h.set_name(name);
  h.set_role(pb::SERVER);
  h.set_index(index);
  return h;
}

}  // namespace

TEST_CASE("who is of the manifest, in its role, number, cluster, protocol and build, is admitted") {
  const at_node here;
  CHECK(here.refusal_of(server("s1", 1)) == "");
  CHECK(here.refusal_of(server("s1", 0)) == "the manifest has no server 's1' of number 0");
  CHECK(here.refusal_of(server("s9", 1)) == "the manifest has no server 's9' of number 1");
  auto said = server("w0", 0);
  CHECK(here.refusal_of(said) == "the manifest has no server 'w0' of number 0");
  said = server("s0", 0);
  said.set_cluster("green");
  CHECK(here.refusal_of(said) == "it belongs to the cluster 'green', this is 'blue'");
  said = server("s0", 0);
  said.set_protocol(protocol_version + 1);
  CHECK(here.refusal_of(said) == "s0 speaks protocol " + std::to_string(protocol_version + 1) +
                                     ", this node " + std::to_string(protocol_version));
  said = server("s0", 0);
  said.set_build("99.0");
  CHECK(here.refusal_of(said) == std::string("s0 is build 99.0, this node ") + build_version());
}

TEST_CASE("a certificate must say what its owner says") {
  const at_node here;
  // As with TLS: a context is all that tells the two apart.
  const auto files = posix_file_system();
  const auto ca = *make_authority("blue", 2);
  const auto pair = *make_certificate(ca, {"blue", "scheduler", "boss"}, {}, 2);
  REQUIRE(files->create_folders(here.folder / "certs"));
  write_file(here.folder / "certs/ca.pem", ca.certificate);
  write_file(here.folder / "certs/boss.pem", pair.certificate);
  write_file(here.folder / "certs/boss.key", pair.key);
  REQUIRE(::chmod((here.folder / "certs/boss.key").c_str(), 0600) == 0);
  const auto who = *member_of(here.manifest->present(), "boss");
  const auto tls = open_security(*files, here.manifest->present(), who);
  REQUIRE(tls.ok());
  const auto setup = links_of(here.manifest, who, *tls);
  const auto why = [&](const std::optional<certificate_identity>& shown) {
    const auto refused = setup.admit(server("s1", 1), shown);
    return refused ? refused->text : std::string();
  };
  CHECK(why(certificate_identity{"blue", "server", "s1"}) == "");
  CHECK(why(std::nullopt) == "it has shown no certificate");
  CHECK(why(certificate_identity{"green", "server", "s1"}).find("of the cluster 'green'") !=
        std::string::npos);
  CHECK(why(certificate_identity{"blue", "server", "s0"}) ==
        "it says that it is the server 's1', and its certificate that it is the server 's0'");
  CHECK(why(certificate_identity{"blue", "worker", "s1"}) ==
        "it says that it is the server 's1', and its certificate that it is the worker 's1'");
  CHECK(!open_security(*files, here.manifest->present(), *member_of(here.manifest->present(), "s0"))
             .ok());
}

TEST_CASE("of two nodes one dials") {
  const at_node here;
  const auto dials = [&](const std::string& name) {
    std::vector<std::string> names;
    for (const auto& d : here.setup(name).dials) names.push_back(d.name);
    return names;
  };
  using names = std::vector<std::string>;
  CHECK(dials("boss").empty());
  CHECK(dials("s0") == names{"boss"});
  CHECK(dials("s2") == names{"boss", "s0", "s1"});
  CHECK(dials("w0") == names{"boss", "s0", "s1", "s2"});
  CHECK(dials("admin") == names{"boss"});
}

TEST_CASE("a node that was written into the manifest since is known when it knocks") {
  const at_node here;
  CHECK(!here.manifest->knows("s3", pb::SERVER, 3, 0));
  write_file(here.folder / "cluster.toml", std::string(nodes) + "[[nodes]]\nname = \"s3\"\n");
  CHECK(!here.manifest->knows("s3", pb::SERVER, 3, 0.5));  // it was read a moment ago
  CHECK(here.manifest->knows("s3", pb::SERVER, 3, 2));
}
