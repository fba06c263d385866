// When messages arrive, against times worked out by hand.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/network/link.hpp"

namespace troupe::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

instant at_ms(std::int64_t ms) {
  return {ms * 1'000'000};
}

struct sent {
  std::int64_t at_ms;
  std::uint64_t bytes;
  std::int64_t arrives_ms;
};

}  // namespace

TEST_CASE("messages arrive when the link's parameters say") {
  const struct {
    const char* what;
    link_settings settings;
    double sender_rate, receiver_rate;  // of the nodes' own pipes
    std::vector<sent> messages;
  } table[] = {
      {"latency alone: size does not matter",
       {milliseconds(5), {}, 0, 0, 0, true, {}},
       0,
       0,
       {{0, 1, 5}, {0, 1'000'000, 5}, {7, 1, 12}}},
      {"bandwidth: 1000 bytes at 10,000 a second are 100 ms",
       {milliseconds(5), {}, 10'000, 0, 0, true, {}},
       0,
       0,
       {{0, 1000, 105}}},
      {"queueing: a big message delays the small one behind it",
       {milliseconds(5), {}, 10'000, 0, 0, true, {}},
       0,
       0,
       {{0, 1000, 105}, {10, 10, 106}, {50, 100, 116}}},
      {"an idle link owes nothing for the past",
       {milliseconds(5), {}, 10'000, 0, 0, true, {}},
       0,
       0,
       {{0, 100, 15}, {500, 100, 515}}},
      {"the sender's pipe is slower than the link: its rate counts",
       {milliseconds(1), {}, 10'000, 0, 0, true, {}},
       1'000,
       0,
       {{0, 100, 101}, {0, 100, 201}}},
      {"the link is slower than the sender's pipe: cut-through, not store and forward",
       {milliseconds(1), {}, 1'000, 0, 0, true, {}},
       10'000,
       0,
       {{0, 100, 101}, {0, 100, 201}}},
      {"the receiver's pipe: as fast as the link costs nothing more",
       {milliseconds(1), {}, 1'000, 0, 0, true, {}},
       0,
       1'000,
       {{0, 100, 101}, {0, 100, 201}}},
      {"the receiver's pipe: slower than the link",
       {milliseconds(1), {}, 10'000, 0, 0, true, {}},
       0,
       1'000,
       {{0, 100, 101}, {0, 100, 201}}},
  };
  for (const auto& row : table) {
    CAPTURE(row.what);
    link wire;
    pipe out, in;
    random_source random(1);
    for (const auto& m : row.messages) {
      const auto a = wire.send(out.pass(at_ms(m.at_ms), m.bytes, row.sender_rate), m.bytes,
                               row.settings, random);
      REQUIRE_FALSE(a.lost);
      const auto there = in.pass_until(a.first_byte, a.last_byte, m.bytes, row.receiver_rate);
      CHECK(there.ns == at_ms(m.arrives_ms).ns);
    }
  }
}

TEST_CASE("a receiver's pipe is shared by all who send to it, first come first served") {
  pipe in;
  // 100 bytes at 1,000 a second take 100 ms.
  CHECK(in.pass_until(at_ms(100), at_ms(200), 100, 1000).ns == at_ms(200).ns);
  CHECK(in.pass_until(at_ms(110), at_ms(210), 100, 1000).ns == at_ms(300).ns);
  CHECK(in.pass_until(at_ms(210), at_ms(220), 10, 1000).ns == at_ms(310).ns);
  CHECK(in.pass_until(at_ms(890), at_ms(900), 10, 1000).ns == at_ms(900).ns);
}

TEST_CASE("an ordered link delivers in order whatever the jitter") {
  link wire;
  random_source random(3);
  const link_settings settings{milliseconds(1), milliseconds(50), 0, 0, 0, true, {}};
  instant last;
  bool spread = false;
  for (std::int64_t i = 0; i < 200; ++i) {
    const instant sent{i * 1'000'000};
    const auto a = wire.send({sent, sent}, 10, settings, random);
    CHECK(last <= a.last_byte);
    CHECK(sent + milliseconds(1) <= a.last_byte);
    spread = spread || sent + milliseconds(30) <= a.last_byte;
    last = a.last_byte;
  }
  CHECK(spread);
}

TEST_CASE("an ordered link loses nothing: it sends again after a wait that doubles") {
  link wire;
  random_source random(1);
  const link_settings settings{milliseconds(1), {}, 0, 0.5, 0.5, true, milliseconds(100)};
  std::uint32_t most = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const instant sent{i * 1'000'000'000'000};  // far apart, so that none holds up the next
    const auto a = wire.send({sent, sent}, 10, settings, random);
    CHECK_FALSE(a.lost);
    CHECK_FALSE(a.again.has_value());
    // 100 + 200 + 400 + ... ms
    const auto waits = milliseconds(100) * ((std::int64_t{1} << a.retransmissions) - 1);
    CHECK(a.last_byte == sent + milliseconds(1) + waits);
    most = std::max(most, a.retransmissions);
  }
  CHECK(most >= 3);
}

TEST_CASE("an unordered link loses, doubles and reorders, each as often as it is told") {
  link wire;
  random_source random(7);
  const link_settings settings{milliseconds(1), milliseconds(20), 0, 0.2, 0.1, false, {}};
  int lost = 0, doubled = 0, overtaken = 0;
  instant last;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const instant sent{i * 1'000'000};
    const auto a = wire.send({sent, sent}, 10, settings, random);
    if (a.lost) {
      ++lost;
      continue;
    }
    doubled += a.again.has_value() ? 1 : 0;
    overtaken += a.last_byte < last ? 1 : 0;
    last = a.last_byte;
    CHECK(a.last_byte <= sent + milliseconds(21));
  }
  CHECK(lost > 1800);
  CHECK(lost < 2200);
  CHECK(doubled > 700);
  CHECK(doubled < 900);
  CHECK(overtaken > 1000);
}

}  // namespace troupe::sim
