#include "actors/worker/client.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/finite.hpp"
#include "core/text.hpp"

namespace troupe {

kv_client::kv_client(client_settings settings, std::vector<table_shape> tables,
                     std::optional<slot_identity> slot, meter& work_done)
    : settings_(settings), tables_(std::move(tables)), slot_(slot), meter_(work_done) {}

void kv_client::use(view next) {
  if (next.number() <= view_.number() && !view_.empty()) return;
  view_ = std::move(next);
  route_all_again();
}

void kv_client::resume_at(std::uint64_t clock) {
  clock_ = clock;
  index_ = 0;
}

result<key_set> kv_client::keys(std::size_t table, span<const key_id> ids) const {
  meter_.add(work::keys_prepared, ids.size());
  auto made = key_set::of(tables_[table].keys, ids);
  if (!made)
    return error{made.failure().code,
                 "table '" + tables_[table].name + "': " + made.failure().text};
  return made;
}

ticket kv_client::pull(std::size_t table, key_set keys, request_options options, on_pulled done) {
  request r;
  r.what = kind::pull;
  r.table = table;
  r.keys = std::move(keys);
  r.clock = clock_;
  r.pulled_done = std::move(done);
  return begin(std::move(r), std::move(options.after));
}

ticket kv_client::pull_range(std::size_t table, closed_range range, request_options options,
                             on_pulled done) {
  request r;
  r.what = kind::pull_range;
  r.table = table;
  r.clock = clock_;
  r.range = all_keys;
  const auto& how = tables_[table].keys;
  if (!how.hashes()) {
    const closed_range inside{std::max(range.first, how.bounds().first),
                              std::min(range.last, how.bounds().last)};
    // An empty intersection has no positions: nothing is asked, nothing comes.
    r.range = inside.first <= inside.last
                  ? closed_range{how.position_of(inside.first), how.position_of(inside.last)}
                  : closed_range{1, 0};
  }
  r.pulled_done = std::move(done);
  return begin(std::move(r), std::move(options.after));
}

std::optional<error> kv_client::unfit(std::size_t table, const key_set& keys,
                                      const blob& values) const {
  const auto& shape = tables_[table];
  if (values.size() != keys.asked() * shape.pushed_bytes())
    return error{
        errc::bad_request,
        format("push to table '%s': %zu keys of width %u need %zu bytes of values, not %zu",
               shape.name.c_str(), keys.asked(), shape.width * shape.pushes,
               keys.asked() * shape.pushed_bytes(), values.size())};
  if (keys.repeats() && !shape.additive)
    return error{errc::bad_request,
                 format("push to table '%s': a key is repeated, and the table's function "
                        "does not add values up",
                        shape.name.c_str())};
  return std::nullopt;
}

ticket kv_client::push(std::size_t table, key_set keys, blob values, push_options options,
                       on_pushed done) {
  assert(slot_ && "an observer cannot push");
  request r;
  r.what = kind::push;
  r.table = table;
  r.number.set_slot(slot_->slot);
  r.number.set_epoch(slot_->epoch);
  r.number.set_clock(clock_);
  r.number.set_index(index_);
  r.number.set_last(options.last);
  r.number.set_table(static_cast<std::uint32_t>(table));
  r.number.set_share(options.share);
  for (const double number : options.told) r.number.add_told(number);
  r.pushed_done = std::move(done);
  if (auto wrong = unfit(table, keys, values)) {
    // The caller's mistake: the ticket fails, and no number is used up.
    const auto t = next_ticket_++;
    requests_.emplace(t, std::move(r));
    complete(t, std::move(*wrong));
    return t;
  }

  const auto& shape = tables_[table];
  const auto width = std::size_t{shape.width} * shape.pushes;
  r.values = shape.doubles ? keys.to_position_order<double>(values, width)
                           : keys.to_position_order<float>(values, width);
  r.keys = std::move(keys);
  const bool finite =
      shape.doubles ? all_finite(r.values.as<double>()) : all_finite(r.values.as<float>());
  if (!finite) {  // refused whole; its number is used up as empty, so that the next one is in order
    r.rejected = true;
    r.keys = {};
    r.values = {};
  }
  const bool final = clock_ + 1 == clocks_;  // what filters have kept comes now
  if (table < push_filters_.size() && !push_filters_[table].empty() && !r.rejected &&
      (r.keys.size() > 0 || final)) {
    payload rows{r.keys.bytes(), std::move(r.values)};
    push_filters_[table].apply(rows, {seed_, slot_->slot, clock_, index_, final});
    r.keys = key_set::of_positions(std::move(rows.keys));
    r.values = std::move(rows.values);
  }
  if (options.last) {
    ++clock_;
    index_ = 0;
  } else {
    ++index_;
  }
  // Bulk-synchronous: nothing of this clock before everything of earlier ones is acknowledged
  // everywhere.
  if (settings_.bulk_synchronous)
    for (const auto& [earlier, its_clock] : unacknowledged_)
      if (its_clock < r.number.clock()) options.after.push_back(earlier);
  return begin(std::move(r), std::move(options.after));
}

ticket kv_client::finish(on_pushed done) {
  assert(slot_);
  request r;
  r.what = kind::push;
  r.number.set_slot(slot_->slot);
  r.number.set_epoch(slot_->epoch);
  r.number.set_clock(clock_);
  r.number.set_last(true);
  r.number.set_finish(true);
  r.pushed_done = std::move(done);
  std::vector<ticket> after;
  for (const auto& [earlier, its_clock] : unacknowledged_) after.push_back(earlier);
  return begin(std::move(r), std::move(after));
}

ticket kv_client::begin(request r, std::vector<ticket> after) {
  const auto t = next_ticket_++;
  r.begun = now_;
  r.deadline = now_ + settings_.patience;
  for (const auto named : after)
    if (const auto found = requests_.find(named); found != requests_.end()) {
      if (r.waits_for.insert(named).second) found->second.holds_up.push_back(t);
    }
  if (r.what == kind::push)
    unacknowledged_.emplace(t, r.number.clock());
  else if (open_pulls_++ == 0)
    pulls_open_since_ = now_;
  const bool free = r.waits_for.empty();
  requests_.emplace(t, std::move(r));
  if (free) launch(t);
  return t;
}

void kv_client::launch(ticket t) {
  auto& r = requests_.at(t);
  const auto before = next_part_;
  if (r.what == kind::pull_range) {
    for (const auto& s : view_.segments()) {
      const closed_range inside{std::max(s.range.first, r.range.first),
                                std::min(s.range.last, r.range.last)};
      if (inside.first <= inside.last) add_part(t, s.shard, {}, inside);
    }
  } else {
    for (auto& share : view_.cut(r.keys.positions()))
      if (r.what == kind::push || !share.slices.empty())
        add_part(t, share.shard, std::move(share.slices), {});
  }
  if (next_part_ == before) answered_at_once_.push_back(t);
}

void kv_client::wait(const std::vector<ticket>& tickets, on_all then) {
  std::size_t open = 0;
  const auto number = next_wait_++;
  for (const auto t : tickets)
    if (const auto found = requests_.find(t); found != requests_.end()) {
      found->second.waits.push_back(number);
      ++open;
    }
  if (open == 0)
    then();
  else
    waits_.emplace(number, std::pair(open, std::move(then)));
}

std::uint64_t kv_client::oldest_clock_under_way() const {
  // Tickets ascend with clocks, so the first is the oldest.
  return unacknowledged_.empty() ? clock_ : unacknowledged_.begin()->second;
}

// Ends a request: its callback first, then what waited for it. A request that came after a failed
// one fails too.
void kv_client::complete(ticket t, std::optional<error> failure) {
  auto node = requests_.extract(t);
  auto& r = node.mapped();
  unacknowledged_.erase(t);
  if (failure)  // else its parts are done and gone
    for (auto p = parts_.begin(); p != parts_.end();)
      p = p->second.of == t ? parts_.erase(p) : std::next(p);

  if (r.what != kind::push && --open_pulls_ == 0) pulls_.waited += now_ - pulls_open_since_;
  if (r.what != kind::push && !failure) record_pull(r);
  if (r.what == kind::push) {
    if (r.pushed_done)
      r.pushed_done(failure ? result<pushed>(*failure) : result<pushed>(pushed{r.rejected}));
  } else if (r.pulled_done) {
    if (failure) {
      r.pulled_done(*failure);
    } else if (r.what == kind::pull) {
      r.pulled_done(pulled{r.keys.to_caller_order(r.answer, pulled_bytes(r)), {}, r.staleness});
    } else {
      r.pulled_done(joined_range(r));
    }
  }
  for (const auto later : r.holds_up) {
    const auto found = requests_.find(later);
    if (found == requests_.end()) continue;
    if (failure) {
      complete(later, error{failure->code, "came after a failed request: " + failure->text});
    } else {
      found->second.waits_for.erase(t);
      if (found->second.waits_for.empty()) launch(later);
    }
  }
  for (const auto number : r.waits) {
    const auto found = waits_.find(number);
    if (--found->second.first > 0) continue;
    auto then = std::move(found->second.second);
    waits_.erase(found);
    then();
  }
}

void kv_client::record_pull(const request& r) {
  const auto bucket = std::min<std::uint64_t>(r.staleness, pull_record::buckets - 1);
  if (pulls_.staleness.size() <= bucket) pulls_.staleness.resize(bucket + 1);
  ++pulls_.staleness[bucket];
  pulls_.max_staleness = std::max(pulls_.max_staleness, r.staleness);
}

pulled kv_client::joined_range(const request& r) const {
  const auto& shape = tables_[r.table];
  std::size_t key_bytes = 0, value_bytes = 0;
  for (const auto& [number, rows] : r.range_answers) {
    key_bytes += rows.first.size();
    value_bytes += rows.second.size();
  }
  auto [keys, keys_out] = blob::uninitialised(key_bytes);
  auto [values, values_out] = blob::uninitialised(value_bytes);
  auto* key_out = reinterpret_cast<key_id*>(keys_out);
  for (const auto& [first, rows] : r.range_answers) {
    for (const auto p : rows.first.as<position>()) *key_out++ = shape.keys.key_at(p);
    if (!rows.second.empty()) std::memcpy(values_out, rows.second.data(), rows.second.size());
    values_out += rows.second.size();
  }
  return {std::move(values), std::move(keys), r.staleness};
}

}  // namespace troupe
