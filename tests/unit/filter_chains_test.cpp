// Filters put together: chains of a table, and the two ends of filtered traffic.

#include <doctest/doctest.h>

#include <limits>

#include "core/random.hpp"
#include "messages/filters/chain.hpp"
#include "messages/filters/ends.hpp"
#include "tests/support/payloads.hpp"

using namespace troupe;
using namespace troupe::testing;

TEST_CASE("a server that does not know a signature asks once, and the keys are sent") {
  const auto plan = plan_with({"key_cache"}, {"key_cache"});
  worker_end worker(plan);
  server_end first(plan), second(plan);
  const auto keys = blob_of(positions(100, 1));
  const auto send = [&](server_end& to) {
    pb::PullHeader header;
    auto its_keys = keys;
    worker.encode(0, 7, false, header, its_keys);
    const auto sent = its_keys.size();
    const auto outcome = to.decode(header, its_keys);
    if (outcome == undone::done) CHECK(its_keys == keys);
    return std::pair(sent, outcome);
  };
  CHECK(send(first) == std::pair(keys.size(), undone::done));
  CHECK(send(first) == std::pair(std::size_t{0}, undone::done));
  CHECK(send(second) ==
        std::pair(std::size_t{0}, undone::content_unknown));  // it took the place over
  worker.forget(0);
  CHECK(send(second) == std::pair(keys.size(), undone::done));
  CHECK(send(second) == std::pair(std::size_t{0}, undone::done));
  // What a pull has shown is known for the push.
  pb::PushHeader header;
  auto its_keys = keys, values = blob_of(normals(100, 1));
  worker.encode(0, 7, false, header, its_keys, values);
  CHECK(its_keys.empty());
  CHECK(second.decode(header, its_keys, values) == undone::done);
  CHECK(its_keys == keys);
  // Who has ended leaves nothing behind.
  pb::SlotProgress before, after;
  worker.report(7, before);
  CHECK(before.traffic_size() == 2);
  worker.end(7);
  worker.report(7, after);
  CHECK(after.traffic_size() == 0);
}

TEST_CASE(
    "key caching cuts to less than two fifths what repeats, and costs little where nothing does") {
  const auto plan = plan_with({"key_cache"}, {"key_cache"});
  // Headers, keys and values of clocks that pull and push 10^4 keys: as sent, of what they were.
  const auto traffic = [&](bool repeats) {
    worker_end worker(plan);
    server_end server(plan);
    std::uint64_t plain = 0, sent = 0;
    for (std::uint64_t clock = 0; clock < 12; ++clock) {
      const auto keys = blob_of(positions(10'000, repeats ? 1 : clock));
      const auto values = blob_of(normals(10'000, clock));
      pb::PullHeader pull;
      auto asked = keys;
      plain += pull.ByteSizeLong();
      worker.encode(0, 7, false, pull, asked);
      sent += pull.ByteSizeLong() + asked.size();
      REQUIRE(server.decode(pull, asked) == undone::done);
      pb::PullReply reply;
      reply.set_outcome(pb::DONE);
      plain += reply.ByteSizeLong();
      blob none, answered = values;
      server.encode(pull, reply, none, answered);
      sent += reply.ByteSizeLong() + answered.size();
      REQUIRE(worker.decode(0, 7, 0, keys, reply, none, answered));
      pb::PushHeader push;
      auto pushed_keys = keys, pushed = values;
      plain += push.ByteSizeLong();
      worker.encode(0, 7, false, push, pushed_keys, pushed);
      sent += push.ByteSizeLong() + pushed_keys.size() + pushed.size();
      REQUIRE(server.decode(push, pushed_keys, pushed) == undone::done);
      CHECK(pushed_keys == keys);
      if (clock < 2) {  // not steady yet
        plain = sent = 0;
        continue;
      }
      plain += 2 * (keys.size() + values.size());
    }
    return static_cast<double>(sent) / static_cast<double>(plain);
  };
  CHECK(traffic(true) * 2.5 < 1);
  // A minibatch's push has the keys of its pull, which the server has seen.
  CHECK(traffic(false) < 0.7);
  // Where nothing is ever seen again, not even that.
  worker_end worker(plan);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pb::PushHeader push;
    const auto keys = blob_of(positions(50, 100 + i)), values = blob_of(normals(50, i));
    auto its_keys = keys, its_values = values;
    worker.encode(0, 7, false, push, its_keys, its_values);
    CHECK(its_keys == keys);
    CHECK(static_cast<double>(push.ByteSizeLong()) <=
          0.02 * static_cast<double>(keys.size() + values.size()));
  }
}

TEST_CASE("a model that has diverged is shown as it is, through any filter of pulls") {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const std::string name : {"bf16", "f16", "fixed8", "fixed16"})
    for (const float bad : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()})
      for (const std::size_t at : {0, 7, 49}) {
        CAPTURE(name);
        CAPTURE(bad);
        const auto plan = plan_with({}, {name, "value_delta"});
        worker_end worker(plan);
        server_end server(plan);
        auto numbers = normals(50, 1);
        numbers[at] = bad;
        const auto keys = blob_of(positions(50, 1)), values = blob_of(numbers);
        pb::PullHeader header;
        auto asked = keys;
        worker.encode(0, 7, false, header, asked);
        pb::PullReply reply;
        reply.set_outcome(pb::DONE);
        blob none, answered = values;
        server.encode(header, reply, none, answered);
        REQUIRE(worker.decode(0, 7, 0, keys, reply, none, answered));
        CHECK(answered == values);
      }
}

TEST_CASE("values are remembered within one bound, for however many servers") {
  worker_end worker(plan_with({"value_delta"}, {}));
  const auto keys = blob_of(positions(10, 1)), values = blob_of(normals(10, 1));
  for (std::uint32_t server = 0; server < 100; ++server) {
    pb::PushHeader header;
    auto its_keys = keys, its_values = values;
    worker.encode(server, 7, false, header, its_keys, its_values);
  }
  CHECK(worker.remembered_bytes() < 1000);  // the same values, once
}

TEST_CASE("a memory of keys forgets the least recently used, and keeps to its bound") {
  content_memory memory(1000);
  const auto keys = blob_of(std::vector<position>(20, 1));  // 160 bytes, 256 with what they cost
  for (std::uint64_t i = 0; i < 3; ++i) memory.remember({i, i}, keys);
  CHECK(memory.find({0, 0}) != nullptr);
  memory.remember({3, 3}, keys);
  CHECK(memory.bytes() <= 1000);
  CHECK(memory.find({0, 0}) != nullptr);
  CHECK(memory.find({1, 1}) == nullptr);
  memory.forget({0, 0});
  CHECK(memory.find({0, 0}) == nullptr);
  CHECK(memory.size() == 2);
}

TEST_CASE("chains undo their steps from the last to the first, and count what each leaves") {
  const auto table = table_with({"fixed8", "key_cache", "key_delta", "zstd"}, {});
  REQUIRE(check_filters(table).ok());
  CHECK(count_names(table, direction::push) ==
        std::vector<std::string>{"raw", "fixed8", "key_cache", "key_delta", "zstd"});
  content_memories sender = fresh_memories(), receiver = fresh_memories();
  value_chain losing(table, direction::push);
  transmission_chain out(table, direction::push, &sender), in(table, direction::push, &receiver);
  byte_counts sent, received;
  for (std::uint64_t clock = 0; clock < 10; ++clock) {
    payload rows{blob_of(positions(1000, clock / 3, 50000)), blob_of(normals(1000, clock))};
    losing.apply(rows, {1, 0, clock, 0});
    payload message = rows;
    pb::Encoding encoding;
    out.encode(message, encoding, sent);
    REQUIRE(in.decode(message, encoding, received) == undone::done);
    CHECK(message.keys == rows.keys);
    CHECK(message.values == rows.values);
  }
  CHECK(sent == received);
  REQUIRE(sent.size() == 5);
  CHECK(sent[0] == 10 * 12000);
  for (std::size_t i = 1; i < sent.size(); ++i) CHECK(sent[i] <= sent[i - 1] + 10 * 16);
  CHECK(sent[4] * 3 < sent[0]);
}

TEST_CASE("chains that cannot work are refused with the table and the filter") {
  const auto refusal = [](std::vector<std::string> push, std::vector<std::string> pull) {
    const auto fits = check_filters(table_with(push, pull));
    return fits ? std::string() : fits.failure().text;
  };
  CHECK(refusal({"fixed8", "key_cache"}, {"bf16", "zstd"}).empty());
  CHECK(refusal({"zsdt"}, {}) ==
        "table 'weights', filters of pushes: there is no filter 'zsdt'; did you mean 'zstd'?");
  CHECK(refusal({"zstd", "fixed8"}, {}) ==
        "table 'weights', filters of pushes: 'fixed8' loses something, and must stand before those "
        "that only encode");
  CHECK(refusal({}, {"random_skip"}) ==
        "table 'weights', filters of pulls: 'random_skip' leaves rows out, and a pull wants all");
  CHECK(refusal({"bf16", "random_skip", "fixed8"}, {}) ==
        "table 'weights', filters of pushes: 'bf16' and 'fixed8' both send numbers in fewer bits, "
        "and only one can");
  CHECK(refusal({}, {"f16", "bf16"}) != "");
  CHECK(refusal({"key_cache", "key_cache"}, {}) ==
        "table 'weights', filters of pushes: 'key_cache' is there twice");
  pb::TableSpec table;
  table.set_name("weights");
  auto* spec = table.add_push_filters();
  spec->set_name("zstd");
  auto* number = spec->add_parameters();
  number->set_name("level");
  number->set_value(40);
  CHECK(check_filters(table).failure().text ==
        "table 'weights', filters of pushes: the filter 'zstd': level is 40; it must be from 1 to "
        "19");
}
