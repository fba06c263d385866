#include "actors/server/copy_link.hpp"

#include <algorithm>
#include <utility>

#include "core/planted_bug.hpp"

namespace troupe {
namespace {

bool within(const std::vector<closed_range>& ranges, position p) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [p](const closed_range& r) { return r.contains(p); });
}

}  // namespace

copy_link::copy_link(std::uint32_t to, bool joins, std::size_t tables, copy_settings settings)
    : to_(to), settings_(settings), rows_(tables) {
  if (joins) place_.emplace();
}

void copy_link::now_in_sync() {
  place_.reset();
  completing_ = filled_ = false;
}

void copy_link::note_rows(std::size_t table, const blob& keys, std::size_t row_bytes) {
  const auto ascending = keys.as<position>();
  auto count = ascending.size();
  if (place_ && !place_->over) {
    // What has not been walked over will be met on the way.
    const bool whole = !planted("hand-over-misses-changes");
    const auto& walked = flying_next_ && whole ? *flying_next_ : *place_;
    if (!walked.begun || table > walked.table)
      count = 0;
    else if (table == walked.table && !walked.over)
      count = static_cast<std::size_t>(
          std::lower_bound(ascending.begin(), ascending.end(), walked.from) - ascending.begin());
  }
  if (count == 0) return;
  auto& runs = rows_[table];
  runs.push_back({keys, count});
  bytes_ += count * (sizeof(position) + row_bytes);
  // Where the way is taken for long, what is kept is bounded by the rows and not by time.
  constexpr std::size_t most_runs = 256;
  if (runs.size() < most_runs) return;
  const auto before = size_of(runs);
  auto all = merged(std::exchange(runs, {}));
  const auto after = all.size() / sizeof(position);
  runs.push_back({std::move(all), after});
  bytes_ -= std::min(bytes_, (before - after) * (sizeof(position) + row_bytes));
}

std::size_t copy_link::size_of(const std::vector<run>& runs) {
  std::size_t count = 0;
  for (const auto& r : runs) count += r.count;
  return count;
}

void copy_link::fill_again() {
  place_.emplace();
  completing_ = filled_ = false;
  flying_.reset();
  flying_next_.reset();
  for (auto& runs : rows_) runs.clear();
  bytes_ = flying_bytes_ = 0;
}

// One run of all, without repetitions. Neighbours are merged until one is left; a single run that
// is whole is not even copied.
blob copy_link::merged(std::vector<run> runs) {
  if (runs.empty()) return {};
  if (runs.size() == 1 && runs[0].count * sizeof(position) == runs[0].keys.size())
    return std::move(runs[0].keys);
  std::vector<position> all, other;
  std::vector<std::size_t> ends;
  for (const auto& r : runs) {
    const auto keys = r.keys.as<position>();
    all.insert(all.end(), keys.begin(), keys.begin() + r.count);
    ends.push_back(all.size());
  }
  other.resize(all.size());
  while (ends.size() > 1) {
    std::vector<std::size_t> merged_ends;
    std::size_t from = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const auto middle = ends[i], end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      std::merge(all.begin() + from, all.begin() + middle, all.begin() + middle, all.begin() + end,
                 other.begin() + from);
      merged_ends.push_back(end);
      from = end;
    }
    all.swap(other);
    ends = std::move(merged_ends);
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return blob::copy_of(span<const position>(all));
}

void copy_link::note_change(instant now) {
  if (!std::exchange(changed_, true)) changed_at_ = now;
}

std::optional<instant> copy_link::due() const {
  if (flying_) return answer_by_;
  std::optional<instant> when;
  // The first message to a copy that joins says that it begins.
  if (changed_ && (!place_ || place_->begun))
    when = bytes_ >= settings_.chunk ? changed_at_ : changed_at_ + settings_.gather;
  if (place_ && !filled_ && (!when || chunk_at_ < *when)) when = chunk_at_;
  if (when && retry_at_ && *when < *retry_at_) when = *retry_at_;
  return when;
}

std::optional<copy_link::walk> copy_link::chunk_due(instant now) const {
  if (!place_ || filled_ || now < chunk_at_) return std::nullopt;
  return place_;
}

const copy_link::cargo& copy_link::take(std::uint64_t sequence, instant now,
                                        const std::vector<position>& chunk,
                                        std::optional<walk> next, std::size_t row_bytes) {
  auto& c = flying_.emplace();
  c.number = ++number_;
  c.sequence = sequence;
  c.slots = std::exchange(slots_, {});
  if (place_ && next) {
    c.begins = !place_->begun;
    if (!chunk.empty())
      rows_[place_->table].push_back({blob::copy_of(span<const position>(chunk)), chunk.size()});
    bytes_ += chunk.size() * (sizeof(position) + row_bytes);
    c.complete = next->over;
    completing_ = completing_ || next->over;
    if (settings_.transfer_rate > 0)
      chunk_at_ =
          now + duration(static_cast<std::int64_t>(
                    1e9 * static_cast<double>(chunk.size() * (sizeof(position) + row_bytes)) /
                    static_cast<double>(settings_.transfer_rate)));
  }
  for (auto& runs : rows_) c.rows.push_back(merged(std::exchange(runs, {})));
  changed_ = false;
  retry_at_.reset();
  flying_next_ = next;
  flying_bytes_ = std::exchange(bytes_, 0);
  answer_by_ = now + settings_.answer_within;
  if (!since_) since_ = now;
  return c;
}

bool copy_link::on_acknowledged(std::uint64_t number, instant) {
  if (!flying_ || flying_->number != number) return false;
  acknowledged_ = flying_->sequence;
  if (flying_next_) place_ = flying_next_;
  filled_ = filled_ || (place_ && place_->over);
  flying_.reset();
  flying_next_.reset();
  flying_bytes_ = 0;
  since_.reset();
  trouble_.clear();
  return true;
}

void copy_link::on_failure(std::uint64_t number, std::string why, instant now) {
  if (!flying_ || flying_->number != number) return;
  take_back(now);
  trouble_ = std::move(why);
  retry_at_ = now + settings_.retry;
}

void copy_link::take_back(instant now) {
  if (!flying_) return;
  for (std::size_t t = 0; t < rows_.size(); ++t)
    if (const auto count = flying_->rows[t].size() / sizeof(position);
        count > 0 && !planted("replica-accepts-gap"))
      rows_[t].push_back({flying_->rows[t], count});
  bytes_ += flying_bytes_;
  slots_.insert(flying_->slots.begin(), flying_->slots.end());
  if (flying_next_) chunk_at_ = now;
  flying_.reset();
  flying_next_.reset();
  flying_bytes_ = 0;
  note_change(now);
}

void copy_link::on_time(instant now) {
  if (flying_ && answer_by_ <= now) on_failure(flying_->number, "no answer in time", now);
}

void copy_link::give_away(const std::vector<closed_range>& ranges, copy_link& other) {
  std::size_t total = 0, given = 0;
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    const auto all = merged(std::exchange(rows_[t], {}));
    std::vector<position> ours, theirs;
    for (const auto p : all.as<position>()) (within(ranges, p) ? theirs : ours).push_back(p);
    total += ours.size() + theirs.size();
    given += theirs.size();
    if (!ours.empty()) rows_[t].push_back({blob::copy_of(span<const position>(ours)), ours.size()});
    if (!theirs.empty())
      other.rows_[t].push_back({blob::copy_of(span<const position>(theirs)), theirs.size()});
  }
  if (total > 0) other.bytes_ = bytes_ / total * given;
  bytes_ -= other.bytes_;
  other.slots_ = slots_;
  other.changed_ = changed_;
  other.changed_at_ = changed_at_;
  other.acknowledged_ = acknowledged_;
}

}  // namespace troupe
