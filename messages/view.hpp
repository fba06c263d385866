#pragma once
// A view as its readers use it: which shard has which positions, which servers hold a shard, and
// how a sorted batch is cut for them.
//
// A shard is the unit of everything that happens to rows: it has one primary and a chain of copies,
// its own push numbers, and moves, splits and is lost as a whole. At first there is one for each
// server, made of the server's arcs of the ring. Servers come and go; the cuts stay once made, and
// only owners change, so a push that was cut for a shard is still cut right when the shard has
// moved.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.hpp"
#include "core/span.hpp"
#include "messages/keys.hpp"
#include "messages/view.pb.h"

namespace troupe {

struct segment {
  closed_range range;
  std::uint32_t shard = 0;
};

struct shard_entry {
  std::uint32_t number = 0;
  std::uint32_t parent = 0;
  std::uint64_t born = 0, epoch = 0;
  std::uint32_t home = 0;
  std::vector<std::uint32_t> chain;  // in sync; the first is the primary
  std::optional<std::uint32_t> joining;
  bool quiet = false;      // takes no pushes until all copies are equal
  bool restoring = false;  // begins empty, and serves when it has loaded its rows

  std::uint32_t primary() const { return chain.front(); }
  bool holds(std::uint32_t server) const;                          // as primary or copy in sync
  bool involves(std::uint32_t server) const;                       // or as the one that joins
  std::optional<std::uint32_t> after(std::uint32_t server) const;  // to whom it passes changes on
};

struct member {
  std::uint32_t server = 0;
  std::uint64_t incarnation = 0;
};

// Elements [from, to) of a batch.
struct slice {
  std::size_t from = 0, to = 0;
};

// What one shard gets of a batch: slices in ring order, each a maximal run.
struct shard_share {
  std::uint32_t shard = 0;
  std::vector<slice> slices;
  std::size_t size() const;
};

class view {
 public:
  view() = default;  // number 0: nobody serves
  // Segments cover the ring in order; shards and members ascend.
  view(std::uint64_t number, std::vector<member> members, std::vector<shard_entry> shards,
       std::vector<segment> segments);

  // Refuses segments that leave a gap, overlap, or name a shard that is not in the view, and shards
  // without a primary or with a server that is no member.
  static result<view> from_message(const pb::View& message);
  pb::View to_message() const;

  std::uint64_t number() const { return number_; }
  bool empty() const { return segments_.empty(); }
  const std::vector<member>& members() const { return members_; }
  const std::vector<shard_entry>& shards() const { return shards_; }
  const std::vector<segment>& segments() const { return segments_; }

  const shard_entry* find(std::uint32_t shard) const;  // null: not in this view
  const segment& segment_of(position p) const;
  std::vector<closed_range> ranges_of(std::uint32_t shard) const;
  bool has_member(std::uint32_t server, std::uint64_t incarnation) const;

  // The shares of an ascending batch, one for every shard of the view in ascending order, empty
  // ones included.
  std::vector<shard_share> cut(span<const position> positions) const;
  // Who has now what `shard` had in view `since`: itself and what was split off it after that.
  // Empty when the shard is no more.
  std::vector<std::uint32_t> heirs(std::uint32_t shard, std::uint64_t since) const;

 private:
  std::uint64_t number_ = 0;
  std::vector<member> members_;
  std::vector<shard_entry> shards_;
  std::vector<segment> segments_;
  std::vector<std::uint32_t> rank_;  // segment -> place of its shard in shards_
};

}  // namespace troupe
