// Manifests: read, checked, written.
#include <doctest/doctest.h>

#include "config/manifest.hpp"

namespace troupe::config {
namespace {

constexpr const char* small = R"(
[cluster]
id = "blue"
[[nodes]]
name = "boss"
role = "scheduler"
address = "10.0.0.1"
port = 7000
[[nodes]]
name = "s0"
[[nodes]]
name = "w0"
role = "worker"
[[nodes]]
name = "s1"
spare = true
)";

std::string fault(const std::string& text) {
  const auto read = parse_manifest(text, "cluster.toml");
  return read ? std::string() : read.failure().text;
}

std::string with(const std::string& more) {
  return std::string(small) + more;
}

}  // namespace

TEST_CASE("a manifest says who there is, and where") {
  const auto m = parse_manifest(small, "cluster.toml");
  REQUIRE(m.ok());
  CHECK(m->cluster().id() == "blue");
  CHECK(scheduler_of(*m).name() == "boss");
  CHECK(find_node(*m, "s0")->role() == "server");
  CHECK(find_node(*m, "s0")->address() == "127.0.0.1");
  CHECK(find_node(*m, "nobody") == nullptr);
  CHECK(index_of(*m, *find_node(*m, "s1")) == 1);
  CHECK(index_of(*m, *find_node(*m, "w0")) == 0);
  CHECK(count_of(*m, "server") == 1);  // the other is a spare
  CHECK(bind_address(scheduler_of(*m)) == "10.0.0.1");
  const auto again = parse_manifest(to_toml(*m), "again");
  REQUIRE(again.ok());
  CHECK(again->SerializeAsString() == m->SerializeAsString());
}

TEST_CASE("what cannot be is named, with its place") {
  CHECK(fault(with("[[nodes]]\nname = \"s0\"\n")).find("two nodes are called 's0'") !=
        std::string::npos);
  CHECK(fault(with("[[nodes]]\nname = \"b2\"\nrole = \"scheduler\"\nport = 1\n"))
            .find("one scheduler; this one has 2") != std::string::npos);
  CHECK(fault(with("[[nodes]]\nname = \"s2\"\naddress = \"10.0.0.1\"\nport = 7000\n"))
            .find("'s2' and 'boss' both listen at 10.0.0.1:7000") != std::string::npos);
  CHECK(fault(with("[[nodes]]\nname = \"a b\"\n")).find("letters, digits") != std::string::npos);
  CHECK(fault(with("[[nodes]]\nname = \"admin\"\n")).find("no node's") != std::string::npos);
  CHECK(
      fault(with("[[nodes]]\nname = \"x\"\nrol = \"server\"\n")).find("did you mean nodes.role") !=
      std::string::npos);
  CHECK(fault(with("[links]\nsilence = \"300 ms\"\n")).find("links.silence") != std::string::npos);
  CHECK(fault(with("[links]\nwindow = \"64 KiB\"\n")).find("links.window") != std::string::npos);
  CHECK(fault("[cluster]\nid = \"x\"\n").find("nodes: there are none") != std::string::npos);
  CHECK(fault("[[nodes]]\nname = \"b\"\nrole = \"scheduler\"\n").find("needs a port") !=
        std::string::npos);
  CHECK(fault("[[nodes]\n").find("cluster.toml:1") == 0);
}

TEST_CASE("certificates are found by a node's name") {
  Tls tls;
  tls.set_folder("/certs");
  CHECK(files_of(tls, "s0").certificate == "/certs/s0.pem");
  CHECK(files_of(tls, "s0").key == "/certs/s0.key");
  CHECK(files_of(tls, "s0").authority == "/certs/ca.pem");
  tls.set_key("/secret/key.pem");
  CHECK(files_of(tls, "s0").key == "/secret/key.pem");
}

}  // namespace troupe::config
