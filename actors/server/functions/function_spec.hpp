#pragma once
// Which function a table applies its pushes with, and that function's numbers.

#include <map>
#include <string>

#include "actors/server/functions/rate_schedule.hpp"

namespace troupe {

enum class clipping {
  none,
  value,  // each pushed value is cut to within plus and minus `clip_at`
  norm,   // the pushed values of each key are shortened to the Euclidean length `clip_at`; a norm
          // over more keys would depend on how they are spread over servers
};

struct function_spec {
  std::string name = "sgd";
  std::map<std::string, double> parameters;  // those left out have the function's defaults
  rate_schedule rate;                        // for functions that use a rate
  double l1 = 0;                             // penalty l1 * sum |w| + l2 / 2 * sum w^2,
  double l2 = 0;                             // on the scale of the sum of losses
  clipping clip = clipping::none;
  double clip_at = 0;
};

}  // namespace troupe
