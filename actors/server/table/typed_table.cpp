#include "actors/server/table/typed_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>

#include "actors/server/table/dense_rows.hpp"
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
      layout_(function.state),
      state_width_(layout_.width(width_)),
      additive_(function.additive),
      chunk_rows_(std::max<std::size_t>(1, chunk_values / width_)),
      init_(spec.init, spec.name, seed),
      function_(std::move(apply_with)) {
  chunk_values_.resize(chunk_rows_ * width_);
  chunk_pushed_.resize(chunk_rows_ * width_);
  chunk_state_.resize(chunk_rows_ * state_width_);
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
result<void> typed_table<T>::locate(const std::vector<part>& parts, span<const position> positions,
                                    std::vector<row_slot>& slots) const {
  slots.resize(positions.size());
  for (const auto& p : parts)
    p.rows->locate(positions.subspan(p.from, p.count), slots.data() + p.from);
  if (spec_.kind == table_kind::sparse) return {};
  const auto wrong = std::find(slots.begin(), slots.end(), no_such_row);
  if (wrong == slots.end()) return {};
  const auto at = positions[static_cast<std::size_t>(wrong - slots.begin())];
  return misplaced(spec_, at, "belongs to no key within the table's bounds");
}

// ---- pushes

template <class T>
result<void> typed_table<T>::apply(span<const position> positions, const void* values,
                                   step_context context, overwritten* keep) {
  const auto* pushed = static_cast<const T*>(values);
  if (!std::isfinite(context.share) || context.share < 0)
    return error{errc::bad_request, format("table '%s': a step cannot stand for %g of the data",
                                           spec_.name.c_str(), context.share)};
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  if (auto known = locate(*parts, positions, slots_); !known) return known;
  if (!all_finite({pushed, positions.size() * width_}))
    return refused(spec_, "a value is not finite");

  old_values_.resize(positions.size() * width_);
  old_state_.resize(positions.size() * state_width_);
  fresh_.resize(std::max(fresh_.size(), parts->size()));
  for (auto& fresh : fresh_) fresh.clear();
  const step now{rate_at(spec_.function.rate, context.clock), context.share};
  std::size_t done = 0;
  std::string why = "a result is not finite";
  bool fine = false;
  try {
    fine = run(*parts, positions, pushed, now, done);
  } catch (const std::bad_alloc&) {
    undo(*parts, done);
    throw;
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (!fine) {
    undo(*parts, done);
    return refused(spec_, why);
  }
  if (keep) keep_old(positions, *keep);
  for (std::size_t i = 0; i < parts->size(); ++i)
    (*parts)[i].rows->insert(fresh_[i].positions,
                             reinterpret_cast<const std::byte*>(fresh_[i].values.data()),
                             reinterpret_cast<const std::byte*>(fresh_[i].state.data()));
  return {};
}

// `done` counts the rows that have been changed. False: a result is not finite.
template <class T>
bool typed_table<T>::run(const std::vector<part>& parts, span<const position> positions,
                         const T* pushed, const step& now, std::size_t& done) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& p = parts[i];
    for (std::size_t from = p.from; from < p.from + p.count; from += chunk_rows_) {
      const auto count = std::min(chunk_rows_, p.from + p.count - from);
      read_chunk(p, positions, from, count);
      row_block<T> block;
      block.rows = count;
      block.width = width_;
      block.values = chunk_values_.data();
      block.pushed = clipped(pushed + from * width_, count);
      block.per_value = per_value_.data();
      block.per_row = per_row_.data();
      function_->apply(block, now);
      if (!finite_chunk(count)) return false;
      write_chunk(p, positions, from, count, fresh_[i]);
      done = from + count;
    }
  }
  return true;
}

template <class T>
void typed_table<T>::read_chunk(const part& p, span<const position> positions, std::size_t from,
                                std::size_t count) {
  const auto* slots = slots_.data() + from;
  T* old = old_values_.data() + from * width_;
  T* old_state = old_state_.data() + from * state_width_;
  for (std::size_t i = 0; i < count; ++i) {
    T* value = old + i * width_;
    T* state = old_state + i * state_width_;
    if (slots[i] == absent_row) {
      init_.fill(spec_.keys.key_at(positions[from + i]), value, width_);
      std::fill(state, state + state_width_, T(0));
    } else {
      std::memcpy(value, values_of(*p.rows, slots[i]), width_ * sizeof(T));
      if (state_width_ > 0)
        std::memcpy(state, state_of(*p.rows, slots[i]), state_width_ * sizeof(T));
    }
  }
  std::memcpy(chunk_values_.data(), old, count * width_ * sizeof(T));
  for (std::size_t i = 0; i < count; ++i, old_state += state_width_) {
    for (std::uint32_t k = 0; k < layout_.per_value; ++k)
      for (std::size_t j = 0; j < width_; ++j)
        per_value_[k][i * width_ + j] = old_state[k * width_ + j];
    for (std::uint32_t k = 0; k < layout_.per_row; ++k)
      per_row_[k][i] = old_state[layout_.per_value * width_ + k];
  }
}

template <class T>
const T* typed_table<T>::clipped(const T* pushed, std::size_t rows) {
  if (spec_.function.clip == clipping::none) return pushed;
  const T limit = static_cast<T>(spec_.function.clip_at);
  T* out = chunk_pushed_.data();
  if (spec_.function.clip == clipping::value) {
    for (std::size_t i = 0; i < rows * width_; ++i)
      out[i] = std::min(std::max(pushed[i], -limit), limit);
    return out;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    // In double, where the squares of all floats are finite.
    double squares = 0;
    for (std::size_t i = row * width_; i < (row + 1) * width_; ++i)
      squares += static_cast<double>(pushed[i]) * static_cast<double>(pushed[i]);
    const double norm = std::sqrt(squares);
    const double factor = norm > spec_.function.clip_at ? spec_.function.clip_at / norm : 1;
    for (std::size_t i = row * width_; i < (row + 1) * width_; ++i)
      out[i] = static_cast<T>(static_cast<double>(pushed[i]) * factor);
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
void typed_table<T>::write_chunk(const part& p, span<const position> positions, std::size_t from,
                                 std::size_t count, fresh_rows& fresh) {
  const auto* slots = slots_.data() + from;
  for (std::size_t i = 0; i < count; ++i) {
    const T* value = chunk_values_.data() + i * width_;
    T* state = nullptr;
    if (slots[i] == absent_row) {
      fresh.positions.push_back(positions[from + i]);
      fresh.values.insert(fresh.values.end(), value, value + width_);
      fresh.state.resize(fresh.state.size() + state_width_);
      state = fresh.state.data() + fresh.state.size() - state_width_;
    } else {
      std::memcpy(values_of(*p.rows, slots[i]), value, width_ * sizeof(T));
      state = state_of(*p.rows, slots[i]);
    }
    for (std::uint32_t k = 0; k < layout_.per_value; ++k)
      for (std::size_t j = 0; j < width_; ++j)
        state[k * width_ + j] = per_value_[k][i * width_ + j];
    for (std::uint32_t k = 0; k < layout_.per_row; ++k)
      state[layout_.per_value * width_ + k] = per_row_[k][i];
  }
}

template <class T>
void typed_table<T>::undo(const std::vector<part>& parts, std::size_t done) {
  for (const auto& p : parts)
    for (std::size_t i = p.from; i < std::min(done, p.from + p.count); ++i) {
      if (slots_[i] == absent_row) continue;
      std::memcpy(values_of(*p.rows, slots_[i]), old_values_.data() + i * width_,
                  width_ * sizeof(T));
      if (state_width_ > 0)
        std::memcpy(state_of(*p.rows, slots_[i]), old_state_.data() + i * state_width_,
                    state_width_ * sizeof(T));
    }
}

template <class T>
void typed_table<T>::keep_old(span<const position> positions, overwritten& keep) {
  overwritten::run run;
  run.positions.assign(positions.begin(), positions.end());
  run.values.resize(old_values_.size() * sizeof(T));
  if (!run.values.empty()) std::memcpy(run.values.data(), old_values_.data(), run.values.size());
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i] == absent_row) run.absent.push_back(static_cast<std::uint32_t>(i));
  keep.add(std::move(run));
}

template <class T>
result<void> typed_table<T>::put(span<const position> positions, const void* values,
                                 const void* state) {
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  if (auto known = locate(*parts, positions, slots_); !known) return known;
  const auto* value = static_cast<const T*>(values);
  const std::vector<T> zeros(state ? 0 : state_width_, T(0));
  for (const auto& p : *parts) {
    fresh_rows fresh;
    for (std::size_t i = p.from; i < p.from + p.count; ++i) {
      const T* v = value + i * width_;
      const T* s = state ? static_cast<const T*>(state) + i * state_width_ : zeros.data();
      if (slots_[i] == absent_row) {
        fresh.positions.push_back(positions[i]);
        fresh.values.insert(fresh.values.end(), v, v + width_);
        fresh.state.insert(fresh.state.end(), s, s + state_width_);
        continue;
      }
      std::copy(v, v + width_, values_of(*p.rows, slots_[i]));
      std::copy(s, s + state_width_, state_of(*p.rows, slots_[i]));
    }
    p.rows->insert(fresh.positions, reinterpret_cast<const std::byte*>(fresh.values.data()),
                   reinterpret_cast<const std::byte*>(fresh.state.data()));
  }
  return {};
}

// ---- reading

template <class T>
result<void> typed_table<T>::pull(span<const position> positions, void* out,
                                  const overwritten* before) const {
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  std::vector<row_slot> slots;
  if (auto known = locate(*parts, positions, slots); !known) return known;
  T* to = static_cast<T*>(out);
  for (const auto& p : *parts)
    for (std::size_t i = p.from; i < p.from + p.count; ++i) {
      if (slots[i] == absent_row)
        init_.fill(spec_.keys.key_at(positions[i]), to + i * width_, width_);
      else
        std::memcpy(to + i * width_, values_of(*p.rows, slots[i]), width_ * sizeof(T));
    }
  if (before) before->restore(positions, width_ * sizeof(T), static_cast<std::byte*>(out));
  return {};
}

template <class T>
table_rows typed_table<T>::read_range(closed_range range, std::uint64_t limit,
                                      bool with_state) const {
  table_rows out;
  std::vector<placed_row> placed;
  const auto append = [&](std::vector<std::byte>& to, const std::byte* from, std::size_t size) {
    to.insert(to.end(), from, from + size);
  };
  for (const auto& piece : pieces_) {
    const auto before = placed.size();
    piece->list(range, limit + 1, placed);
    for (auto i = before; i < placed.size(); ++i) {
      if (i == limit) {
        out.next = placed[i].at;
        return out;
      }
      const auto slot = placed[i].slot;
      out.positions.push_back(placed[i].at);
      append(out.values, reinterpret_cast<const std::byte*>(values_of(*piece, slot)),
             width_ * sizeof(T));
      if (with_state && state_width_ > 0)
        append(out.state, reinterpret_cast<const std::byte*>(state_of(*piece, slot)),
               state_width_ * sizeof(T));
    }
  }
  return out;
}

template <class T>
std::size_t typed_table<T>::rows() const {
  std::size_t all = 0;
  for (const auto& piece : pieces_) all += piece->rows();
  return all;
}

template <class T>
std::size_t typed_table<T>::live_bytes() const {
  std::size_t all = 0;
  for (const auto& piece : pieces_) all += piece->live_bytes();
  return all;
}

template class typed_table<float>;
template class typed_table<double>;

}  // namespace troupe
