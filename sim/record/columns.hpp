#pragma once
// The nodes' activity over a run whose length is not known beforehand, in bounded memory: at most
// `most` columns of equal width, which is doubled, and neighbours added up, when the run outgrows
// them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/record/run_record.hpp"

namespace troupe::sim {

enum class activity : std::uint8_t { compute, transfer, wait };

class columns {
 public:
  static constexpr std::size_t most = 512;

  columns(std::size_t nodes, duration first_width) : width_(first_width.count()), nodes_(nodes) {}

  // From `from` to `to`, counted from the run's begin, a node did this.
  void add(std::size_t node, activity what, std::int64_t from, std::int64_t to);
  timeline result() const;

 private:
  void widen();

  std::int64_t width_;
  std::vector<std::vector<std::array<std::int64_t, 3>>> nodes_;
};

}  // namespace troupe::sim
