// Filters that leave rows out.
//
// significant   (Li et al., OSDI 2014, section 3.4) rows that have changed enough: what is pushed
// to
//               a key adds up at the worker until its largest magnitude reaches `threshold`, or
//               `relative` times the push's largest. What is not sent is kept, and comes later: at
//               no time is more than the threshold of a key outstanding at a worker. It is lost
//               with the worker.
// random_skip   each row is left out with probability `skip`, and else divided by 1 - skip: the
//               expectation stays.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/random.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

// The rows of `from` that are kept, which `numbers` may have changed.
template <class T>
payload kept_rows(const payload& from, span<const T> numbers,
                  const std::vector<std::uint32_t>& kept, std::size_t width) {
  auto [keys, keys_out] = blob::uninitialised(kept.size() * sizeof(position));
  auto [values, values_out] = blob::uninitialised(kept.size() * width * sizeof(T));
  const auto positions = from.keys.as<position>();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::memcpy(keys_out + i * sizeof(position), &positions[kept[i]], sizeof(position));
    std::memcpy(values_out + i * width * sizeof(T), &numbers[kept[i] * width], width * sizeof(T));
  }
  return {std::move(keys), std::move(values)};
}

class significant final : public value_filter {
 public:
  significant(const filter_numbers& numbers, const filter_place& place)
      : place_(place), threshold_(numbers.at("threshold")), relative_(numbers.at("relative")) {}

  void apply(payload& rows, const filter_moment&) override {
    place_.doubles ? apply_to<double>(rows) : apply_to<float>(rows);
  }

 private:
  template <class T>
  void apply_to(payload& rows) {
    const auto positions = rows.keys.as<position>();
    const auto width = std::size_t{place_.numbers};
    std::vector<T> sums(rows.values.as<T>().begin(), rows.values.as<T>().end());
    std::vector<double> largest(positions.size());
    double of_push = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      T* row = sums.data() + i * width;
      if (const auto before = residues_.find(positions[i]); before != residues_.end())
        for (std::size_t j = 0; j < width; ++j) row[j] += static_cast<T>(before->second[j]);
      for (std::size_t j = 0; j < width; ++j)
        largest[i] = std::max(largest[i], static_cast<double>(std::fabs(row[j])));
      of_push = std::max(of_push, largest[i]);
    }
    const double least = std::max(threshold_, relative_ * of_push);
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const T* row = sums.data() + i * width;
      if (largest[i] >= least && largest[i] > 0) {
        kept.push_back(static_cast<std::uint32_t>(i));
        residues_.erase(positions[i]);
      } else if (largest[i] > 0) {
        residues_[positions[i]].assign(row, row + width);
      } else {
        residues_.erase(positions[i]);
      }
    }
    rows = kept_rows<T>(rows, sums, kept, width);
  }

  const filter_place place_;
  const double threshold_, relative_;
  std::unordered_map<position, std::vector<double>> residues_;
};

class random_skip final : public value_filter {
 public:
  random_skip(const filter_numbers& numbers, const filter_place& place)
      : place_(place), skip_(numbers.at("skip")) {}

  void apply(payload& rows, const filter_moment& when) override {
    const auto seed = seed_of(when.seed, when.slot, when.clock, when.index, 0x736b6970);
    place_.doubles ? apply_to<double>(rows, seed) : apply_to<float>(rows, seed);
  }

 private:
  template <class T>
  void apply_to(payload& rows, std::uint64_t seed) {
    const auto in = rows.values.as<T>();
    const auto positions = rows.keys.as<position>();
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (unit_interval(splitmix64(seed ^ positions[i])) >= skip_)
        kept.push_back(static_cast<std::uint32_t>(i));
    std::vector<T> scaled(in.begin(), in.end());
    for (auto& x : scaled) x = static_cast<T>(static_cast<double>(x) / (1 - skip_));
    rows = kept_rows<T>(rows, scaled, kept, place_.numbers);
  }

  const filter_place place_;
  const double skip_;
};

}  // namespace

filter_entry significant_entry() {
  filter_entry entry;
  entry.name = "significant";
  entry.parameters = {{"threshold", 0, 0, 1e300}, {"relative", 0, 0, 1}};
  entry.keeps_residue = true;
  entry.make_value = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<significant>(n, p);
  };
  return entry;
}

filter_entry random_skip_entry() {
  filter_entry entry;
  entry.name = "random_skip";
  entry.parameters = {{"skip", 0.5, 0, 0.999}};
  entry.make_value = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<random_skip>(n, p);
  };
  return entry;
}

}  // namespace troupe
