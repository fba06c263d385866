#include "actors/server/table/typed_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>

#include "actors/server/table/clipping.hpp"
#include "actors/server/table/dense_rows.hpp"
#include "actors/server/table/row_copying.hpp"
#include "actors/server/table/sparse_rows.hpp"
#include "core/finite.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Values of a chunk: it stays in the processor's nearest memory with its state.
constexpr std::size_t chunk_values = 1024;

error misplaced(const table_spec& spec, position p, const char* why) {
  return {errc::bad_request, format("table '%s': position %llu %s", spec.name.c_str(),
                                    static_cast<unsigned long long>(p), why)};
}

error refused(const table_spec& spec, const std::string& why) {
  return {errc::rejected, "table '" + spec.name + "' refuses a push: " + why};
}

}  // namespace

template <class T>
typed_table<T>::typed_table(const table_spec& spec, std::uint64_t seed,
                            const function_entry& function,
                            std::unique_ptr<server_function<T>> apply_with)
    : table(spec),
      width_(spec.width),
      pushed_width_(width_ * function.pushes),
      layout_(function.state),
      state_width_(layout_.width(width_)),
      shown_width_(function.shows * width_),
      largest_(function.largest),
      additive_(function.additive),
      chunk_rows_(std::max<std::size_t>(1, chunk_values / width_)),
      init_(spec.init, spec.name, seed),
      function_(std::move(apply_with)) {
  chunk_values_.resize(chunk_rows_ * width_);
  chunk_pushed_.resize(chunk_rows_ * width_);
  chunk_state_.resize(chunk_rows_ * state_width_);
  chunk_rows_state_.resize(chunk_rows_ * state_width_);
  T* array = chunk_state_.data();
  for (std::uint32_t i = 0; i < layout_.per_value; ++i, array += chunk_rows_ * width_)
    per_value_.push_back(array);
  for (std::uint32_t i = 0; i < layout_.per_row; ++i, array += chunk_rows_)
    per_row_.push_back(array);
}

// ---- segments

template <class T>
std::unique_ptr<row_storage> typed_table<T>::make_piece(closed_range range) const {
  const row_bytes sizes{width_ * sizeof(T), state_width_ * sizeof(T)};
  if (spec_.kind == table_kind::sparse) return std::make_unique<sparse_rows>(range, sizes);
  auto rows = std::make_unique<dense_rows>(range, spec_.keys, sizes);
  initialise(*rows);
  return rows;
}

template <class T>
void typed_table<T>::initialise(row_storage& dense) const {
  if (spec_.init.how == initialiser_spec::kind::zero || dense.rows() == 0) return;
  std::vector<placed_row> first;
  dense.list(dense.range(), 1, first);
  const key_id key = spec_.keys.key_at(first[0].at);
  for (std::size_t i = 0; i < dense.rows(); ++i)
    init_.fill(key + i, values_of(dense, static_cast<row_slot>(i)), width_);
}

template <class T>
bool typed_table<T>::add_segment(closed_range range) {
  const auto after = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const closed_range& s) { return s.last >= range.first; });
  if (range.first > range.last || (after != segments_.end() && after->first <= range.last))
    return false;
  // Sparse rows need one position that is in no row.
  constexpr position middle = position{1} << 63;
  const std::vector<closed_range> cuts =
      range == all_keys ? std::vector<closed_range>{{0, middle - 1}, {middle, all_keys.last}}
                        : std::vector<closed_range>{range};
  auto place = std::find_if(pieces_.begin(), pieces_.end(),
                            [&](const auto& p) { return p->range().first > range.last; });
  std::vector<std::unique_ptr<row_storage>> made;
  for (const auto& cut : cuts) made.push_back(make_piece(cut));
  pieces_.insert(place, std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  segments_.insert(after, range);
  return true;
}

template <class T>
bool typed_table<T>::remove_segment(closed_range range) {
  const auto found = std::find(segments_.begin(), segments_.end(), range);
  if (found == segments_.end()) return false;
  segments_.erase(found);
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(),
                               [&](const auto& p) { return range.contains(p->range().first); }),
                pieces_.end());
  return true;
}

template <class T>
auto typed_table<T>::parts_of(span<const position> positions) const -> result<std::vector<part>> {
  std::vector<part> parts;
  std::size_t from = 0;
  for (const auto& piece : pieces_) {
    if (from == positions.size()) break;
    if (positions[from] > piece->range().last) continue;
    if (positions[from] < piece->range().first) break;
    const auto* end =
        std::upper_bound(positions.begin() + from, positions.end(), piece->range().last);
    const auto count = static_cast<std::size_t>(end - positions.begin()) - from;
    parts.push_back({piece.get(), from, count});
    from += count;
  }
  if (from != positions.size())
    return misplaced(spec_, positions[from], "is in no segment of this server");
  return parts;
}

template <class T>
result<void> typed_table<T>::locate(const part& p, span<const position> positions,
                                    row_slot* slots) const {
  p.rows->locate(positions, slots);
  if (spec_.kind == table_kind::sparse) return {};
  const auto* wrong = std::find(slots, slots + positions.size(), no_such_row);
  if (wrong == slots + positions.size()) return {};
  return misplaced(spec_, positions[static_cast<std::size_t>(wrong - slots)],
                   "belongs to no key within the table's bounds");
}

// ---- pushes

template <class T>
result<void> typed_table<T>::apply(span<const position> positions, const void* values,
                                   step_context context, overwritten* keep) {
  if (!std::isfinite(context.share) || context.share < 0)
    return error{errc::bad_request, format("table '%s': a step cannot stand for %g of the data",
                                           spec_.name.c_str(), context.share)};
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  slots_.resize(positions.size());
  old_values_.resize(positions.size() * width_);
  old_state_.resize(positions.size() * state_width_);
  fresh_.resize(std::max(fresh_.size(), parts->size()));
  for (auto& fresh : fresh_) fresh.clear();
  const step now{rate_at(spec_.function.rate, context.clock), context.share, context.told};
  std::size_t done = 0;
  result<void> outcome;
  try {
    outcome = run(*parts, positions, static_cast<const T*>(values), now, done);
  } catch (const std::bad_alloc&) {
    undo(*parts, done);
    throw;
  } catch (const std::exception& e) {
    outcome = refused(spec_, e.what());
  }
  if (!outcome) {
    undo(*parts, done);
    return outcome;
  }
  if (keep) keep_old(positions, *keep);
  for (std::size_t i = 0; i < parts->size(); ++i)
    (*parts)[i].rows->insert(fresh_[i].positions,
                             reinterpret_cast<const std::byte*>(fresh_[i].values.data()),
                             reinterpret_cast<const std::byte*>(fresh_[i].state.data()));
  return {};
}

// `done` counts the rows that have been changed.
template <class T>
result<void> typed_table<T>::run(const std::vector<part>& parts, span<const position> positions,
                                 const T* pushed, const step& now, std::size_t& done) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& p = parts[i];
    const auto end = p.from + p.count;
    for (std::size_t from = p.from; from < end; from = done) {
      const auto count = std::min(chunk_rows_, end - from);
      if (!all_finite({pushed + from * pushed_width_, count * pushed_width_}))
        return refused(spec_, "a value is not finite");
      const auto at = positions.subspan(from, count);
      if (auto known = locate(p, at, slots_.data() + from); !known) return known;
      read_chunk(p, at, from);
      row_block<T> block;
      block.rows = count;
      block.width = width_;
      block.values = chunk_values_.data();
      block.pushed = clipped(pushed + from * pushed_width_, count);
      block.per_value = per_value_.data();
      block.per_row = per_row_.data();
      function_->apply(block, now);
      if (!finite_chunk(count)) return refused(spec_, "a result is not finite");
      write_chunk(p, at, from, fresh_[i]);
      done = from + count;
    }
  }
  return {};
}

template <class T>
void typed_table<T>::read_chunk(const part& p, span<const position> at, std::size_t from) {
  const span<const row_slot> slots(slots_.data() + from, at.size());
  T* old = old_values_.data() + from * width_;
  T* old_state = old_state_.data() + from * state_width_;
  read_rows(values_of(*p.rows, 0), width_, slots, old);
  read_rows(state_of(*p.rows, 0), state_width_, slots, old_state);
  if (std::find(slots.begin(), slots.end(), absent_row) != slots.end())
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] != absent_row) continue;
      init_.fill(spec_.keys.key_at(at[i]), old + i * width_, width_);
      std::fill_n(old_state + i * state_width_, state_width_, T(0));
    }
  std::memcpy(chunk_values_.data(), old, at.size() * width_ * sizeof(T));
  for_state_arrays([&](T* array, std::size_t width, std::size_t offset) {
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = 0; j < width; ++j)
        array[i * width + j] = old_state[i * state_width_ + offset + j];
  });
}

template <class T>
const T* typed_table<T>::clipped(const T* pushed, std::size_t rows) {
  const double at = spec_.function.clip_at;
  T* out = chunk_pushed_.data();
  switch (spec_.function.clip) {
    case clipping::none:
      return pushed;
    case clipping::value:
      clip_by_value(pushed, rows * width_, at, out);
      break;
    case clipping::norm:
      for (std::size_t i = 0; i < rows * width_; i += width_)
        clip_by_norm(pushed + i, width_, at, out + i);
      break;
  }
  return out;
}

template <class T>
bool typed_table<T>::finite_chunk(std::size_t rows) const {
  if (!all_finite({chunk_values_.data(), rows * width_})) return false;
  for (const T* array : per_value_)
    if (!all_finite({array, rows * width_})) return false;
  for (const T* array : per_row_)
    if (!all_finite({array, rows})) return false;
  return true;
}

template <class T>
void typed_table<T>::write_chunk(const part& p, span<const position> at, std::size_t from,
                                 fresh_rows& fresh) {
  const span<const row_slot> slots(slots_.data() + from, at.size());
  T* state = chunk_rows_state_.data();
  for_state_arrays([&](const T* array, std::size_t width, std::size_t offset) {
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = 0; j < width; ++j)
        state[i * state_width_ + offset + j] = array[i * width + j];
  });
  const T* value = chunk_values_.data();
  write_rows(values_of(*p.rows, 0), width_, slots, value);
  write_rows(state_of(*p.rows, 0), state_width_, slots, state);
  if (std::find(slots.begin(), slots.end(), absent_row) == slots.end()) return;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i] == absent_row)
      fresh.add(at[i], {value + i * width_, width_}, {state + i * state_width_, state_width_});
}

// Calls visit(array, numbers for a row, where they begin in a row's state) for each array of the
// function's state.
template <class T>
template <class Visit>
void typed_table<T>::for_state_arrays(Visit&& visit) const {
  std::size_t offset = 0;
  for (T* array : per_value_) {
    width_ == 1 ? visit(array, 1, offset) : visit(array, width_, offset);
    offset += width_;
  }
  for (T* array : per_row_) visit(array, 1, offset++);
}

template <class T>
void typed_table<T>::undo(const std::vector<part>& parts, std::size_t done) {
  for (const auto& p : parts) {
    if (done <= p.from) return;
    const span<const row_slot> slots(slots_.data() + p.from, std::min(done - p.from, p.count));
    write_rows(values_of(*p.rows, 0), width_, slots, old_values_.data() + p.from * width_);
    write_rows(state_of(*p.rows, 0), state_width_, slots,
               old_state_.data() + p.from * state_width_);
  }
}

template <class T>
void typed_table<T>::keep_old(span<const position> positions, overwritten& keep) {
  overwritten::run run;
  run.positions.assign(positions.begin(), positions.end());
  run.values.resize(old_values_.size() * sizeof(T));
  if (!run.values.empty()) std::memcpy(run.values.data(), old_values_.data(), run.values.size());
  if (keep.keeps_state() && !old_state_.empty()) {
    run.state.resize(old_state_.size() * sizeof(T));
    std::memcpy(run.state.data(), old_state_.data(), run.state.size());
  }
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i] == absent_row) run.absent.push_back(static_cast<std::uint32_t>(i));
  keep.add(std::move(run));
}

template <class T>
result<void> typed_table<T>::put(span<const position> positions, const void* values,
                                 const void* state) {
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  slots_.resize(positions.size());
  for (const auto& p : *parts)
    if (auto known = locate(p, positions.subspan(p.from, p.count), slots_.data() + p.from); !known)
      return known;
  const std::vector<T> zeros(state ? 0 : positions.size() * state_width_, T(0));
  const T* v = static_cast<const T*>(values);
  const T* s = state ? static_cast<const T*>(state) : zeros.data();
  for (const auto& p : *parts) {
    const span<const row_slot> slots(slots_.data() + p.from, p.count);
    write_rows(values_of(*p.rows, 0), width_, slots, v + p.from * width_);
    write_rows(state_of(*p.rows, 0), state_width_, slots, s + p.from * state_width_);
    fresh_rows fresh;
    for (std::size_t i = p.from; i < p.from + p.count; ++i)
      if (slots_[i] == absent_row)
        fresh.add(positions[i], {v + i * width_, width_}, {s + i * state_width_, state_width_});
    p.rows->insert(fresh.positions, reinterpret_cast<const std::byte*>(fresh.values.data()),
                   reinterpret_cast<const std::byte*>(fresh.state.data()));
  }
  return {};
}

template class typed_table<float>;
template class typed_table<double>;

}  // namespace troupe
