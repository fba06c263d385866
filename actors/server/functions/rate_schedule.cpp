#include "actors/server/functions/rate_schedule.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/math.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

const std::vector<std::pair<std::string, decay_kind>>& words() {
  static const std::vector<std::pair<std::string, decay_kind>> all = {
      {"constant", decay_kind::constant}, {"inverse_sqrt", decay_kind::inverse_sqrt},
      {"inverse", decay_kind::inverse},   {"exponential", decay_kind::exponential},
      {"step", decay_kind::step},
  };
  return all;
}

double decayed(const rate_schedule& s, std::uint64_t clock) {
  const double units = static_cast<double>(clock) / s.decay;
  switch (s.kind) {
    case decay_kind::constant:
      return s.rate;
    case decay_kind::inverse_sqrt:
      return s.rate / std::sqrt(1 + units);
    case decay_kind::inverse:
      return s.rate / (1 + units);
    case decay_kind::exponential:
      return s.rate * math::pow(s.gamma, units);
    case decay_kind::step:
      return s.rate * math::pow(s.gamma, std::floor(units));
  }
  return s.rate;
}

}  // namespace

double rate_at(const rate_schedule& s, std::uint64_t clock) {
  const double rate = decayed(s, clock);
  if (clock >= s.warmup) return rate;
  return rate * ((static_cast<double>(clock) + 1) / (static_cast<double>(s.warmup) + 1));
}

result<decay_kind> decay_kind_of(std::string_view word) {
  std::vector<std::string> known;
  for (const auto& [name, kind] : words()) {
    if (name == word) return kind;
    known.push_back(name);
  }
  const auto near = nearest(word, known);
  return error{errc::bad_config, "unknown schedule '" + std::string(word) + "'" +
                                     (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

result<void> check(const rate_schedule& s) {
  const auto wrong = [](const char* name, double value, const char* must) {
    return error{errc::bad_config, format("%s is %g; it must be %s", name, value, must)};
  };
  if (!std::isfinite(s.rate) || s.rate <= 0) return wrong("the rate", s.rate, "above 0");
  if (!std::isfinite(s.decay) || s.decay <= 0)
    return wrong("the schedule's decay", s.decay, "above 0");
  const bool fades = s.gamma > 0 && s.gamma <= 1;
  if (!fades) return wrong("the schedule's gamma", s.gamma, "above 0 and at most 1");
  return {};
}

}  // namespace troupe
