#include "messages/view.hpp"

#include <algorithm>
#include <cassert>

#include "core/text.hpp"

namespace troupe {

std::size_t server_share::size() const {
  std::size_t sum = 0;
  for (const auto& s : slices) sum += s.to - s.from;
  return sum;
}

view::view(std::uint64_t number, std::vector<std::uint32_t> servers, std::vector<segment> segments)
    : number_(number), servers_(std::move(servers)), segments_(std::move(segments)) {
  std::sort(servers_.begin(), servers_.end());
  owner_rank_.reserve(segments_.size());
  for (const auto& s : segments_) {
    const auto at = std::lower_bound(servers_.begin(), servers_.end(), s.primary);
    assert(at != servers_.end() && *at == s.primary);
    owner_rank_.push_back(static_cast<std::uint32_t>(at - servers_.begin()));
  }
}

result<view> view::from_message(const pb::View& message) {
  std::vector<std::uint32_t> servers;
  for (const auto& s : message.servers()) servers.push_back(s.index());
  std::sort(servers.begin(), servers.end());
  std::vector<segment> segments;
  segments.reserve(static_cast<std::size_t>(message.segments_size()));
  position expected = 0;
  for (const auto& s : message.segments()) {
    const bool first = segments.empty();
    if ((first ? s.first() != 0 : s.first() != expected || expected == 0) || s.last() < s.first())
      return error{errc::bad_request,
                   format("view %llu: segments leave a gap or overlap at position %llu",
                          static_cast<unsigned long long>(message.number()),
                          static_cast<unsigned long long>(s.first()))};
    if (!std::binary_search(servers.begin(), servers.end(), s.primary()))
      return error{errc::bad_request,
                   format("view %llu: segment of server %u, which is not in the view",
                          static_cast<unsigned long long>(message.number()), s.primary())};
    segments.push_back({{s.first(), s.last()},
                        s.primary(),
                        {s.replicas().begin(), s.replicas().end()},
                        s.epoch()});
    expected = s.last() + 1;
  }
  if (segments.empty() && message.number() != 0)
    return error{errc::bad_request, format("view %llu: it has no segments",
                                           static_cast<unsigned long long>(message.number()))};
  if (!segments.empty() && expected != 0)
    return error{errc::bad_request, format("view %llu: segments end before the ring does",
                                           static_cast<unsigned long long>(message.number()))};
  return view(message.number(), std::move(servers), std::move(segments));
}

pb::View view::to_message() const {
  pb::View message;
  message.set_number(number_);
  for (const auto server : servers_) message.add_servers()->set_index(server);
  for (const auto& s : segments_) {
    auto* out = message.add_segments();
    out->set_first(s.range.first);
    out->set_last(s.range.last);
    out->set_primary(s.primary);
    for (const auto replica : s.replicas) out->add_replicas(replica);
    out->set_epoch(s.epoch);
  }
  return message;
}

const segment& view::segment_of(position p) const {
  assert(!empty());
  const auto at = std::lower_bound(segments_.begin(), segments_.end(), p,
                                   [](const segment& s, position x) { return s.range.last < x; });
  return *at;
}

std::vector<closed_range> view::ranges_of(std::uint32_t server) const {
  std::vector<closed_range> ranges;
  for (const auto& s : segments_)
    if (s.primary == server) ranges.push_back(s.range);
  return ranges;
}

std::vector<server_share> view::cut(span<const position> positions) const {
  std::vector<server_share> shares(servers_.size());
  for (std::size_t i = 0; i < servers_.size(); ++i) shares[i].server = servers_[i];
  std::size_t from = 0;
  auto seg = segments_.begin();
  while (from < positions.size()) {
    seg = std::lower_bound(seg, segments_.end(), positions[from],
                           [](const segment& s, position x) { return s.range.last < x; });
    const auto* end = std::upper_bound(positions.begin() + from, positions.end(), seg->range.last);
    const auto to = static_cast<std::size_t>(end - positions.begin());
    auto& slices = shares[owner_rank_[static_cast<std::size_t>(seg - segments_.begin())]].slices;
    if (!slices.empty() && slices.back().to == from)
      slices.back().to = to;
    else
      slices.push_back({from, to});
    from = to;
  }
  return shares;
}

}  // namespace troupe
