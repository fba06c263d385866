// Servers that hold copies of each other's shards, message by message: acknowledgement, leave to
// answer, promotion, hand-over, splitting.

#include <doctest/doctest.h>

#include <set>

#include "tests/support/played_hosts.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

TEST_CASE("a push is acknowledged when the copy has it, and not before") {
  hosts h(2, 1);
  h.push(0, 0, 0, 0);
  CHECK(h.pushes.empty());
  REQUIRE(h.passing.size() == 1);
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  CHECK(h.all[1]->find(0)->tables()[0]->rows() == 1);
  CHECK(h.all[1]->find(0)->ledger().next(0) == push_number{1, 0});
}

TEST_CASE("pushes that come while a message is on its way share the next one") {
  hosts h(2, 1);
  for (std::uint64_t clock = 0; clock < 10; ++clock) h.push(0, 0, 0, clock);
  CHECK(h.passing.size() == 1);
  h.settle();
  CHECK(h.pushes.size() == 10);
  CHECK(h.all[0]->find(0)->tables()[0]->rows() == 1);
  h.pull(0, 0);
  CHECK(h.pulled() == 10);
}

TEST_CASE(
    "the acknowledgement of a push is lost: the retry is acknowledged and not applied again") {
  hosts h(2, 1);
  h.push(0, 0, 0, 0);
  h.push(0, 0, 0, 0);  // while the first is on its way to the copy
  CHECK(h.pushes.empty());
  h.settle();
  CHECK(h.pushes.size() == 2);
  h.push(0, 0, 0, 0);
  CHECK(h.pushes.size() == 3);
  h.pull(0, 0);
  CHECK(h.pulled() == 1);
}

TEST_CASE("a message to a copy that is lost is sent again, with what has come since") {
  hosts h(2, 1);
  h.push(0, 0, 0, 0);
  const auto lost = h.passing.front().second;
  h.passing.clear();
  h.push(0, 0, 1, 0);
  h.take(0, h.all[0]->on_copy_failure(lost, "lost", h.now));
  h.later(20ms);
  h.settle();
  CHECK(h.pushes.size() == 2);
  // The lost one comes all the same, late: it changes nothing.
  h.push(0, 0, 1, 1);
  h.settle();
  h.passing.emplace_back(0, lost);
  h.settle();
  CHECK(h.all[1]->find(0)->ledger().next(1) == push_number{2, 0});
  float value = 0;
  const auto key = h.key_of(0);
  REQUIRE(h.all[1]->find(0)->tables()[0]->pull({&key, 1}, &value, nullptr));
  CHECK(value == 3);
}

TEST_CASE("a promoted copy goes on from what was acknowledged") {
  hosts h(3, 1);
  h.push(0, 0, 0, 0);
  h.settle();
  h.push(0, 0, 0, 1);  // dies on its way
  h.passing.clear();
  h.install(h.without(0));
  h.pushes.clear();
  h.later(200ms);
  h.renew();
  h.settle();
  h.push(1, 0, 0, 1);  // what was not acknowledged is sent again
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  h.renew();
  h.pull(1, 0);
  CHECK(h.pulled() == 2);
  CHECK(h.all[2]->find(0)->tables()[0]->rows() == 1);  // the new copy has been filled
}

TEST_CASE("a middle one of three dies: the others close the gap and nothing is lost") {
  hosts h(4, 2);
  h.push(0, 0, 0, 0);
  // The middle one has it and the last one has not.
  auto first = h.passing.front();
  h.passing.pop_front();
  const auto number = h.next++;
  h.asked.emplace(number, std::pair(first.first, first.second));
  h.take(1, h.all[1]->on_copy(number, first.second.header, first.second.keys, first.second.rows,
                              h.now));
  h.passing.clear();
  CHECK(h.pushes.empty());
  h.install(h.without(1));
  h.later(20ms);
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  CHECK(h.all[2]->find(0)->tables()[0]->rows() == 1);
}

namespace {

// Server 0 sleeps; its copy takes over and moves on; then it wakes and is asked.
std::size_t answers_of_a_sleeper(duration lease) {
  hosts h(2, 1, lease);
  h.push(0, 0, 0, 0);
  h.settle();
  h.pushes.clear();
  const auto old_epoch = h.present.find(0)->epoch;
  h.now = h.now + 1s;  // longer than any lease
  h.present = h.without(0);
  h.install_at(1);
  h.later(duration::zero());
  h.renew_at(1);
  h.settle();
  h.push(1, 0, 0, 1, 10);
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  h.pull(0, 0, old_epoch);  // by somebody who has not heard of the new view either
  pb::PushHeader stale;
  stale.set_shard(0);
  stale.set_shard_epoch(old_epoch);
  stale.set_slot(1);
  stale.set_last(true);
  h.take(0, h.all[0]->on_push(h.next++, stale, {}, {}, h.now));
  CHECK(h.pushes.empty());  // it cannot acknowledge: its copy is another's primary
  const auto answered = h.pulls.size();
  if (answered > 0) CHECK(h.pulled() == 1);  // what is out of date
  // With the new view it sends everybody on.
  h.pulls.clear();
  h.pushes.clear();
  h.install_at(0);
  for (const auto& p : h.pulls) CHECK(p.reply.outcome() == pb::STALE_VIEW);
  CHECK(h.pulls.size() + answered == 1);
  REQUIRE(h.pushes.size() == 1);
  CHECK(h.pushes[0].reply.outcome() == pb::STALE_VIEW);
  return answered;
}

}  // namespace

TEST_CASE("a primary that slept answers nothing that is out of date, because of its lease") {
  CHECK(answers_of_a_sleeper(100ms) == 0);
  CHECK(answers_of_a_sleeper(0ms) == 1);  // without, it would
}

TEST_CASE("who takes over waits until what it granted has run out") {
  hosts h(3, 1);
  h.install(h.without(0));
  h.renew();
  h.pull(1, 0);
  CHECK(h.pulls.empty());
  h.later(99ms);
  h.renew();
  CHECK(h.pulls.empty());
  h.later(2ms);
  CHECK(h.pulled() == 0);
}

TEST_CASE("a grant is refused by who knows a newer view, and brings it") {
  hosts h(2, 1);
  h.present = h.without(0);
  h.install_at(1);
  h.now = h.now + 1s;
  h.renew_at(0);
  CHECK(h.all[0]->present().number() == h.present.number());
  CHECK(h.all[0]->find(0) == nullptr);  // others have it
}

TEST_CASE("a copy that joins is filled chunk by chunk while pushes go on, and then counts") {
  hosts h(3, 0);
  std::vector<position> keys;
  for (int i = 0; i < 50; ++i) keys.push_back(h.key_of(0) + static_cast<position>(i) * 1000);
  for (std::size_t i = 0; i < keys.size(); ++i) h.push(0, 0, 0, i, 1, keys[i]);
  CHECK(h.pushes.size() == 50);
  h.pushes.clear();
  cluster_facts f;
  f.copies = 1;
  for (const auto& m : h.present.members()) f.servers.push_back({m, false});
  h.install(*plan_view(h.present, 6, f).changed);
  REQUIRE(h.present.find(0)->joining.has_value());
  const auto joining = *h.present.find(0)->joining;
  std::size_t messages = 0;
  for (int i = 0; i < 200 && !h.all[0]->find(0)->next_is_filled(); ++i) {
    // Acknowledged without the one that joins, until that has everything; at all rows, those that
    // have been handed over and those that have not.
    h.push(0, 0, 1, static_cast<std::uint64_t>(i), 1, keys[static_cast<std::size_t>(i * 7) % 50]);
    ++messages;
    if (!h.passing.empty()) h.pass_one();
    h.later(1ms);
    h.renew();
  }
  CHECK(messages > 10);
  CHECK(h.all[0]->find(0)->next_is_filled());
  h.settle();
  const auto digest = [&](std::uint32_t at) {
    return to_hex(h.all[at]->find(0)->tables()[0]->summary().digest);
  };
  CHECK(digest(joining) == digest(0));
  CHECK(h.all[joining]->find(0)->in_sync());
  CHECK(h.all[joining]->find(0)->ledger().next(0) == push_number{50, 0});
}

TEST_CASE("a shard is split at all its holders, and both parts know all numbers") {
  hosts h(2, 1);
  const auto range = h.present.ranges_of(0).front();
  const position low = range.first, high = range.last;
  h.push(0, 0, 0, 0, 1, low);
  h.settle();
  h.push(0, 0, 0, 1, 2, high);
  h.settle();
  h.pushes.clear();
  h.install(split_in_half(h.present, 6, 0, 7));
  h.renew();
  h.settle();
  h.pull(0, 0, {}, low);
  CHECK(h.pulled() == 1);
  h.pull(0, 7, {}, high);
  CHECK(h.pulled() == 2);
  h.push(0, 7, 0, 1, 2, high);  // repeated: it is known there
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  h.pull(0, 7, {}, high);
  CHECK(h.pulled() == 2);
  h.push(0, 7, 0, 2, 5, high);
  h.settle();
  CHECK(h.outcome() == pb::DONE);
  for (const std::uint32_t shard : {0u, 7u})
    CHECK(h.all[0]->find(shard)->tables()[0]->summary().digest ==
          h.all[1]->find(shard)->tables()[0]->summary().digest);
  h.pull(0, 0, 5, low);  // cut by the view before
  REQUIRE(h.pulls.size() == 1);
  CHECK(h.pulls[0].reply.outcome() == pb::STALE_VIEW);
}

TEST_CASE("a copy that is slow puts pushes off, and says so") {
  hosts h(2, 1);
  auto settings = host_settings_of(h.plan, 0, 1);
  CHECK(settings.shard.copies.most_waiting == std::uint64_t{32} << 20);
  h.plan.mutable_timings()->set_copy_bytes(100);
  h.all[0] = std::make_unique<shard_host>(
      host_settings_of(h.plan, 0, 1), [&h] { return *make_tables(h.plan); }, h.work);
  h.install_at(0);
  h.renew();
  for (std::uint64_t clock = 0; clock < 12; ++clock) h.push(0, 0, 0, clock);
  std::set<std::string> put_off;
  for (const auto& p : h.pushes)
    if (p.reply.outcome() == pb::LATER) put_off.insert(p.reply.text());
  CHECK(put_off == std::set<std::string>{"waits for the copy of shard 0 on server 1"});
  CHECK(h.all[0]
            ->report(h.now + 10s)
            .shards(0)
            .trouble()
            .find("the copy on server 1 has not answered for 10.0 s") == 0);
}

TEST_CASE(
    "bulk-synchronous: a version is read when the copy has it, and a promoted copy has both") {
  hosts h(2, 1, 0ms, true);
  const auto pull = [&](std::uint32_t at, std::uint64_t clock) {
    pb::PullHeader p;
    p.set_shard(0);
    p.set_shard_epoch(h.present.find(0)->epoch);
    p.set_clock(clock);
    p.set_hold_ns(duration(1s).count());
    const auto key = h.key_of(0);
    h.take(at,
           h.all[at]->on_pull(h.next++, p, blob::copy_of(span<const position>(&key, 1)), h.now));
  };
  for (const std::uint32_t slot : {0u, 1u}) h.push(0, 0, slot, 0);
  h.settle();
  for (const std::uint32_t slot : {0u, 1u}) h.push(0, 0, slot, 1);
  pull(0, 2);
  CHECK(h.pulls.empty());  // applied, and only here
  h.settle();
  CHECK(h.pulled() == 4);
  h.install(h.without(0));
  pull(1, 2);
  CHECK(h.pulled() == 4);
  pull(1, 1);
  CHECK(h.pulled() == 2);  // for a slot that is taken over
}

TEST_CASE("the wait for an earlier primary is not forgotten when the view changes again") {
  hosts h(3, 1);
  h.install(h.without(0));
  h.renew();
  const auto* e = h.present.find(0);
  REQUIRE(e->joining.has_value());
  // The new copy is filled in no time, and the next view says so.
  h.settle();
  cluster_facts f;
  f.copies = 1;
  for (const auto& m : h.present.members()) f.servers.push_back({m, false});
  f.filled.insert({0, e->epoch});
  h.install(*plan_view(h.present, h.present.number() + 1, f).changed);
  h.renew();
  h.pull(1, 0);
  CHECK(h.pulls.empty());
  h.later(101ms);
  h.renew();
  h.later(1ms);
  CHECK(h.pulled() == 0);
}

TEST_CASE("a holder that missed a view splits twice, and loses no row") {
  hosts h(2, 1);
  const auto range = h.present.ranges_of(0).front();
  for (int i = 0; i < 8; ++i)
    h.push(0, 0, 0, static_cast<std::uint64_t>(i), 1,
           range.first + range.extent() / 8 * static_cast<std::uint64_t>(i));
  h.settle();
  h.pushes.clear();
  const auto once = split_in_half(h.present, 6, 0, 7);
  const auto twice = split_in_half(once, 7, 7, 8);
  h.present = once;
  h.install_at(0);  // the other server hears of the second view alone
  h.present = twice;
  h.install_at(0);
  h.install_at(1);
  for (const std::uint32_t shard : {0u, 7u, 8u}) {
    CAPTURE(shard);
    const auto here = h.all[0]->find(shard)->tables()[0]->summary(),
               there = h.all[1]->find(shard)->tables()[0]->summary();
    CHECK(here.rows > 0);
    CHECK(here.digest == there.digest);
  }
}

TEST_CASE("a shard that was lost is begun anew even where some of it was") {
  hosts h(3, 0);
  h.push(0, 0, 0, 0);
  h.settle();
  cluster_facts f;
  f.copies = 1;
  for (const auto& m : h.present.members()) f.servers.push_back({m, false});
  h.install(*plan_view(h.present, 6, f).changed);
  const auto joining = *h.present.find(0)->joining;
  h.pass_one();  // it has begun to be filled
  f.servers.clear();
  f.servers.push_back({{joining, 1}, false});
  const auto next = plan_view(h.present, 7, f);
  REQUIRE_FALSE(next.lost.empty());
  h.passing.clear();
  h.present = *next.changed;
  h.install_at(joining);
  REQUIRE(h.all[joining]->find(0) != nullptr);
  CHECK(h.all[joining]->find(0)->loading());
  CHECK(h.all[joining]->find(0)->tables()[0]->rows() == 0);
}
