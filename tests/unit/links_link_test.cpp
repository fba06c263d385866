// One connection: its first words, its order, its bounds, its ends.
#include <doctest/doctest.h>

#include "tests/support/linked_pair.hpp"

namespace troupe {
namespace {

using namespace testing;
using namespace std::chrono_literals;

link_message message(std::uint64_t number, std::size_t size, bool urgent = false) {
  link_message m;
  m.what = 1;
  m.number = number;
  m.urgent = urgent;
  m.text = "header " + std::to_string(number);
  m.first = bytes(size, static_cast<unsigned char>(number));
  m.second = bytes(size / 2, static_cast<unsigned char>(number + 1));
  return m;
}

linked_pair plain_pair(link_limits limits = {}) {
  auto from = settings_of("worker-0", pb::WORKER), to = settings_of("server-0", pb::SERVER);
  from.limits = to.limits = limits;
  return {from, to};
}

void check_same(const frame& got, const link_message& sent) {
  CHECK(got.header.number == sent.number);
  const auto parts = parts_of(got.payload);
  REQUIRE(parts.ok());
  CHECK(parts->text == sent.text);
  CHECK(parts->first == sent.first);
  CHECK(parts->second == sent.second);
}

}  // namespace

TEST_CASE("two links say who they are, and are open") {
  auto p = plain_pair();
  CHECK(p.dials.present_state() == link::state::connecting);
  CHECK(!p.dials.send(message(1, 8)));  // nobody is there yet
  p.settle();
  CHECK(p.dials.present_state() == link::state::open);
  CHECK(p.dials.peer().name() == "server-0");
  CHECK(p.accepts.peer().name() == "worker-0");
}

TEST_CASE("messages of all sizes arrive as they were, in order") {
  link_limits limits;
  limits.chunk = 4096;
  limits.window = 8192;
  auto p = plain_pair(limits);
  p.settle();
  std::vector<link_message> sent;
  for (const std::size_t size : {0, 1, 7, 8, 100, 4000, 4096, 5000, 50'000, 3})
    sent.push_back(message(sent.size() + 1, size));
  for (const auto& m : sent) REQUIRE(p.dials.send(m));
  p.settle();
  const auto got = p.accepts.take_messages();
  REQUIRE(got.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) check_same(got[i], sent[i]);
  CHECK(p.dials.queued() == 0);
}

TEST_CASE("what is urgent passes a large message between two of its pieces, and so do beats") {
  link_limits limits;
  limits.chunk = 4096;
  limits.window = 4096;
  auto p = plain_pair(limits);
  p.settle();
  REQUIRE(p.dials.send(message(1, 100'000)));
  p.carry(p.dials, p.accepts);  // its first piece
  REQUIRE(p.dials.send(message(2, 16, true)));
  p.carry(p.dials, p.accepts);
  auto got = p.accepts.take_messages();
  REQUIRE(got.size() == 1);
  CHECK(got[0].header.number == 2);
  // The socket takes nothing for a while: a beat is the next that goes, and the other side knows
  // that this one lives while the message is still on its way.
  p.pass(300ms);
  const auto before = p.carried;
  p.carry(p.dials, p.accepts);
  CHECK(p.carried - before >= 32);
  p.settle();
  got = p.accepts.take_messages();
  REQUIRE(got.size() == 1);
  check_same(got[0], message(1, 100'000));
}

TEST_CASE(
    "no more is given to the socket than the window holds, and no more waits than the queue") {
  link_limits limits;
  limits.chunk = 4096;
  limits.window = 8192;
  limits.queue = 100'000;
  auto p = plain_pair(limits);
  p.settle();
  std::size_t accepted = 0;
  while (p.dials.send(message(accepted + 1, 10'000))) ++accepted;
  CHECK(accepted == 6);  // of 15,000 bytes each
  CHECK(p.dials.queued() <= limits.queue);
  // A socket that takes nothing: only the window leaves.
  outgoing_bytes out;
  for (int i = 0; i < 100; ++i) p.dials.take_bytes(out, p.no_limit, p.now);
  CHECK(out.size() <= limits.window + limits.chunk + 100);
  CHECK(!p.dials.send(message(100, 30'000)));
  p.dials.sent(0, p.now);
  for (int i = 0; i < 4; ++i) p.dials.take_bytes(out, p.no_limit, p.now);
  CHECK(p.dials.send(message(100, 1000)));
}

TEST_CASE("a message larger than the limit is refused by its sender") {
  link_limits limits;
  limits.message = 100'000;
  auto p = plain_pair(limits);
  p.settle();
  CHECK(!p.dials.send(message(1, 100'000)));
  CHECK(p.dials.send(message(1, 10'000)));
}

TEST_CASE("a peer that sends more than is allowed is sent away") {
  auto from = settings_of("worker-0", pb::WORKER), to = settings_of("server-0", pb::SERVER);
  to.limits.message = 100'000;
  linked_pair p(from, to);
  p.settle();
  REQUIRE(p.dials.send(message(1, 200'000)));
  p.settle();
  CHECK(p.accepts.present_state() == link::state::closing);
  CHECK(p.accepts.reason().find("100000 are allowed") != std::string::npos);
  CHECK(p.accepts.take_messages().empty());
}

TEST_CASE("a link over which nothing comes is broken, and one that was late itself waits") {
  auto p = plain_pair();
  p.settle();
  for (int i = 0; i < 19; ++i) p.pass(250ms);
  CHECK(p.dials.present_state() == link::state::open);  // 4.75 s
  for (int i = 0; i < 3; ++i) p.pass(250ms);
  CHECK(p.dials.present_state() == link::state::closing);
  CHECK(p.dials.reason().find("nothing was heard of it") != std::string::npos);

  auto paused = plain_pair();
  paused.settle();
  paused.pass(60s);  // this process was stopped: the peer's beats wait in the socket
  CHECK(paused.dials.present_state() == link::state::open);
  paused.settle();
  for (int i = 0; i < 100; ++i) {
    paused.pass(250ms);
    paused.settle();
  }
  CHECK(paused.dials.present_state() == link::state::open);
}

TEST_CASE("a slow link is not a dead one: any byte counts") {
  link_limits limits;
  limits.chunk = 4096;
  limits.window = 4096;
  auto p = plain_pair(limits);
  p.settle();
  REQUIRE(p.dials.send(message(1, 400'000)));
  for (int i = 0; i < 150; ++i) {  // a chunk a second and a half
    for (int k = 0; k < 6; ++k) p.pass(250ms);
    p.carry(p.dials, p.accepts);
    p.carry(p.accepts, p.dials);
  }
  CHECK(p.accepts.present_state() == link::state::open);
  CHECK(p.accepts.take_messages().size() == 1);
}

TEST_CASE("who does not say in time who it is, or says it wrongly, is sent away") {
  auto to = settings_of("server-0", pb::SERVER);
  auto p = plain_pair();
  for (int i = 0; i < 21; ++i) p.pass(250ms);
  CHECK(p.accepts.present_state() == link::state::closing);
  CHECK(p.accepts.reason() == "it did not say in time who it is");

  auto strict = plain_pair();
  const auto junk = bytes(64, 3);
  strict.accepts.received({junk.data(), junk.size()}, strict.now);
  CHECK(strict.accepts.reason() == "what it sends are no frames of Troupe");

  // A first frame that is no hello.
  auto early = plain_pair();
  frame_header h;
  h.type = static_cast<std::uint8_t>(frame_type::beat);
  early.accepts.received({reinterpret_cast<const std::byte*>(&h), sizeof h}, early.now);
  CHECK(early.accepts.reason() == "it did not say who it is");
}

TEST_CASE("a refusal reaches the peer with its reason, and nothing else does") {
  auto from = settings_of("worker-0", pb::WORKER), to = settings_of("server-0", pb::SERVER);
  to.admit = [](const pb::Hello& said, const std::optional<certificate_identity>&) {
    return std::optional<refusal>({"the manifest has no '" + said.name() + "'", true});
  };
  linked_pair p(from, to);
  p.settle();
  CHECK(p.accepts.present_state() == link::state::closing);
  CHECK(p.dials.present_state() == link::state::closing);
  CHECK(p.dials.reason() == "it refuses this node: the manifest has no 'worker-0'");
  CHECK(p.dials.refused_for_good());
}

TEST_CASE("an address book is the scheduler's alone") {
  pb::AddressBook book;
  book.add_addresses()->set_name("server-1");
  linked_pair p(settings_of("worker-0", pb::WORKER), settings_of("scheduler", pb::SCHEDULER));
  p.settle();
  p.accepts.send_book(book);
  p.settle();
  const auto got = p.dials.take_book();
  REQUIRE(got.has_value());
  CHECK(got->addresses(0).name() == "server-1");
  p.dials.send_book(book);
  p.settle();
  CHECK(p.accepts.present_state() == link::state::closing);
}

TEST_CASE("a node's bandwidth is shared, and paid for later where it was exceeded") {
  auto p = plain_pair();
  p.settle();
  token_bucket bucket(1'000'000, p.now);
  REQUIRE(p.dials.send(message(1, 1'000'000)));
  REQUIRE(p.dials.send(message(2, 1'000'000)));
  outgoing_bytes out;
  p.dials.take_bytes(out, bucket, p.now);
  p.dials.sent(0, p.now);
  const auto first = out.size();
  p.dials.take_bytes(out, bucket, p.now);
  CHECK(out.size() == first);  // in debt
  CHECK(p.dials.waits_for_allowance());
  CHECK(p.now < bucket.next());
  REQUIRE(p.dials.send(message(3, 16, true)));
  p.dials.take_bytes(out, bucket, p.now);
  CHECK(out.size() > first);  // what is urgent goes
  // 3,000,000 bytes and some take about three seconds.
  int tenths = 0;
  while (p.dials.queued() > 0 && tenths < 100) {
    p.now = p.now + 100ms;
    ++tenths;
    for (std::size_t before = ~std::size_t{0}; before != out.size();) {
      before = out.size();
      p.dials.take_bytes(out, bucket, p.now);
      p.dials.sent(0, p.now);
    }
  }
  CHECK(tenths >= 18);
  CHECK(tenths <= 31);
}

}  // namespace troupe
