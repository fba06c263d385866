#include "apps/console/evaluation_line.hpp"

#include <algorithm>

#include "apps/console/json.hpp"
#include "core/text.hpp"

namespace troupe::console {

std::string json_line(const pb::EvaluationRecord& record) {
  json_object o;
  o.add("evaluation", json::of(std::uint64_t{record.number()}));
  o.add("final", json::of(record.final()));
  o.add("clock", json::of(std::uint64_t{record.clock()}));
  o.add("epoch", json::of(record.epoch()));
  o.add("examples", json::of(std::uint64_t{record.examples()}));
  o.add("training_seconds", json::of(static_cast<double>(record.training_ns()) * 1e-9));
  o.add("progressive_loss",
        record.progressive_known() ? json::of(record.progressive_loss()) : json());
  o.add("nonzeros", json::of(std::uint64_t{record.nonzeros()}));
  if (record.penalty() > 0) {  // of a solver on its course
    o.add("penalty", json::of(record.penalty()));
    o.add("arrived", json::of(record.arrived()));
  }
  o.add("best", json::of(record.best()));
  for (const auto& m : record.metrics())
    if (!o.has(m.name())) o.add(m.name(), m.known() ? json::of(m.value()) : json());
  return o.value().text() + "\n";
}

std::string text_line(const pb::EvaluationRecord& record) {
  constexpr int most_shown = 3;  // the whole of it is in the history
  auto text = format("evaluation %u, epoch %.2f", record.number(), record.epoch());
  if (record.progressive_known()) text += format(", loss %.5f", record.progressive_loss());
  int shown = 0;
  for (const auto& m : record.metrics()) {
    if (!m.known() || shown == most_shown) continue;
    auto name = m.name();
    std::replace(name.begin(), name.end(), '_', ' ');
    text += (shown++ == 0 ? "; " : ", ") + name + format(" %.5f", m.value());
  }
  return text;
}

}  // namespace troupe::console
