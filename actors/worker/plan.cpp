#include "actors/worker/plan.hpp"

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

std::vector<table_shape> table_shapes_of(const pb::JobPlan& plan) {
  std::vector<table_shape> shapes;
  for (const auto& t : plan.tables()) {
    table_shape shape;
    shape.name = t.name();
    if (t.by_range()) shape.keys = partitioning::by_range({t.first_key(), t.last_key()});
    shape.width = t.width();
    shape.doubles = t.value_type() == "f64";
    shape.additive = !t.not_additive();
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace troupe
