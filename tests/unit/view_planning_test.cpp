// The next view, from the present one and who is there.

#include "actors/scheduler/view_planning.hpp"

#include <doctest/doctest.h>

#include "tests/support/views.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

cluster_facts facts_of(const std::vector<std::uint32_t>& alive, std::uint32_t copies = 1,
                       const std::set<std::uint32_t>& draining = {}) {
  cluster_facts f;
  f.copies = copies;
  for (const auto server : alive) f.servers.push_back({{server, 1}, draining.count(server) > 0});
  return f;
}

using chain = std::vector<std::uint32_t>;

// Plans until nothing changes any more, as servers that do what they are told make it.
view settled(view v, cluster_facts f) {
  for (int i = 0; i < 50; ++i) {
    for (const auto& e : v.shards()) {
      if (e.joining) f.filled.insert({e.number, e.epoch});
      if (e.quiet) f.still.insert({e.number, e.epoch});
    }
    auto next = plan_view(v, v.number() + 1, f);
    REQUIRE(next.lost.empty());
    if (!next.changed) return v;
    v = std::move(*next.changed);
  }
  FAIL("it never settles");
  return v;
}

}  // namespace

TEST_CASE("nothing changes where nothing has happened") {
  CHECK_FALSE(plan_view(view_of_servers(3, 1, 1), 2, facts_of({0, 1, 2})).changed.has_value());
}

TEST_CASE("the copy behind a dead primary takes its place, and another copy joins") {
  const auto v = view_of_servers(3, 1, 1);
  CHECK(v.find(0)->chain == chain{0, 1});
  const auto next = plan_view(v, 2, facts_of({1, 2}));
  REQUIRE(next.changed.has_value());
  const auto* e = next.changed->find(0);
  CHECK(e->chain == chain{1});
  CHECK(e->joining == 2u);
  CHECK(e->epoch == 2);
  CHECK(next.changed->find(1)->epoch == 1);  // nothing to do with it
  CHECK(next.changed->find(2)->chain == chain{2});
  CHECK(next.changed->find(2)->joining == 1u);
}

TEST_CASE("a server that has come back empty is no holder, and leads again when it is filled") {
  const auto v = view_of_servers(3, 1, 1);
  auto f = facts_of({0, 1, 2});
  f.servers[0].who.incarnation = 2;
  const auto next = plan_view(v, 2, f);
  REQUIRE(next.changed.has_value());
  CHECK(next.changed->find(0)->chain == chain{1});
  CHECK(next.changed->find(0)->joining == 0u);
  const auto end = settled(*next.changed, f);
  CHECK(end.find(0)->chain == chain{0, 1});
  CHECK(end.find(2)->chain == chain{2, 0});
}

TEST_CASE("holders change places only when they are equal") {
  auto v = view_of_servers(2, 1, 1);
  auto f = facts_of({0, 1});
  f.targets[0] = 1;
  auto next = plan_view(v, 2, f);
  REQUIRE(next.changed.has_value());
  CHECK(next.changed->find(0)->chain == chain{0, 1});
  CHECK(next.changed->find(0)->quiet);
  CHECK_FALSE(plan_view(*next.changed, 3, f).changed.has_value());
  f.still.insert({0, 2});
  next = plan_view(*next.changed, 3, f);
  CHECK(next.changed->find(0)->chain == chain{1, 0});
  CHECK_FALSE(next.changed->find(0)->quiet);
}

TEST_CASE("a copy that does not keep up counts as lost and is replaced") {
  const auto v = view_of_servers(3, 1, 1);
  auto f = facts_of({0, 1, 2});
  f.failed.insert({{0, 1}, 1});
  const auto next = plan_view(v, 2, f);
  CHECK(next.changed->find(0)->chain == chain{0});
  CHECK(next.changed->find(0)->joining.has_value());
}

TEST_CASE("a server that drains has nothing in the end, and no chain is ever shorter for it") {
  const auto v = view_of_servers(4, 1, 1);
  const auto f = facts_of({0, 1, 2, 3}, 1, {1});
  const auto first = plan_view(v, 2, f);
  for (const auto& e : first.changed->shards()) CHECK(e.chain.size() == 2);
  const auto end = settled(v, f);
  for (const auto& e : end.shards()) {
    CHECK_FALSE(e.involves(1));
    CHECK(e.chain.size() == 2);
  }
}

TEST_CASE("without copies, who takes a drained server's shard over is its copy first") {
  auto v = view_of_servers(2, 1, 0);
  auto f = facts_of({0, 1}, 0, {0});
  v = *plan_view(v, 2, f).changed;
  CHECK(v.find(0)->chain == chain{0});
  CHECK(v.find(0)->joining == 1u);
  f.filled.insert({0, 2});
  v = *plan_view(v, 3, f).changed;
  CHECK(v.find(0)->chain == chain{0, 1});
  CHECK(v.find(0)->quiet);
  CHECK(settled(v, f).find(0)->chain == chain{1});
}

TEST_CASE("shards that nobody has are named, and begin anew where there is room") {
  const auto v = view_of_servers(3, 1, 1);
  const auto next = plan_view(v, 2, facts_of({2}));
  CHECK(next.lost == std::vector<std::uint32_t>{0});
  CHECK(next.changed->find(0)->chain == chain{2});
  CHECK(next.changed->find(0)->restoring);
  CHECK(next.changed->find(1)->chain == chain{2});
  CHECK_FALSE(next.changed->find(1)->restoring);
}

TEST_CASE("who joins gets its arcs of the ring, and no others move") {
  const auto v = view_of_servers(3, 1, 1);
  std::vector<std::uint32_t> made;
  const auto split = split_for(v, 2, 3, 8, 3, made);
  CHECK(made.size() == 3);
  const std::vector<std::uint32_t> servers{0, 1, 2, 3};
  for (const auto& a : make_ring(servers, 8))
    for (const auto p : {a.range.first, a.range.last}) {
      const auto& owner = *split.find(split.segment_of(p).shard);
      CHECK(owner.home == a.server);
      CHECK(v.find(v.segment_of(p).shard)->home ==
            (a.server == 3 ? split.find(owner.parent)->home : a.server));
    }
  auto f = facts_of({0, 1, 2, 3});
  for (const auto shard : made) f.targets[shard] = 3;
  const auto end = settled(split, f);
  for (const auto shard : made) {
    CHECK(end.find(shard)->primary() == 3);
    CHECK(end.find(shard)->chain.size() == 2);
  }
  CHECK(end.heirs(0, 1) == std::vector<std::uint32_t>{0, made[0]});
  CHECK(end.heirs(0, 2) == std::vector<std::uint32_t>{0});
  CHECK(end.heirs(99, 1).empty());
}

TEST_CASE("shards of a checkpoint are dealt to any number of servers, each part of one of them") {
  const auto v = view_of_servers(3, 1, 0);
  std::vector<std::vector<closed_range>> ranges;
  for (const auto& e : v.shards()) ranges.push_back(v.ranges_of(e.number));
  for (const std::uint32_t servers : {1u, 2u, 5u}) {
    std::vector<std::size_t> parts;
    const auto dealt = dealt_view(7, members_up_to(servers), 8, 1, 100, ranges, parts);
    REQUIRE(parts.size() == dealt.shards().size());
    for (const auto& s : dealt.segments()) {
      const auto part = parts[s.shard - 100];
      bool inside = false;
      for (const auto& r : ranges[part])
        inside |= r.contains(s.range.first) && r.contains(s.range.last);
      CHECK(inside);
    }
    CHECK(view::from_message(dealt.to_message()).ok());
  }
}

TEST_CASE("a hot server gives shards to others, or its only one is split") {
  const auto v = view_of_servers(3, 1, 1);
  const std::vector<known_server> all = facts_of({0, 1, 2}).servers;
  CHECK(plan_rebalancing(v, all, {{0, 100}, {1, 100}, {2, 110}}).targets.empty());
  const auto hot = plan_rebalancing(v, all, {{0, 1000}, {1, 100}, {2, 100}});
  CHECK(hot.split == 0u);
  const auto split = split_in_half(v, 2, 0, 3);
  const auto moves = plan_rebalancing(split, all, {{0, 500}, {1, 100}, {2, 100}, {3, 500}});
  REQUIRE(moves.targets.size() == 1);
  CHECK(moves.targets.begin()->second != 0);
}
