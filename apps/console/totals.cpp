#include "apps/console/totals.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::console {

std::optional<double> totals::mean_loss() const {
  if (!(weight > 0)) return std::nullopt;
  return loss / weight;
}

std::optional<double> totals::examples_per_second() const {
  if (!(training_seconds > 0)) return std::nullopt;
  return static_cast<double>(examples) / training_seconds;
}

totals totals_of(const pb::JobStatus& status) {
  totals sum;
  for (const auto& slot : status.slots()) {
    sum.examples += slot.examples();
    sum.clocks_done += slot.clock();
    sum.clocks += slot.clocks();
    sum.loss += slot.loss();
    sum.weight += slot.weight();
    sum.bytes_pushed += slot.bytes_pushed();
    sum.bytes_pulled += slot.bytes_pulled();
    sum.rejected += slot.rejected();
    sum.max_staleness = std::max(sum.max_staleness, slot.max_staleness());
    const auto buckets = static_cast<std::size_t>(slot.staleness_size());
    if (sum.staleness.size() < buckets) sum.staleness.resize(buckets);
    for (std::size_t i = 0; i < buckets; ++i)
      sum.staleness[i] += slot.staleness(static_cast<int>(i));
  }
  for (const auto& table : status.tables()) {
    sum.nonzeros += table.nonzeros();
    sum.rows += table.rows();
  }
  sum.training_seconds = static_cast<double>(status.training_ns()) * 1e-9;
  return sum;
}

std::optional<double> metric(const pb::JobStatus& status, std::string_view name) {
  for (const auto& m : status.metrics())
    if (m.name() == name && m.known() && std::isfinite(m.value())) return m.value();
  return std::nullopt;
}

}  // namespace troupe::console
