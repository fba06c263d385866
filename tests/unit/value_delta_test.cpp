// Values as differences from those before: the same numbers come out, whatever the two ends have
// forgotten.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstring>

#include "messages/filters/chain.hpp"
#include "messages/filters/ends.hpp"
#include "messages/filters/registry.hpp"
#include "tests/support/payloads.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// Bytes sent for each of these pushes of the same keys, all of which come out as they were.
template <class T>
std::vector<std::size_t> sent_for(const std::vector<std::vector<T>>& pushes,
                                  const std::vector<std::string>& filters) {
  const auto table = table_with(filters, {}, sizeof(T) == 8);
  auto sender = fresh_memories(), receiver = fresh_memories();
  transmission_chain out(table, direction::push, &sender), in(table, direction::push, &receiver);
  byte_counts uncounted;
  std::vector<std::size_t> sizes;
  const auto keys = blob_of(positions(pushes[0].size(), 1));
  for (const auto& push : pushes) {
    payload message{keys, blob_of(push)};
    pb::Encoding encoding;
    out.encode(message, encoding, uncounted);
    sizes.push_back(message.values.size());
    REQUIRE(in.decode(message, encoding, uncounted) == undone::done);
    REQUIRE(message.values == blob_of(push));
    REQUIRE(message.keys == keys);
  }
  return sizes;
}

}  // namespace

TEST_CASE("values that change little take few bytes, and any floats come back") {
  auto first = normals(1000, 1);
  auto second = first;
  for (std::size_t i = 0; i < second.size(); i += 3) second[i] *= 1.001f;
  const auto sizes = sent_for<float>({first, second, second, normals(1000, 2)}, {"value_delta"});
  CHECK(sizes[0] == 4000);
  CHECK(sizes[1] < 2200);
  CHECK(sizes[2] == sizes[1]);  // it may be the same push again
  CHECK(sizes[3] <= 4000);

  CHECK(rc::check("f32", [] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 40);
    std::vector<std::vector<float>> pushes(3, std::vector<float>(count));
    for (auto& push : pushes)
      for (auto& x : push) {  // any bits: infinities, signs of zero, payloads of NaNs
        const auto bits = *rc::gen::arbitrary<std::uint32_t>();
        std::memcpy(&x, &bits, sizeof x);
      }
    sent_for<float>(pushes, {"value_delta", "key_cache"});
  }));
  CHECK(rc::check("f64", [](const std::vector<double>& some) {
    if (some.empty()) return;
    std::vector<double> other(some.rbegin(), some.rend());
    sent_for<double>({some, other, some}, {"value_delta"});
  }));
}

TEST_CASE("codes of eight bits have differences too") {
  auto values = normals(2000, 1);
  for (auto& x : values) x = static_cast<float>(static_cast<int>(x * 20)) / 64;
  auto moved = values;
  for (std::size_t i = 0; i < moved.size(); i += 7) moved[i] += 1.0f / 64;
  const auto sizes = sent_for<float>({values, moved}, {"fixed8", "value_delta"});
  CHECK(sizes[0] < 2100);
  CHECK(sizes[1] * 2 < sizes[0]);
}

TEST_CASE("a push that is sent again differs from what its receiver surely had") {
  worker_end worker(plan_with({"value_delta"}, {}));
  server_end server(plan_with({"value_delta"}, {}));
  const auto keys = blob_of(positions(100, 1));
  const auto send = [&](const blob& values, bool lost = false) {
    pb::PushHeader header;
    auto its_keys = keys, its_values = values;
    worker.encode(0, 7, false, header, its_keys, its_values);
    if (lost) return undone::done;
    const auto outcome = server.decode(header, its_keys, its_values);
    if (outcome == undone::done) CHECK(its_values == values);
    return outcome;
  };
  auto numbers = normals(100, 1);
  const auto first = blob_of(numbers);
  numbers[4] += 1;
  const auto second = blob_of(numbers);
  numbers[5] += 1;
  const auto third = blob_of(numbers);
  CHECK(send(first) == undone::done);
  send(second, true);
  CHECK(send(second) == undone::done);
  send(third, true);
  numbers[6] += 1;
  CHECK(send(blob_of(numbers)) == undone::content_unknown);
  worker.forget(0);
  CHECK(send(blob_of(numbers)) == undone::done);
}

TEST_CASE("a reply differs from what its asker holds, and is whole where a server has forgotten") {
  const auto plan = plan_with({}, {"value_delta", "key_cache"});
  worker_end worker(plan);
  server_end first(plan), second(plan);
  const auto keys = blob_of(positions(100, 1));
  const auto pull = [&](server_end& from, const blob& values) {
    pb::PullHeader header;
    auto sent = keys;
    worker.encode(0, 7, false, header, sent);
    auto outcome = from.decode(header, sent);
    if (outcome == undone::content_unknown) {
      worker.forget(0);
      header = {};
      sent = keys;
      worker.encode(0, 7, false, header, sent);
      outcome = from.decode(header, sent);
    }
    REQUIRE(outcome == undone::done);
    pb::PullReply reply;
    reply.set_outcome(pb::DONE);
    blob none, its_values = values;
    from.encode(header, reply, none, its_values);
    const auto bytes = its_values.size();
    REQUIRE(worker.decode(0, 7, 0, keys, reply, none, its_values));
    CHECK(its_values == values);
    return bytes;
  };
  auto numbers = normals(100, 1);
  CHECK(pull(first, blob_of(numbers)) == 400);
  numbers[50] += 1;
  CHECK(pull(first, blob_of(numbers)) < 50);
  CHECK(pull(second, blob_of(numbers)) == 400);  // it took the place over
  numbers[51] += 1;
  CHECK(pull(second, blob_of(numbers)) < 50);
}

TEST_CASE("differences are made of keys that can be told apart") {
  CHECK(check_filters(table_with({"fixed8", "value_delta", "key_cache"}, {})).ok());
  CHECK(check_filters(table_with({"key_cache", "value_delta"}, {})).failure().text ==
        "table 'weights', filters of pushes: 'value_delta' must stand before filters that make "
        "fewer bytes of the keys");
}
