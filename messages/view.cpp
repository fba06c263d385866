#include "messages/view.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/text.hpp"

namespace troupe {
namespace {

shard_entry entry_of(const pb::Shard& s) {
  shard_entry e;
  e.number = s.number();
  e.parent = s.parent();
  e.born = s.born();
  e.epoch = s.epoch();
  e.home = s.home();
  e.chain = {s.chain().begin(), s.chain().end()};
  e.quiet = s.quiet();
  e.restoring = s.restoring();
  if (s.has_joining()) e.joining = s.joining();
  return e;
}

auto lower(const std::vector<shard_entry>& shards, std::uint32_t number) {
  return std::lower_bound(shards.begin(), shards.end(), number,
                          [](const shard_entry& e, std::uint32_t n) { return e.number < n; });
}

}  // namespace

bool shard_entry::holds(std::uint32_t server) const {
  return std::find(chain.begin(), chain.end(), server) != chain.end();
}

bool shard_entry::involves(std::uint32_t server) const {
  return holds(server) || joining == server;
}

std::optional<std::uint32_t> shard_entry::after(std::uint32_t server) const {
  const auto at = std::find(chain.begin(), chain.end(), server);
  if (at == chain.end()) return std::nullopt;
  if (at + 1 != chain.end()) return *(at + 1);
  return joining;
}

std::size_t shard_share::size() const {
  std::size_t sum = 0;
  for (const auto& s : slices) sum += s.to - s.from;
  return sum;
}

view::view(std::uint64_t number, std::vector<member> members, std::vector<shard_entry> shards,
           std::vector<segment> segments)
    : number_(number),
      members_(std::move(members)),
      shards_(std::move(shards)),
      segments_(std::move(segments)) {
  rank_.reserve(segments_.size());
  for (const auto& s : segments_) {
    const auto at = lower(shards_, s.shard);
    assert(at != shards_.end() && at->number == s.shard);
    rank_.push_back(static_cast<std::uint32_t>(at - shards_.begin()));
  }
}

result<view> view::from_message(const pb::View& message) {
  const auto fault = [&message](const std::string& what) {
    return error{errc::bad_request,
                 format("view %llu: ", static_cast<unsigned long long>(message.number())) + what};
  };
  std::vector<member> members;
  for (const auto& s : message.servers()) members.push_back({s.index(), s.incarnation()});
  std::sort(members.begin(), members.end(),
            [](const member& a, const member& b) { return a.server < b.server; });
  const auto known = [&members](std::uint32_t server) {
    return std::any_of(members.begin(), members.end(),
                       [server](const member& m) { return m.server == server; });
  };
  std::vector<shard_entry> shards;
  for (const auto& s : message.shards()) {
    if (!shards.empty() && s.number() <= shards.back().number)
      return fault(format("its shards do not ascend at shard %u", s.number()));
    if (s.chain().empty()) return fault(format("shard %u has no primary", s.number()));
    auto entry = entry_of(s);
    for (const auto server : entry.chain)
      if (!known(server))
        return fault(
            format("shard %u is on server %u, which is not in the view", s.number(), server));
    if (entry.joining && (!known(*entry.joining) || entry.holds(*entry.joining)))
      return fault(format("server %u cannot join shard %u", *entry.joining, s.number()));
    shards.push_back(std::move(entry));
  }
  const auto count = message.last_size();
  if (message.shard_size() != count) return fault("its columns differ in length");
  if (count == 0 && message.number() != 0) return fault("it has no segments");
  std::vector<segment> segments;
  segments.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const position first = i == 0 ? 0 : message.last(i - 1) + 1;
    if (i > 0 && (first == 0 || message.last(i) < first))
      return fault(format("segments do not ascend at position %llu",
                          static_cast<unsigned long long>(message.last(i))));
    const auto at = lower(shards, message.shard(i));
    if (at == shards.end() || at->number != message.shard(i))
      return fault(format("segment of shard %u, which is not in the view", message.shard(i)));
    segments.push_back({{first, message.last(i)}, message.shard(i)});
  }
  if (count > 0 && message.last(count - 1) != std::numeric_limits<position>::max())
    return fault("segments end before the ring does");
  return view(message.number(), std::move(members), std::move(shards), std::move(segments));
}

pb::View view::to_message() const {
  pb::View message;
  message.set_number(number_);
  for (const auto& m : members_) {
    auto* s = message.add_servers();
    s->set_index(m.server);
    s->set_incarnation(m.incarnation);
  }
  for (const auto& e : shards_) {
    auto* s = message.add_shards();
    s->set_number(e.number);
    s->set_parent(e.parent);
    s->set_born(e.born);
    s->set_epoch(e.epoch);
    s->set_home(e.home);
    for (const auto server : e.chain) s->add_chain(server);
    s->set_quiet(e.quiet);
    s->set_restoring(e.restoring);
    s->set_has_joining(e.joining.has_value());
    s->set_joining(e.joining.value_or(0));
  }
  const auto count = static_cast<int>(segments_.size());
  message.mutable_last()->Reserve(count);
  message.mutable_shard()->Reserve(count);
  for (const auto& s : segments_) {
    message.add_last(s.range.last);
    message.add_shard(s.shard);
  }
  return message;
}

const shard_entry* view::find(std::uint32_t shard) const {
  const auto at = lower(shards_, shard);
  return at == shards_.end() || at->number != shard ? nullptr : &*at;
}

const segment& view::segment_of(position p) const {
  assert(!empty());
  const auto at = std::lower_bound(segments_.begin(), segments_.end(), p,
                                   [](const segment& s, position x) { return s.range.last < x; });
  return *at;
}

std::vector<closed_range> view::ranges_of(std::uint32_t shard) const {
  std::vector<closed_range> ranges;
  for (const auto& s : segments_)
    if (s.shard == shard) ranges.push_back(s.range);
  return ranges;
}

bool view::has_member(std::uint32_t server, std::uint64_t incarnation) const {
  return std::any_of(members_.begin(), members_.end(), [&](const member& m) {
    return m.server == server && m.incarnation == incarnation;
  });
}

std::vector<shard_share> view::cut(span<const position> positions) const {
  std::vector<shard_share> shares(shards_.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) shares[i].shard = shards_[i].number;
  std::size_t from = 0;
  auto seg = segments_.begin();
  while (from < positions.size()) {
    seg = std::lower_bound(seg, segments_.end(), positions[from],
                           [](const segment& s, position x) { return s.range.last < x; });
    const auto* end = std::upper_bound(positions.begin() + from, positions.end(), seg->range.last);
    const auto to = static_cast<std::size_t>(end - positions.begin());
    auto& slices = shares[rank_[static_cast<std::size_t>(seg - segments_.begin())]].slices;
    if (!slices.empty() && slices.back().to == from)
      slices.back().to = to;
    else
      slices.push_back({from, to});
    from = to;
  }
  return shares;
}

std::vector<std::uint32_t> view::heirs(std::uint32_t shard, std::uint64_t since) const {
  std::vector<std::uint32_t> found;
  for (const auto& e : shards_) {
    const auto* of = &e;
    while (of != nullptr && of->number != shard && of->born > since && of->parent != of->number)
      of = find(of->parent);
    if (of != nullptr && of->number == shard) found.push_back(e.number);
  }
  return found;
}

}  // namespace troupe
