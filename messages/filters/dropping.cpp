// Filters that leave rows out.
//
// significant   (Li et al., OSDI 2014, section 3.4) rows that have changed enough: what is pushed
//               to a key adds up at the worker until its largest magnitude reaches `threshold`, or
//               `relative` times the push's largest. What is not sent is kept, and comes later: at
//               no time is more than the threshold of a key outstanding at a worker. It is lost
//               with the worker, and all of it is sent in the slot's last clock.
// random_skip   each row is left out with probability `skip`, and else divided by 1 - skip: the
//               expectation stays. By size (Wangni, Wang, Liu and Zhang, NIPS 2018, algorithm 2)
//               the larger a row's largest number, the more probably it is sent, and the share
//               `skip` is left out on average: for rows of one number, of all ways that keep the
//               expectation this is the one that deviates least.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
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

  void apply(payload& rows, const filter_moment& when) override {
    if (when.final) place_.doubles ? add_the_rest<double>(rows) : add_the_rest<float>(rows);
    place_.doubles ? apply_to<double>(rows, when.final) : apply_to<float>(rows, when.final);
  }

 private:
  // Rows of zeros for the keys that have a residue and are not pushed to.
  template <class T>
  void add_the_rest(payload& rows) {
    const auto positions = rows.keys.as<position>();
    const auto width = std::size_t{place_.numbers};
    std::vector<position> all(positions.begin(), positions.end());
    for (const auto& [key, residue] : residues_) all.push_back(key);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<T> numbers(all.size() * width);
    std::size_t i = 0;
    for (std::size_t p = 0; p < positions.size(); ++p, ++i) {
      while (all[i] != positions[p]) ++i;
      std::memcpy(&numbers[i * width], rows.values.as<T>().data() + p * width, width * sizeof(T));
    }
    rows.keys = blob::copy_of(span<const position>(all));
    rows.values = blob::copy_of(span<const T>(numbers));
  }

  template <class T>
  void apply_to(payload& rows, bool all) {
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
    const double least = all ? 0 : std::max(threshold_, relative_ * of_push);
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
  std::map<position, std::vector<double>> residues_;
};

class random_skip final : public value_filter {
 public:
  random_skip(const filter_numbers& numbers, const filter_place& place)
      : place_(place), skip_(numbers.at("skip")), by_size_(numbers.at("by_size") > 0) {}

  void apply(payload& rows, const filter_moment& when) override {
    const auto seed = seed_of(when.seed, when.slot, when.clock, when.index, 0x736b6970);
    place_.doubles ? apply_to<double>(rows, seed) : apply_to<float>(rows, seed);
  }

 private:
  template <class T>
  void apply_to(payload& rows, std::uint64_t seed) {
    const auto in = rows.values.as<T>();
    const auto positions = rows.keys.as<position>();
    const auto width = std::size_t{place_.numbers};
    const auto sizes = by_size_ ? sizes_of(in) : std::vector<double>();
    const double sure = by_size_ ? surely_sent(sizes) : 0;
    std::vector<std::uint32_t> kept;
    std::vector<T> scaled(in.begin(), in.end());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const double sent = !by_size_ ? 1 - skip_ : sizes[i] >= sure ? 1 : sizes[i] / sure;
      if (unit_interval(splitmix64(seed ^ positions[i])) >= sent) continue;
      kept.push_back(static_cast<std::uint32_t>(i));
      for (std::size_t j = i * width; j < (i + 1) * width; ++j)
        scaled[j] = static_cast<T>(static_cast<double>(in[j]) / sent);
    }
    rows = kept_rows<T>(rows, scaled, kept, width);
  }

  // The largest magnitude of each row.
  template <class T>
  std::vector<double> sizes_of(span<const T> in) const {
    const auto width = std::size_t{place_.numbers};
    std::vector<double> sizes(in.size() / width);
    for (std::size_t i = 0; i < in.size(); ++i)
      sizes[i / width] = std::max(sizes[i / width], std::fabs(static_cast<double>(in[i])));
    return sizes;
  }

  // The size from which on a row is sent for certain, if smaller ones are sent with probability
  // size / that, and as many as are to be sent are to be expected.
  double surely_sent(std::vector<double> sizes) const {
    const double wanted = (1 - skip_) * static_cast<double>(sizes.size());
    std::sort(sizes.begin(), sizes.end());
    double below = 0;  // sum of the sizes of those that may be left out
    for (const double size : sizes) below += size;
    for (auto n = sizes.size(); n > 0; --n) {
      // With those from n on certain, the others get what is left of the wanted.
      const double rest = wanted - static_cast<double>(sizes.size() - n);
      if (rest <= 0) break;
      const double sure = below / rest;
      if (sizes[n - 1] <= sure) return sure;
      below -= sizes[n - 1];
    }
    return sizes.empty() ? 0 : sizes.back();
  }

  const filter_place place_;
  const double skip_;
  const bool by_size_;
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
  entry.parameters = {{"skip", 0.5, 0, 0.999}, {"by_size", 0, 0, 1}};
  entry.make_value = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<random_skip>(n, p);
  };
  return entry;
}

}  // namespace troupe
