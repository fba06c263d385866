#pragma once
// What no single key of a job can tell: how its values fit together.

#include <string>
#include <vector>

#include "config/job.pb.h"

namespace troupe::config {

struct misfit {
  std::string key;  // the one to change, of those concerned
  std::string text;
};

// Of a job whose defaults are filled in. The order is that of the schema.
std::vector<misfit> misfits_of(const Job& job);

}  // namespace troupe::config
