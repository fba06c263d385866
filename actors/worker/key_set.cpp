#include "actors/worker/key_set.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/text.hpp"

namespace troupe {
namespace {

struct placed {
  position at;
  std::uint32_t index;  // in the caller's order
};

// Least-significant-digit radix sort: stable, so that repeated keys stay in the caller's order.
void radix_sort(std::vector<placed>& items) {
  constexpr int digit_bits = 11;
  constexpr std::size_t buckets = std::size_t{1} << digit_bits;
  if (items.size() < 2048) {
    std::stable_sort(items.begin(), items.end(),
                     [](const placed& a, const placed& b) { return a.at < b.at; });
    return;
  }
  std::vector<placed> other(items.size());
  for (int shift = 0; shift < 64; shift += digit_bits) {
    std::array<std::size_t, buckets> starts{};
    for (const auto& item : items) ++starts[(item.at >> shift) & (buckets - 1)];
    if (starts[(items[0].at >> shift) & (buckets - 1)] == items.size()) continue;
    std::size_t sum = 0;
    for (auto& start : starts) sum += std::exchange(start, sum);
    for (const auto& item : items) other[starts[(item.at >> shift) & (buckets - 1)]++] = item;
    items.swap(other);
  }
}

}  // namespace

result<key_set> key_set::of(const partitioning& how, span<const key_id> keys) {
  key_set made;
  made.asked_ = keys.size();
  auto [bytes, writable] = blob::uninitialised(keys.size() * sizeof(position));
  auto* out = reinterpret_cast<position*>(writable);
  bool ascending = true;
  position previous = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!how.contains(keys[i]))
      return error{errc::bad_request, format("key %llu is outside the table's range %llu..%llu",
                                             static_cast<unsigned long long>(keys[i]),
                                             static_cast<unsigned long long>(how.bounds().first),
                                             static_cast<unsigned long long>(how.bounds().last))};
    out[i] = how.position_of(keys[i]);
    ascending = ascending && (i == 0 || previous < out[i]);
    previous = out[i];
  }
  if (ascending) {
    made.positions_ = std::move(bytes);
    return made;
  }

  std::vector<placed> items(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) items[i] = {out[i], static_cast<std::uint32_t>(i)};
  radix_sort(items);
  made.places_.resize(keys.size());
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || items[i].at != items[i - 1].at) out[distinct++] = items[i].at;
    made.places_[items[i].index] = static_cast<std::uint32_t>(distinct - 1);
  }
  made.positions_ = distinct == keys.size() ? std::move(bytes)
                                            : blob::copy_of(span<const position>(out, distinct));
  return made;
}

blob key_set::to_caller_order(const blob& rows, std::size_t row_bytes) const {
  if (places_.empty()) return rows;
  auto [bytes, writable] = blob::uninitialised(places_.size() * row_bytes);
  for (std::size_t i = 0; i < places_.size(); ++i)
    std::memcpy(writable + i * row_bytes, rows.data() + places_[i] * row_bytes, row_bytes);
  return bytes;
}

template <class T>
blob key_set::to_position_order(const blob& rows, std::size_t width) const {
  if (places_.empty()) return rows;
  auto [bytes, writable] = blob::uninitialised(size() * width * sizeof(T));
  auto* out = reinterpret_cast<T*>(writable);
  const auto in = rows.as<T>();
  std::vector<bool> begun(size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto place = places_[i];
    for (std::size_t w = 0; w < width; ++w) {
      auto& sum = out[place * width + w];
      sum = begun[place] ? sum + in[i * width + w] : in[i * width + w];
    }
    begun[place] = true;
  }
  return bytes;
}

template blob key_set::to_position_order<float>(const blob&, std::size_t) const;
template blob key_set::to_position_order<double>(const blob&, std::size_t) const;

}  // namespace troupe
