#pragma once
// The next view, as a pure function of the present one and of who is there. A view changes by small
// steps, each of which keeps what is acknowledged:
//
// - who is dead leaves its chains, and the copy behind it takes its place;
// - a chain that is too short gets one joining copy at its end, which counts when it is filled;
// - servers that drain leave a chain that is long enough without them;
// - the holders of a chain change places only when they are equal: the shard is told to be quiet
//   first, and says when it is still;
// - a shard is split where it stands, at all its holders at once, and then one of the two moves.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/ring.hpp"
#include "messages/view.hpp"

namespace troupe {

struct known_server {
  member who;
  bool draining = false;
  bool shown = true;  // it has installed the present view: it lived when that was published
};

// A shard of each server, made of its arcs, numbered from `first_shard`; copies as far as there are
// servers for them. Servers ascend.
view first_view(std::uint64_t number, const std::vector<member>& servers,
                std::uint32_t virtual_nodes, std::uint32_t copies, std::uint32_t first_shard = 0);

struct cluster_facts {
  std::vector<known_server> servers;                         // alive, ascending
  std::uint32_t copies = 1;                                  // wanted of each shard
  std::map<std::uint32_t, std::uint32_t> targets;            // shard -> its primary to be
  std::set<std::pair<std::uint32_t, std::uint64_t>> filled;  // (shard, epoch): its joining copy is
  std::set<std::pair<std::uint32_t, std::uint64_t>> still;   // (shard, epoch): its copies are equal
  // (shard, epoch, server): a copy that does not keep up, and counts as lost
  std::set<std::pair<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>> failed;
};

struct next_view {
  std::optional<view> changed;
  // Shards that nobody has any more: in the view somebody has them anew, and they are to be
  // restored.
  std::vector<std::uint32_t> lost;
};
// There must be a server.
next_view plan_view(const view& present, std::uint64_t number, const cluster_facts& facts);

// The same view, in which the server's arcs of the ring are shards of their own, to be moved to it:
// their numbers are added to `made`, from `next_shard` on.
view split_for(const view& present, std::uint64_t number, std::uint32_t server,
               std::uint32_t virtual_nodes, std::uint32_t next_shard,
               std::vector<std::uint32_t>& made);
// The same view, in which about half of a shard's positions, the upper of each of its segments, are
// a shard of their own.
view split_in_half(const view& present, std::uint64_t number, std::uint32_t shard,
                   std::uint32_t made);

// Shards as a checkpoint has them, dealt out to servers: the parts of their segments that lie in a
// server's arcs become one shard of that server. `parts`: for each shard of the view, in order, the
// place in `ranges` that it is a part of.
view dealt_view(std::uint64_t number, const std::vector<member>& servers,
                std::uint32_t virtual_nodes, std::uint32_t copies, std::uint32_t first_shard,
                const std::vector<std::vector<closed_range>>& ranges,
                std::vector<std::size_t>& parts);

// Moves that even out the load: (shard, server) for shards to be led by another server; and the
// shard to split first, where one shard is most of a server's load. `load` of each shard.
struct rebalancing {
  std::map<std::uint32_t, std::uint32_t> targets;
  std::optional<std::uint32_t> split;
};
rebalancing plan_rebalancing(const view& present, const std::vector<known_server>& servers,
                             const std::map<std::uint32_t, std::uint64_t>& load);

}  // namespace troupe
