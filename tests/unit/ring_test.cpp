#include "messages/ring.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "actors/scheduler/view_planning.hpp"
#include "core/random.hpp"
#include "messages/view.hpp"

using namespace troupe;

namespace {

std::vector<std::uint32_t> servers_up_to(std::uint32_t count) {
  std::vector<std::uint32_t> servers;
  for (std::uint32_t i = 0; i < count; ++i) servers.push_back(i);
  return servers;
}

view view_of(std::uint32_t servers, std::uint32_t virtual_nodes = 8, std::uint32_t copies = 0) {
  std::vector<member> members;
  for (const auto server : servers_up_to(servers)) members.push_back({server, 1});
  return first_view(1, members, virtual_nodes, copies);
}

std::uint32_t owner_by_search(const std::vector<arc>& ring, position p) {
  for (const auto& a : ring)
    if (a.range.contains(p)) return a.server;
  return ~0u;
}

}  // namespace

TEST_CASE("the ring's segments cover every position exactly once") {
  CHECK(rc::check("for any number of servers and virtual nodes", [] {
    const auto servers = *rc::gen::inRange(1u, 20u);
    const auto nodes = *rc::gen::inRange(1u, 40u);
    const auto ring = make_ring(servers_up_to(servers), nodes);
    RC_ASSERT(ring.front().range.first == 0u);
    RC_ASSERT(ring.back().range.last == ~position{0});
    for (std::size_t i = 1; i < ring.size(); ++i)
      RC_ASSERT(ring[i].range.first == ring[i - 1].range.last + 1);
  }));
}

TEST_CASE("copies lie on distinct servers, none of them the primary") {
  for (std::uint32_t servers = 1; servers <= 6; ++servers)
    for (std::uint32_t copies = 0; copies <= 3; ++copies) {
      const auto v = view_of(servers, 16, copies);
      for (const auto& e : v.shards()) {
        const std::set<std::uint32_t> chain(e.chain.begin(), e.chain.end());
        CHECK(chain.size() == e.chain.size());
        CHECK(chain.size() == 1 + std::min(copies, servers - 1));
        CHECK(e.primary() == e.home);
      }
    }
}

TEST_CASE("a server that joins takes positions, and moves none between the others") {
  const auto before = make_ring(servers_up_to(5), 32);
  const auto after = make_ring(servers_up_to(6), 32);
  random_source random(7);
  int moved = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto p = random.bits();
    const auto was = owner_by_search(before, p);
    const auto is = owner_by_search(after, p);
    if (was == is) continue;
    CHECK(is == 5);
    ++moved;
  }
  CHECK(moved > 20000 / 6 / 2);
  CHECK(moved < 20000 / 6 * 2);
}

TEST_CASE("a batch is cut so that every key goes to its owner, in order") {
  CHECK(rc::check("over all of the key space", [] {
    const auto v = view_of(*rc::gen::inRange(1u, 6u));
    std::set<position> distinct;
    for (const auto seed :
         *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>()))
      distinct.insert(mix(seed));
    distinct.insert({0, ~position{0}});
    const std::vector<position> batch(distinct.begin(), distinct.end());
    const auto shares = v.cut(batch);
    RC_ASSERT(shares.size() == v.shards().size());
    std::vector<int> seen(batch.size());
    for (const auto& share : shares)
      for (std::size_t s = 0; s < share.slices.size(); ++s) {
        RC_ASSERT(share.slices[s].from < share.slices[s].to);
        if (s > 0) RC_ASSERT(share.slices[s - 1].to < share.slices[s].from);  // maximal runs
        for (auto i = share.slices[s].from; i < share.slices[s].to; ++i) {
          ++seen[i];
          RC_ASSERT(v.segment_of(batch[i]).shard == share.shard);
        }
      }
    RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  }));
}

TEST_CASE("a view survives its message") {
  const auto v = view_of(4, 8, 2);
  const auto back = view::from_message(v.to_message());
  REQUIRE(back.ok());
  CHECK(back->number() == 1);
  CHECK(back->members().size() == v.members().size());
  REQUIRE(back->segments().size() == v.segments().size());
  for (std::size_t i = 0; i < v.segments().size(); ++i) {
    CHECK(back->segments()[i].range == v.segments()[i].range);
    CHECK(back->segments()[i].shard == v.segments()[i].shard);
  }
  REQUIRE(back->shards().size() == v.shards().size());
  for (std::size_t i = 0; i < v.shards().size(); ++i) {
    CHECK(back->shards()[i].chain == v.shards()[i].chain);
    CHECK(back->shards()[i].epoch == v.shards()[i].epoch);
  }
}

TEST_CASE("a view that does not ascend, ends early, or names strangers is refused") {
  auto good = view_of(2).to_message();
  const auto refused = [](const pb::View& message) { return !view::from_message(message).ok(); };
  CHECK_FALSE(refused(good));
  auto twice = good;
  twice.set_last(1, twice.last(0));
  CHECK(refused(twice));
  auto descending = good;
  descending.set_last(1, descending.last(0) - 1);
  CHECK(refused(descending));
  auto beyond = good;
  beyond.set_last(1, UINT64_MAX);  // the ring ends before its segments do
  CHECK(refused(beyond));
  auto early = good;
  early.set_last(early.last_size() - 1, UINT64_MAX - 1);
  CHECK(refused(early));
  auto shorter = good;
  shorter.mutable_shard()->RemoveLast();
  CHECK(refused(shorter));
  auto stranger = good;
  stranger.set_shard(0, 7);
  CHECK(refused(stranger));
  auto strange_server = good;
  strange_server.mutable_shards(0)->set_chain(0, 7);
  CHECK(refused(strange_server));
  auto headless = good;
  headless.mutable_shards(0)->clear_chain();
  CHECK(refused(headless));
  auto joins_itself = good;
  joins_itself.mutable_shards(0)->set_has_joining(true);
  joins_itself.mutable_shards(0)->set_joining(joins_itself.shards(0).chain(0));
  CHECK(refused(joins_itself));
  auto twice_numbered = good;
  twice_numbered.mutable_shards(1)->set_number(0);
  CHECK(refused(twice_numbered));
}
