#pragma once
// A view as its readers use it: who serves which positions, and how a sorted batch is cut for them.

#include <cstdint>
#include <vector>

#include "core/result.hpp"
#include "core/span.hpp"
#include "messages/keys.hpp"
#include "messages/ring.hpp"
#include "messages/view.pb.h"

namespace troupe {

// Elements [from, to) of a batch.
struct slice {
  std::size_t from = 0, to = 0;
};

// What one server gets of a batch: slices in ring order, each a maximal run.
struct server_share {
  std::uint32_t server = 0;
  std::vector<slice> slices;
  std::size_t size() const;
};

class view {
 public:
  view() = default;  // number 0: nobody serves
  view(std::uint64_t number, std::vector<std::uint32_t> servers, std::vector<segment> segments);

  // Refuses segments that leave a gap, overlap, or name a server that is not in the view.
  static result<view> from_message(const pb::View& message);
  pb::View to_message() const;

  std::uint64_t number() const { return number_; }
  bool empty() const { return segments_.empty(); }
  const std::vector<std::uint32_t>& servers() const { return servers_; }  // ascending
  const std::vector<segment>& segments() const { return segments_; }

  const segment& segment_of(position p) const;
  std::vector<closed_range> ranges_of(std::uint32_t server) const;

  // The shares of an ascending batch, one for every server of the view in ascending order, empty
  // ones included.
  std::vector<server_share> cut(span<const position> positions) const;

 private:
  std::uint64_t number_ = 0;
  std::vector<std::uint32_t> servers_;
  std::vector<segment> segments_;
  std::vector<std::uint32_t> owner_rank_;  // segment -> place of its primary in servers_
};

}  // namespace troupe
