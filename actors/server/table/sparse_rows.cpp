#include "actors/server/table/sparse_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <numeric>

namespace troupe {
namespace {

constexpr std::uint64_t least_capacity = 16;
constexpr std::uint64_t spill = 16;  // free slots beyond the last row after a merge

// At most four fifths of the slots are used.
constexpr bool too_full(std::uint64_t rows, std::uint64_t capacity) {
  return rows * 5 > capacity * 4;
}
// Half as much again, or what leaves a big batch three tenths of free slots.
constexpr std::uint64_t grown(std::uint64_t capacity, std::uint64_t rows) {
  return std::max({least_capacity, capacity + capacity / 2, rows * 10 / 7});
}

// Rows are mostly small: a copy of known size is one instruction.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t size) {
  switch (size) {
    case 0:
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memmove(to, from, size);
  }
}

unsigned leading_zeros(std::uint64_t x) {
  return x == 0 ? 63 : static_cast<unsigned>(__builtin_clzll(x));
}

}  // namespace

sparse_rows::sparse_rows(closed_range range, row_bytes sizes) : row_storage(range), sizes_(sizes) {
  assert(range != all_keys);
  set_capacity(least_capacity);
  spread({});
}

// Mixed so that the position just outside the range, which no row has, is what would be
// `free_slot`.
sparse_rows::order sparse_rows::order_of(position p) const {
  return scattered_ ? mix(p - (range().last + 1) + unmix(free_slot)) : p - range().first;
}

position sparse_rows::position_of(order o) const {
  return scattered_ ? unmix(o) - unmix(free_slot) + (range().last + 1) : range().first + o;
}

std::uint64_t sparse_rows::home(order o) const {
  return static_cast<std::uint64_t>((static_cast<uint128>(o << shift_) * scale_) >> 64);
}

void sparse_rows::set_capacity(std::uint64_t capacity) {
  if (capacity > most_slots) throw std::bad_alloc();
  capacity_ = capacity;
  shift_ = scattered_ ? 0 : leading_zeros(range().extent());
  const uint128 ring = static_cast<uint128>(1) << 64;
  const uint128 length = scattered_ ? ring : (static_cast<uint128>(range().extent()) + 1) << shift_;
  scale_ = static_cast<std::uint64_t>(static_cast<uint128>(capacity) * ring / length);
}

// ---- finding

// Orders and homes of a block come first, with `far` their memory is asked for, and then rows are
// looked up, so that many waits for memory overlap.
template <bool mixed, bool far>
void sparse_rows::locate_all(span<const position> positions, row_slot* slots) const {
  constexpr std::size_t block = 64;
  order orders[block];
  std::uint64_t homes[block];
  const order* const stored = keys();
  const auto* const stored_values = values();
  const auto offset = mixed ? unmix(free_slot) - (range().last + 1) : 0 - range().first;
  const auto scale = scale_;
  const auto shift = shift_;
  const auto value_bytes = sizes_.values;
  for (std::size_t from = 0; from < positions.size(); from += block) {
    const auto count = std::min(block, positions.size() - from);
    for (std::size_t i = 0; i < count; ++i) {
      const auto shifted = positions[from + i] + offset;
      orders[i] = mixed ? mix(shifted) : shifted;
      homes[i] =
          static_cast<std::uint64_t>((static_cast<uint128>(orders[i] << shift) * scale) >> 64);
      if (far) {
        __builtin_prefetch(stored + homes[i]);
        __builtin_prefetch(stored + homes[i] + window - 1);
        __builtin_prefetch(stored_values + homes[i] * value_bytes, 1);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto o = orders[i];
      auto slot = homes[i];
      // Counting in a window has no branch to guess wrong; few rows stand farther from home.
      const order* const near = stored + slot;
      std::uint64_t smaller = 0;
      for (std::size_t k = 0; k < window; ++k) smaller += near[k] < o;
      slot += smaller;
      if (smaller == window)
        while (stored[slot] < o) ++slot;
      slots[from + i] = stored[slot] == o ? static_cast<row_slot>(slot) : absent_row;
    }
  }
}

void sparse_rows::locate(span<const position> positions, row_slot* slots) const {
  if (positions.empty()) return;
  // How many slots one step of the batch goes forward: if many, the processor does not foresee it.
  const auto stride =
      (home(order_of(positions.back())) - home(order_of(positions.front()))) / positions.size();
  if (scattered_)
    locate_all<true, true>(positions, slots);
  else if (stride > 8)
    locate_all<false, true>(positions, slots);
  else
    locate_all<false, false>(positions, slots);
}

std::uint64_t sparse_rows::lower_bound(order o) const {
  auto slot = home(o);
  while (keys()[slot] < o) ++slot;
  return slot;
}

void sparse_rows::list(closed_range within, std::size_t limit,
                       std::vector<placed_row>& rows) const {
  const closed_range wanted{std::max(within.first, range().first),
                            std::min(within.last, range().last)};
  if (wanted.first > wanted.last || rows.size() >= limit) return;
  if (scattered_) return list_scattered(wanted, limit, rows);
  const order first = order_of(wanted.first), last = order_of(wanted.last);
  for (auto s = home(first); s < slots_ && rows.size() < limit; ++s) {
    const order o = keys()[s];
    if (o == free_slot || o < first) continue;
    if (o > last) return;
    rows.push_back({position_of(o), static_cast<row_slot>(s)});
  }
}

// Keeps the lowest rows seen so far, so that a small part of a large range is not sorted whole.
void sparse_rows::list_scattered(closed_range wanted, std::size_t limit,
                                 std::vector<placed_row>& rows) const {
  const auto lower = [](const placed_row& a, const placed_row& b) { return a.at < b.at; };
  const auto before = rows.size(), most = limit - before;
  const auto begin = static_cast<std::ptrdiff_t>(before);
  for (std::uint64_t s = 0; s < slots_; ++s) {
    if (keys()[s] == free_slot || !wanted.contains(position_of(keys()[s]))) continue;
    rows.push_back({position_of(keys()[s]), static_cast<row_slot>(s)});
    if ((rows.size() - before) / 2 < most) continue;
    const auto last = rows.begin() + static_cast<std::ptrdiff_t>(limit - 1);
    std::nth_element(rows.begin() + begin, last, rows.end(), lower);
    wanted.last = last->at;
    rows.resize(limit);
  }
  std::sort(rows.begin() + begin, rows.end(), lower);
  if (rows.size() > limit) rows.resize(limit);
}

std::uint64_t sparse_rows::worst_displacement() const {
  std::uint64_t worst = 0;
  for (std::uint64_t s = 0; s < slots_; ++s)
    if (keys()[s] != free_slot) worst = std::max(worst, s - home(keys()[s]));
  return worst;
}

// ---- inserting

void sparse_rows::insert(span<const position> positions, const std::byte* values,
                         const std::byte* state) {
  if (positions.empty()) return;
  const bool few = positions.size() * 16 <= capacity_;
  std::size_t done = 0;
  if (few && !too_full(rows_ + positions.size(), capacity_))
    while (done < positions.size() &&
           insert_one(order_of(positions[done]), values + done * sizes_.values,
                      state + done * sizes_.state))
      ++done;
  if (done == positions.size()) return;
  merge(batch_of({positions.data() + done, positions.size() - done}, values + done * sizes_.values,
                 state + done * sizes_.state));
}

// False when there is no room nearby: the rows must be spread anew, or scattered.
bool sparse_rows::insert_one(order o, const std::byte* value, const std::byte* state) {
  const auto slot = lower_bound(o);
  // All rows that move have their homes at this one's or beyond, so none comes to stand farther
  // from its home than the free slot is from this.
  const auto farthest = std::min(slots_, home(o) + most_displaced);
  auto end = slot;
  while (end < farthest && keys()[end] != free_slot) ++end;
  if (end >= farthest) {
    if (farthest < slots_ && !scattered_) scatter();
    return false;
  }
  const auto moved = static_cast<std::size_t>(end - slot);
  if (moved > 0) {
    std::memmove(keys() + slot + 1, keys() + slot, moved * sizeof(order));
    std::memmove(values() + (slot + 1) * sizes_.values, values() + slot * sizes_.values,
                 moved * sizes_.values);
    if (sizes_.state > 0)
      std::memmove(this->state() + (slot + 1) * sizes_.state, this->state() + slot * sizes_.state,
                   moved * sizes_.state);
  }
  keys()[slot] = o;
  copy_row(slot, value, state);
  ++rows_;
  return true;
}

void sparse_rows::copy_row(std::uint64_t to, const std::byte* value, const std::byte* from_state) {
  copy_bytes(values() + to * sizes_.values, value, sizes_.values);
  copy_bytes(state() + to * sizes_.state, from_state, sizes_.state);
}

sparse_rows::batch sparse_rows::batch_of(span<const position> positions, const std::byte* values,
                                         const std::byte* state) const {
  batch fresh{{}, {}, values, state};
  fresh.from.resize(positions.size());
  std::iota(fresh.from.begin(), fresh.from.end(), 0u);
  if (scattered_)
    std::sort(fresh.from.begin(), fresh.from.end(), [&](std::uint32_t a, std::uint32_t b) {
      return order_of(positions[a]) < order_of(positions[b]);
    });
  fresh.orders.reserve(positions.size());
  for (const auto i : fresh.from) fresh.orders.push_back(order_of(positions[i]));
  return fresh;
}

void sparse_rows::merge(const batch& fresh) {
  const auto rows = rows_ + fresh.orders.size();
  if (too_full(rows, capacity_)) set_capacity(grown(capacity_, rows));
  const auto planned = plan_merge(fresh);
  if (planned.displacement > most_displaced && !scattered_) {
    std::vector<position> positions;
    positions.reserve(fresh.orders.size());
    for (const auto o : fresh.orders) positions.push_back(position_of(o));
    scatter();
    // An ordered batch has its rows as they came.
    return merge(batch_of(positions, fresh.values, fresh.state));
  }
  const auto slots = std::max({slots_, capacity_ + spill, planned.end + spill});
  if (slots > most_slots) throw std::bad_alloc();
  compact_towards_end(slots);
  spread(fresh);
}

sparse_rows::plan sparse_rows::plan_merge(const batch& fresh) const {
  plan planned;
  const auto place = [&](order o) {
    const auto slot = std::max(home(o), planned.end);
    planned.displacement = std::max(planned.displacement, slot - home(o));
    planned.end = slot + 1;
  };
  std::size_t next = 0;
  for (std::uint64_t s = 0; s < slots_; ++s) {
    const order o = keys()[s];
    if (o == free_slot) continue;
    while (next < fresh.orders.size() && fresh.orders[next] < o) place(fresh.orders[next++]);
    place(o);
  }
  while (next < fresh.orders.size()) place(fresh.orders[next++]);
  return planned;
}

// Makes `slots` slots and leaves all rows in the last of them.
void sparse_rows::compact_towards_end(std::uint64_t slots) {
  keys_.resize((slots + window) * sizeof(order));
  values_.resize(slots * sizes_.values);
  state_.resize(slots * sizes_.state);
  auto to = slots;
  for (auto s = slots_; s-- > 0;) {
    if (keys()[s] == free_slot) continue;
    keys()[--to] = keys()[s];
    copy_row(to, values() + s * sizes_.values, state() + s * sizes_.state);
  }
  slots_ = slots;
}

// Places the rows at the end and the fresh ones between them in one walk forward. No row is
// overwritten before it has moved: of the rows still at the end, the next stands at least as far
// from the start as the place it goes to.
void sparse_rows::spread(const batch& fresh) {
  if (slots_ == 0) compact_towards_end(capacity_ + spill);
  std::uint64_t end = 0;
  const auto place = [&](order o, const std::byte* value, const std::byte* from_state) {
    const auto slot = std::max(home(o), end);
    for (; end < slot; ++end) keys()[end] = free_slot;
    keys()[slot] = o;
    copy_row(slot, value, from_state);
    end = slot + 1;
  };
  std::size_t next = 0;
  const auto place_fresh = [&] {
    const auto i = fresh.from[next];
    place(fresh.orders[next], fresh.values + i * sizes_.values, fresh.state + i * sizes_.state);
    ++next;
  };
  for (auto s = slots_ - rows_; s < slots_; ++s) {
    const order o = keys()[s];
    while (next < fresh.orders.size() && fresh.orders[next] < o) place_fresh();
    place(o, values() + s * sizes_.values, state() + s * sizes_.state);
  }
  while (next < fresh.orders.size()) place_fresh();
  for (; end < slots_ + window; ++end) keys()[end] = free_slot;
  rows_ += fresh.orders.size();
}

// From order by position to order by mixed position. The one time that rows are held twice.
void sparse_rows::scatter() {
  std::vector<position> positions;
  std::vector<std::byte> old_values, old_state;
  positions.reserve(rows_);
  for (std::uint64_t s = 0; s < slots_; ++s) {
    if (keys()[s] == free_slot) continue;
    positions.push_back(position_of(keys()[s]));
    const auto* value = values() + s * sizes_.values;
    old_values.insert(old_values.end(), value, value + sizes_.values);
    if (sizes_.state == 0) continue;
    const auto* from_state = state() + s * sizes_.state;
    old_state.insert(old_state.end(), from_state, from_state + sizes_.state);
  }
  scattered_ = true;
  rows_ = 0;
  set_capacity(capacity_);
  for (std::uint64_t s = 0; s < slots_ + window; ++s) keys()[s] = free_slot;
  merge(batch_of(positions, old_values.data(), old_state.data()));
}

}  // namespace troupe
