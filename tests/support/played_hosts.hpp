#pragma once
// Servers without actors that hold copies of each other's shards; what travels between them is
// delivered, or dropped, by hand.

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/server/plan.hpp"
#include "actors/server/shard_host.hpp"
#include "tests/support/toy_job.hpp"
#include "tests/support/views.hpp"

namespace troupe::testing {

using namespace std::chrono_literals;

struct hosts {
  pb::JobPlan plan;
  meter work;
  std::vector<std::unique_ptr<shard_host>> all;
  view present;
  instant now{duration(10s).count()};
  asker next = 1;
  // What travels between servers: delivered by settle(), or dropped by a test.
  std::deque<std::pair<std::uint32_t, copy_message>> passing;
  std::map<asker, std::pair<std::uint32_t, copy_message>> asked;
  std::vector<push_answer> pushes;
  std::vector<pull_answer> pulls;
  std::vector<adopt_answer> adoptions;

  explicit hosts(std::uint32_t servers, std::uint32_t copies, duration lease = 100ms,
                 bool bounded = false) {
    toy_settings toy;
    toy.slots = 2;
    toy.function = "add";
    plan = plan_of(toy, bounded, 0);
    plan.mutable_tables(0)->clear_schedule_parameters();
    plan.mutable_tables(0)->set_initialiser("zero");
    plan.mutable_timings()->set_lease(lease.count());
    plan.mutable_timings()->set_transfer_chunk(64);
    for (std::uint32_t i = 0; i < servers; ++i)
      all.push_back(std::make_unique<shard_host>(
          host_settings_of(plan, i, 1), [this] { return *make_tables(plan); }, work));
    install(view_of_servers(servers, 5, copies));
    renew();
  }
  void install(view v) {
    present = std::move(v);
    for (std::uint32_t i = 0; i < all.size(); ++i) install_at(i);
  }
  void install_at(std::uint32_t i) { take(i, all[i]->install(present, now)); }
  void renew() {
    for (std::uint32_t i = 0; i < all.size(); ++i) renew_at(i);
  }
  void renew_at(std::uint32_t i) {
    for (const auto& r : all[i]->lease_requests()) {
      pb::LeaseReply granted;
      granted.set_granted(true);
      if (r.to != leases::scheduler) granted = all[r.to]->grant(r.request, now);
      take(i, all[i]->on_lease(r.to, granted, now, now));
    }
  }
  void take(std::uint32_t from, answers out) {
    for (auto& a : out.pushes) pushes.push_back(std::move(a));
    for (auto& a : out.pulls) pulls.push_back(std::move(a));
    for (auto& a : out.adoptions) adoptions.push_back(std::move(a));
    for (auto& a : out.copies) {
      const auto back = asked.extract(a.to);
      REQUIRE_FALSE(back.empty());
      const auto& [to, message] = back.mapped();
      take(to, all[to]->on_copied(message, a.reply, now));
    }
    for (auto& m : out.changes) passing.emplace_back(from, std::move(m));
  }
  void settle() {
    while (!passing.empty()) pass_one();
  }
  void pass_one() {
    auto [from, m] = std::move(passing.front());
    passing.pop_front();
    const auto number = next++;
    asked.emplace(number, std::pair(from, m));
    take(m.to, all[m.to]->on_copy(number, m.header, m.keys, m.rows, now));
  }
  void later(duration d) {
    now = now + d;
    for (std::uint32_t i = 0; i < all.size(); ++i) take(i, all[i]->on_time(now));
  }

  position key_of(std::uint32_t shard) const { return present.ranges_of(shard).front().first; }
  void push(std::uint32_t at, std::uint32_t shard, std::uint32_t slot, std::uint64_t clock,
            float value = 1, std::optional<position> where = {}) {
    pb::PushHeader h;
    h.set_shard(shard);
    h.set_shard_epoch(present.find(shard)->epoch);
    h.set_slot(slot);
    h.set_clock(clock);
    h.set_last(true);
    h.set_hold_ns(duration(1s).count());
    const position key = where ? *where : key_of(shard);
    const float values[] = {value};
    take(at, all[at]->on_push(next++, h, blob::copy_of(span<const position>(&key, 1)),
                              blob::copy_of(span<const float>(values, 1)), now));
  }
  void pull(std::uint32_t at, std::uint32_t shard, std::optional<std::uint64_t> epoch = {},
            std::optional<position> where = {}) {
    pb::PullHeader h;
    h.set_shard(shard);
    h.set_shard_epoch(epoch ? *epoch : present.find(shard)->epoch);
    h.set_observer(true);
    h.set_hold_ns(duration(1s).count());
    const position key = where ? *where : key_of(shard);
    take(at, all[at]->on_pull(next++, h, blob::copy_of(span<const position>(&key, 1)), now));
  }
  float pulled() {
    REQUIRE(pulls.size() == 1);
    REQUIRE(pulls[0].reply.outcome() == pb::DONE);
    const auto value = pulls[0].values.as<float>()[0];
    pulls.clear();
    return value;
  }
  pb::Outcome outcome() {
    REQUIRE(pushes.size() == 1);
    const auto o = pushes[0].reply.outcome();
    pushes.clear();
    return o;
  }
  // The next view, in which only these servers are alive.
  view without(std::uint32_t dead) {
    cluster_facts f;
    f.copies = 1;
    for (const auto& m : present.members())
      if (m.server != dead) f.servers.push_back({m, false});
    return *plan_view(present, present.number() + 1, f).changed;
  }
};

}  // namespace troupe::testing
