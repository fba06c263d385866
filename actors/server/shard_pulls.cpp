// The shard's answers to pulls: when they may be given, and what is in them.

#include "actors/server/shard.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
std::uint64_t shard::needed_clock(std::uint64_t clock) const {
  if (!settings_.staleness) return 0;
  const auto bound = *settings_.staleness + (planted("staleness-off-by-one") ? 1 : 0);
  return clock - std::min(clock, bound);
}

void shard::on_pull(asker from, const pb::PullHeader& header, const blob& keys, instant now,
                    answers& out) {
  auto wrong = wrong_view<pb::PullReply>(header);
  const bool all_the_same = wrong && planted("view-not-checked-on-pull");
  if (wrong && !all_the_same) {
    out.pulls.push_back({from, std::move(*wrong), {}, {}});
  } else if (!all_the_same && !serves(now)) {
    park({from, {}, header, {}, keys, {}, now + hold_of(header)});
  } else if (auto no = refusal(header, keys)) {
    out.pulls.push_back({from, std::move(*no), {}, {}});
  } else if (may_read(header)) {
    out.pulls.push_back(read(from, header, keys));
  } else {
    held_.emplace(needed_clock(header.clock()),
                  held_pull{from, header, keys, now + hold_of(header)});
  }
  if (!place_.primary || !serves(now) || !raise_unknown(header)) return;
  apply_open_clocks(now, out);
  send_changes(now, out);
  release(now, out);
}

// A restored shard learns from pulls, too, how far a slot is at least.
bool shard::raise_unknown(const pb::PullHeader& header) {
  if (header.observer() || header.slot() >= ledger_.slots() ||
      !ledger_.record(header.slot()).unknown)
    return false;
  ledger_.raise_unknown(header.slot(), header.completed());
  return true;
}

// Bulk-synchronous, the present version is read when no copy can lose it any more.
bool shard::may_read(const pb::PullHeader& header) const {
  if (header.observer()) return true;
  if (ledger_.slowest() < needed_clock(header.clock())) return false;
  return !bulk_synchronous() || header.clock() < version_ || version_sequence_ <= committed();
}

std::optional<pb::PullReply> shard::refusal(const pb::PullHeader& header, const blob& keys) const {
  using reply = pb::PullReply;
  if (loading_) return with_outcome<reply>(pb::NOT_SERVING);
  if (header.table() >= tables_.size())
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table %u of %zu", header.table(), tables_.size()));
  const auto& name = tables_[header.table()]->spec().name;
  if (!keys.divides<position>() || !strictly_ascending(keys.as<position>()))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': the keys of a pull must ascend", name.c_str()));
  if (!owns_all(keys.as<position>()))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': a key belongs to another shard", name.c_str()));
  const auto row_bytes = tables_[header.table()]->spec().row_bytes() + sizeof(position);
  if (header.range() && (header.limit() == 0 || header.limit() > blob::max_size / row_bytes))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': a range pull of at most %llu rows", name.c_str(),
                                      static_cast<unsigned long long>(header.limit())));
  if (bulk_synchronous() && !header.observer() && header.clock() + 1 < version_)
    return with_outcome<reply>(pb::STALE_EPOCH,
                               format("version %llu is no longer kept, %llu is the present one",
                                      static_cast<unsigned long long>(header.clock()),
                                      static_cast<unsigned long long>(version_)));
  return std::nullopt;
}

pull_answer shard::read(asker from, const pb::PullHeader& header, const blob& keys) {
  pull_answer out{from, with_outcome<pb::PullReply>(pb::DONE), {}, {}};
  // Bulk-synchronous, a slot that was taken over may ask for the version before the present one.
  const bool previous = bulk_synchronous() && !header.observer() && header.clock() < version_;
  const bool kept = previous && !planted("previous-version-lost");
  const auto* before = kept ? &before_[header.table()] : nullptr;
  if (const auto done =
          header.range() ? read_range(header, before, out) : read_keys(header, keys, before, out);
      !done)
    return {from, with_outcome<pb::PullReply>(pb::BAD_REQUEST, done.failure().text), {}, {}};
  keys_moved_ +=
      header.range() ? out.keys.size() / sizeof(position) : keys.size() / sizeof(position);
  if (!header.observer() && ledger_.slowest() < header.clock())
    out.reply.set_staleness(header.clock() - ledger_.slowest());
  return out;
}

result<void> shard::read_keys(const pb::PullHeader& header, const blob& keys,
                              const overwritten* before, pull_answer& out) const {
  const auto positions = keys.as<position>();
  const auto& t = *tables_[header.table()];
  const auto shown = header.observer() ? 0 : t.shown_bytes();
  auto [values, writable] = blob::uninitialised(positions.size() * (t.spec().row_bytes() + shown));
  const auto done =
      shown > 0 ? t.pull_shown(positions, writable, before) : t.pull(positions, writable, before);
  if (!done) return done;
  meter_.add(work::keys_pulled, positions.size());
  out.values = std::move(values);
  return {};
}

result<void> shard::read_range(const pb::PullHeader& header, const overwritten* before,
                               pull_answer& out) const {
  const auto& t = *tables_[header.table()];
  auto rows = t.read_range({header.first(), header.last()}, header.limit());
  meter_.add(work::keys_pulled, rows.positions.size());
  if (before != nullptr) before->take_back(t.spec().row_bytes(), 0, rows);
  out.keys = blob::copy_of(span<const position>(rows.positions));
  out.values = blob::copy_of(span<const std::byte>(rows.values));
  if (rows.next) {
    out.reply.set_more(true);
    out.reply.set_next(*rows.next);
  }
  return {};
}

void shard::release_pulls(answers& out) {
  for (auto i = held_.begin(); i != held_.end() && i->first <= ledger_.slowest();) {
    const auto& pull = i->second;
    if (auto no = refusal(pull.header, pull.keys))
      out.pulls.push_back({pull.from, std::move(*no), {}, {}});
    else if (may_read(pull.header))
      out.pulls.push_back(read(pull.from, pull.header, pull.keys));
    else {
      ++i;
      continue;
    }
    i = held_.erase(i);
  }
}

}  // namespace troupe
