#include "actors/worker/plan.hpp"

#include <algorithm>

namespace troupe {

client_settings client_settings_of(const pb::JobPlan& plan) {
  const auto& t = plan.timings();
  client_settings s;
  s.request_timeout = duration(t.request_timeout());
  s.hold = duration(t.hold());
  s.patience = duration(t.patience());
  s.backoff = duration(t.backoff());
  s.backoff_limit = duration(t.backoff_limit());
  s.pull_retries = t.pull_retries();
  s.bulk_synchronous = plan.bounded() && plan.staleness() == 0;
  return s;
}

std::uint32_t window_of(const pb::JobPlan& plan) {
  constexpr std::uint64_t most = 1024;
  std::uint64_t window = std::max(2u, plan.timings().window());
  for (const auto& t : plan.tables())
    if (plan.bounded() && t.combine() != "each")
      window = std::max(window, std::min(most, plan.staleness() + 1));
  return static_cast<std::uint32_t>(window);
}

std::vector<value_chain> push_filters_of(const pb::JobPlan& plan) {
  std::vector<value_chain> all;
  bool any = false;
  for (const auto& t : plan.tables()) {
    all.emplace_back(t, direction::push);
    any = any || !all.back().empty();
  }
  if (!any) all.clear();
  return all;
}

bool has_filters(const pb::JobPlan& plan) {
  return std::any_of(plan.tables().begin(), plan.tables().end(), [](const pb::TableSpec& t) {
    return t.push_filters_size() + t.pull_filters_size() > 0;
  });
}

std::vector<table_shape> table_shapes_of(const pb::JobPlan& plan) {
  std::vector<table_shape> shapes;
  for (const auto& t : plan.tables()) {
    table_shape shape;
    shape.name = t.name();
    if (t.by_range()) shape.keys = partitioning::by_range({t.first_key(), t.last_key()});
    shape.width = t.width();
    shape.doubles = t.value_type() == "f64";
    shape.additive = !t.not_additive();
    shape.pushes = std::max(1u, t.pushes());
    shape.shows = t.shows();
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace troupe
