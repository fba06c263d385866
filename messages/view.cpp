#include "messages/view.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

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
  const auto fault = [&message](const std::string& what) {
    return error{errc::bad_request,
                 format("view %llu: ", static_cast<unsigned long long>(message.number())) + what};
  };
  std::vector<std::uint32_t> servers;
  for (const auto& s : message.servers()) servers.push_back(s.index());
  std::sort(servers.begin(), servers.end());
  const auto count = message.last_size();
  if (message.primary_size() != count || message.copies_size() != count ||
      message.epoch_size() != count)
    return fault("its columns differ in length");
  if (count == 0 && message.number() != 0) return fault("it has no segments");
  std::vector<segment> segments;
  segments.reserve(static_cast<std::size_t>(count));
  auto replica = message.replicas().begin();
  for (int i = 0; i < count; ++i) {
    const position first = i == 0 ? 0 : message.last(i - 1) + 1;
    if (i > 0 && (first == 0 || message.last(i) < first))
      return fault(format("segments do not ascend at position %llu",
                          static_cast<unsigned long long>(message.last(i))));
    if (!std::binary_search(servers.begin(), servers.end(), message.primary(i)))
      return fault(format("segment of server %u, which is not in the view", message.primary(i)));
    if (message.copies(i) > static_cast<std::uint64_t>(message.replicas().end() - replica))
      return fault("it names too few replicas");
    const auto end = replica + static_cast<int>(message.copies(i));
    segments.push_back(
        {{first, message.last(i)}, message.primary(i), {replica, end}, message.epoch(i)});
    replica = end;
  }
  if (replica != message.replicas().end()) return fault("it names too many replicas");
  if (count > 0 && message.last(count - 1) != std::numeric_limits<position>::max())
    return fault("segments end before the ring does");
  return view(message.number(), std::move(servers), std::move(segments));
}

pb::View view::to_message() const {
  pb::View message;
  message.set_number(number_);
  for (const auto server : servers_) message.add_servers()->set_index(server);
  const auto count = static_cast<int>(segments_.size());
  message.mutable_last()->Reserve(count);
  message.mutable_primary()->Reserve(count);
  message.mutable_copies()->Reserve(count);
  message.mutable_epoch()->Reserve(count);
  for (const auto& s : segments_) {
    message.add_last(s.range.last);
    message.add_primary(s.primary);
    message.add_copies(static_cast<std::uint32_t>(s.replicas.size()));
    for (const auto replica : s.replicas) message.add_replicas(replica);
    message.add_epoch(s.epoch);
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
