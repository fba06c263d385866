// The client against servers that are played by hand.

#include "actors/worker/client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/views.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct fixture {
  meter work;
  kv_client c;
  std::vector<outgoing> sent;

  explicit fixture(std::uint32_t servers = 3, client_settings settings = {}, bool observer = false)
      : c(settings, {shape("weights"), shape("bias"), set_only()},
          observer ? std::optional<slot_identity>() : slot_identity{1, 4}, work) {
    c.use(testing::view_of_servers(servers));
  }
  static table_shape shape(const char* name) {
    table_shape s;
    s.name = name;
    return s;
  }
  static table_shape set_only() {
    auto s = shape("set_only");
    s.additive = false;
    return s;
  }
  key_set keys(std::vector<key_id> ids, std::size_t table = 0) {
    auto made = c.keys(table, ids);
    REQUIRE(made.ok());
    return *made;
  }
  std::vector<outgoing> send() {
    sent = c.take_outgoing();
    return sent;
  }
  void acknowledge(const outgoing& o, pb::Outcome outcome = pb::DONE) {
    pb::PushReply reply;
    reply.set_outcome(outcome);
    c.on_reply(o.number, reply);
  }
  // Answers a pull as a server whose value of key k is k / 2.
  void answer(const outgoing& o, std::uint64_t staleness = 0) {
    const auto& pull = std::get<outgoing_pull>(o.message);
    std::vector<float> values;
    for (const auto p : pull.keys.as<position>())
      values.push_back(static_cast<float>(unmix(p)) / 2);
    pb::PullReply reply;
    reply.set_outcome(pb::DONE);
    reply.set_staleness(staleness);
    c.on_reply(o.number, reply, {}, blob::copy_of(span<const float>(values)));
  }
  static blob floats(std::vector<float> v) { return blob::copy_of(span<const float>(v)); }
};

const outgoing_push& push_of(const outgoing& o) {
  return std::get<outgoing_push>(o.message);
}

std::vector<key_id> hundred() {
  std::vector<key_id> ids;
  for (key_id k = 0; k < 100; ++k) ids.push_back((k * 37) % 100);
  return ids;
}

}  // namespace

TEST_CASE(
    "a pull of a hundred keys over three servers gives a hundred values in the caller's order") {
  fixture f;
  const auto ids = hundred();
  std::vector<float> got;
  const auto t = f.c.pull(0, f.keys(ids), {}, [&](result<pulled> r) {
    REQUIRE(r.ok());
    const auto values = r->values.as<float>();
    got.assign(values.begin(), values.end());
  });
  auto sent = f.send();
  CHECK(sent.size() == 3);
  std::reverse(sent.begin(), sent.end());
  for (const auto& o : sent) {
    CHECK_FALSE(f.c.done(t));
    f.answer(o);
  }
  CHECK(f.c.done(t));
  REQUIRE(got.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(got[i] == static_cast<float>(ids[i]) / 2);
}

TEST_CASE("every server gets every number once, with no keys where it has none") {
  fixture f;
  f.c.push(0, f.keys({7}), f.floats({1}), {{}, false, 0}, nullptr);
  f.c.push(1, f.keys({}), {}, {{}, true, 0}, nullptr);
  const auto sent = f.send();
  REQUIRE(sent.size() == 6);
  std::size_t keys = 0;
  for (const auto& o : sent) {
    const auto& p = push_of(o);
    keys += p.keys.as<position>().size();
    CHECK(p.header.slot() == 1);
    CHECK(p.header.epoch() == 4);
    CHECK(p.header.clock() == 0);
    CHECK(p.header.last() == (p.header.index() == 1));
    CHECK(p.header.table() == p.header.index());
  }
  CHECK(keys == 1);
  CHECK(f.c.clock() == 1);
}

TEST_CASE("a push of values that do not fit its keys fails, and uses up no number") {
  fixture f;
  std::string text;
  f.c.push(0, f.keys({1, 2}), f.floats({1}), {},
           [&](result<pushed> r) { text = r.failure().text; });
  CHECK(text == "push to table 'weights': 2 keys of width 1 need 8 bytes of values, not 4");
  CHECK(f.send().empty());
  CHECK(f.c.clock() == 0);
}

TEST_CASE("repeated keys are summed where the table adds, else refused") {
  fixture f(1);
  f.c.push(0, f.keys({5, 5}), f.floats({1, 2}), {}, nullptr);
  auto sent = f.send();
  REQUIRE(sent.size() == 1);
  CHECK(push_of(sent[0]).values.as<float>()[0] == 3);
  std::string text;
  f.c.push(2, f.keys({5, 5}, 2), f.floats({1, 2}), {},
           [&](result<pushed> r) { text = r.failure().text; });
  CHECK(text ==
        "push to table 'set_only': a key is repeated, and the table's function does not add values "
        "up");
}

TEST_CASE(
    "a push with a value that is not finite is refused whole, and its number goes out empty") {
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    fixture f(2);
    bool rejected = false;
    f.c.push(0, f.keys({1, 2, 3}), f.floats({1, bad, 2}), {},
             [&](result<pushed> r) { rejected = r->rejected; });
    const auto sent = f.send();
    REQUIRE(sent.size() == 2);
    for (const auto& o : sent) {
      CHECK(push_of(o).keys.empty());
      CHECK(push_of(o).header.last());
      f.acknowledge(o);
    }
    CHECK(rejected);
  }
}

TEST_CASE("empty requests are answered without a message") {
  fixture f(1, {}, true);
  bool answered = false;
  f.c.pull(0, f.keys({}), {}, [&](result<pulled> r) { answered = r.ok() && r->values.empty(); });
  CHECK_FALSE(answered);  // never before the call has returned
  CHECK(f.c.has_outgoing());
  CHECK(f.send().empty());
  CHECK(answered);
}

TEST_CASE("a request that comes after another leaves when that one is answered everywhere") {
  fixture f;
  bool pulled_too = false;
  const auto first =
      f.c.push(0, f.keys(hundred()), f.floats(std::vector<float>(100, 1)), {}, nullptr);
  f.c.pull(0, f.keys(hundred()), {{first}}, [&](result<pulled>) { pulled_too = true; });
  const auto pushes = f.send();
  REQUIRE(pushes.size() == 3);
  f.acknowledge(pushes[0]);
  f.acknowledge(pushes[1]);
  CHECK(f.send().empty());
  f.acknowledge(pushes[2]);
  const auto pulls = f.send();
  CHECK(pulls.size() == 3);
  for (const auto& o : pulls) f.answer(o);
  CHECK(pulled_too);
}

TEST_CASE("tickets are waited for together") {
  fixture f(1);
  const auto a = f.c.push(0, f.keys({1}), f.floats({1}), {}, nullptr);
  const auto b = f.c.pull(0, f.keys({2}), {}, nullptr);
  int waited = 0;
  f.c.wait({a, b}, [&] { ++waited; });
  f.c.wait({}, [&] { ++waited; });
  CHECK(waited == 1);
  const auto sent = f.send();
  f.acknowledge(sent[0]);
  CHECK(waited == 1);
  f.answer(sent[1]);
  CHECK(waited == 2);
}

TEST_CASE("a pull backs off, and after its retries fails with the server and the reason") {
  client_settings settings;
  settings.pull_retries = 2;
  settings.backoff = 10ms;
  settings.request_timeout = 20ms;
  settings.hold = 0ms;
  fixture f(1, settings);
  std::string text;
  f.c.pull(0, f.keys({1}), {}, [&](result<pulled> r) { text = r.failure().text; });
  const auto number = f.send()[0].number;
  // Each try takes its time before it fails.
  const auto fails_at = [&](duration at) {
    f.c.at({at.count()});
    f.c.on_failure(number, "request_timeout");
  };
  const auto tried_again_at = [&](duration at) {
    f.c.at({at.count() - 1});
    f.c.on_time();
    CHECK(f.send().empty());
    f.c.at({at.count()});
    f.c.on_time();
    CHECK(f.send().size() == 1);
  };
  fails_at(15ms);
  tried_again_at(25ms);
  fails_at(40ms);
  tried_again_at(60ms);  // doubled
  fails_at(75ms);
  CHECK(text ==
        "server 0: pull of table 'weights' by slot 1 at clock 0, asked 0.1 s ago: request_timeout, "
        "after 3 tries");
}

TEST_CASE("a pull that meets nobody has not been tried: it is tried until the patience ends") {
  client_settings settings;
  settings.pull_retries = 2;
  fixture f(1, settings);
  bool failed = false;
  f.c.pull(0, f.keys({1}), {}, [&](result<pulled> r) { failed = !r; });
  for (int i = 0; i < 30; ++i) {
    const auto sent = f.send();
    REQUIRE(sent.size() == 1);
    f.c.on_failure(sent[0].number, "no such node is known");
    CHECK_FALSE(failed);
    REQUIRE(f.c.next_wake());
    f.c.at(*f.c.next_wake());
    f.c.on_time();
  }
}

TEST_CASE("a request without an answer is taken for lost when its time is up, and sent again") {
  client_settings settings;
  settings.request_timeout = 2s;
  settings.hold = 1s;
  settings.backoff = 10ms;
  fixture f(1, settings);
  bool answered = false;
  f.c.pull(0, f.keys({1}), {}, [&](result<pulled> r) { answered = r.ok(); });
  const auto first = f.send();
  CHECK(f.c.next_wake()->ns ==
        duration(3s).count());  // what the server may hold, and the answer's own time
  f.c.at(*f.c.next_wake());
  f.c.on_time();
  CHECK(f.send().empty());
  CHECK(f.c.next_wake()->ns == duration(3010ms).count());
  f.c.at(*f.c.next_wake());
  f.c.on_time();
  CHECK(f.send().size() == 1);
  f.answer(first[0]);  // late, but right all the same
  CHECK(answered);
  CHECK_FALSE(f.c.next_wake());
}

TEST_CASE("a push is tried until the patience ends, whatever the number of failures") {
  client_settings settings;
  settings.pull_retries = 1;
  settings.patience = 10s;
  fixture f(1, settings);
  errc code{};
  f.c.push(0, f.keys({1}), f.floats({1}), {}, [&](result<pushed> r) { code = r.failure().code; });
  const auto number = f.send()[0].number;
  instant now;
  int tries = 0;
  while (now.ns < duration(10s).count()) {
    f.c.on_failure(number, "request_timeout");
    REQUIRE(f.c.next_wake());
    now = *f.c.next_wake();
    f.c.at(now);
    f.c.on_time();
    REQUIRE(f.send().size() == 1);
    ++tries;
  }
  CHECK(tries > 10);
  f.c.on_failure(number, "request_timeout");
  CHECK(code == errc::timeout);
}

TEST_CASE("a held pull asks again, and its final error says whom it waited for") {
  client_settings settings;
  settings.patience = 5s;
  fixture f(1, settings);
  std::string text;
  f.c.pull(0, f.keys({1}), {}, [&](result<pulled> r) { text = r.failure().text; });
  const auto number = f.send()[0].number;
  pb::PullReply waiting;
  waiting.set_outcome(pb::WAITING);
  waiting.add_waiting()->set_slot(2);
  waiting.mutable_waiting(0)->set_clock(3);
  f.c.on_reply(number, waiting, {}, {});
  CHECK(f.send().size() == 1);
  CHECK(f.c.waiting_for().find("waits for slot 2 at clock 3") != std::string::npos);
  f.c.at({duration(5s).count()});
  f.c.on_reply(number, waiting, {}, {});
  CHECK(text ==
        "server 0: pull of table 'weights' by slot 1 at clock 0, asked 5.0 s ago: waits for slot 2 "
        "at clock 3");
}

TEST_CASE("a server that lacks an earlier push gets everything from it on again, in order") {
  fixture f(1);
  f.c.push(0, f.keys({1}), f.floats({1}), {}, nullptr);
  f.c.push(0, f.keys({2}), f.floats({2}), {}, nullptr);
  const auto sent = f.send();
  REQUIRE(sent.size() == 2);
  pb::PushReply missing;
  missing.set_outcome(pb::MISSING);
  f.c.on_reply(sent[1].number, missing);
  const auto again = f.send();
  REQUIRE(again.size() == 2);
  CHECK(push_of(again[0]).header.clock() == 0);
  CHECK(push_of(again[1]).header.clock() == 1);
  for (const auto& o : again) f.acknowledge(o);
  f.acknowledge(sent[0]);  // the late reply to the first try changes nothing
  CHECK(f.c.oldest_clock_under_way() == 2);
}

TEST_CASE(
    "bulk-synchronous, a clock's pushes leave when every server has acknowledged the one before") {
  client_settings settings;
  settings.bulk_synchronous = true;
  fixture f(2, settings);
  f.c.push(0, f.keys({1}), f.floats({1}), {}, nullptr);
  const auto first = f.send();
  f.c.push(0, f.keys({2}), f.floats({2}), {}, nullptr);
  CHECK(f.send().empty());
  f.acknowledge(first[0]);
  CHECK(f.send().empty());
  f.acknowledge(first[1]);
  CHECK(f.send().size() == 2);
}

TEST_CASE("a reply with a newer view makes the client cut the request again") {
  fixture f(1, {}, true);
  const auto ids = hundred();
  std::vector<float> got;
  f.c.pull(0, f.keys(ids), {}, [&](result<pulled> r) {
    const auto values = r->values.as<float>();
    got.assign(values.begin(), values.end());
  });
  const auto number = f.send()[0].number;
  pb::PullReply stale;
  stale.set_outcome(pb::STALE_VIEW);
  // Another server has joined, and its arcs are a shard of their own.
  std::vector<std::uint32_t> made;
  const auto split = split_for(testing::view_of_servers(1), 2, 1, 8, 1, made);
  CHECK(made == std::vector<std::uint32_t>{1});
  *stale.mutable_view() = split.to_message();
  f.c.on_reply(number, stale, {}, {});
  const auto again = f.send();
  CHECK(again.size() == 2);
  for (const auto& o : again) {
    CHECK(std::get<outgoing_pull>(o.message).header.shard_epoch() == 2);
    f.answer(o);
  }
  REQUIRE(got.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(got[i] == static_cast<float>(ids[i]) / 2);
}

TEST_CASE("a slot that has been taken over learns it as a stale request") {
  fixture f(1);
  errc code{};
  f.c.push(0, f.keys({1}), f.floats({1}), {}, [&](result<pushed> r) { code = r.failure().code; });
  f.acknowledge(f.send()[0], pb::STALE_EPOCH);
  CHECK(code == errc::stale);
}

TEST_CASE("a reply of the wrong length is an error, not a read past its end") {
  fixture f(1);
  std::string text;
  f.c.pull(0, f.keys({1, 2}), {}, [&](result<pulled> r) { text = r.failure().text; });
  pb::PullReply reply;
  reply.set_outcome(pb::DONE);
  f.c.on_reply(f.send()[0].number, reply, {}, fixture::floats({1}));
  CHECK(text.find("sent 4 bytes of values for 2 keys of 4 bytes") != std::string::npos);
}

TEST_CASE("staleness and waiting are recorded by pull") {
  fixture f(1);
  for (const std::uint64_t staleness : {0, 2, 2, 500}) {
    f.c.pull(0, f.keys({1}), {}, nullptr);
    f.answer(f.send()[0], staleness);
  }
  const auto& record = f.c.pulls();
  CHECK(record.staleness[0] == 1);
  CHECK(record.staleness[2] == 2);
  CHECK(record.staleness[pull_record::buckets - 1] == 1);
  CHECK(record.max_staleness == 500);
}

TEST_CASE("a range pull follows its server to the end, and gives keys in ascending position") {
  fixture f(1, {}, true);
  std::vector<key_id> got;
  f.c.pull_range(0, all_keys, {}, [&](result<pulled> r) {
    const auto keys = r->keys.as<key_id>();
    got.assign(keys.begin(), keys.end());
  });
  std::size_t messages = 0;
  for (auto sent = f.send(); !sent.empty(); sent = f.send())
    for (const auto& o : sent) {
      const auto& header = std::get<outgoing_pull>(o.message).header;
      CHECK(header.observer());
      pb::PullReply reply;
      reply.set_outcome(pb::DONE);
      std::vector<position> one{header.first()};
      if (header.first() < header.last()) {  // one row now, the last position next
        reply.set_more(true);
        reply.set_next(header.last());
      }
      f.c.on_reply(o.number, reply, blob::copy_of(span<const position>(one)), fixture::floats({1}));
      ++messages;
    }
  CHECK(messages == got.size());
  for (std::size_t i = 1; i < got.size(); ++i) CHECK(mix(got[i - 1]) < mix(got[i]));
}
