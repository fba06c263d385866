#pragma once
// The shortest decimal text that is read as exactly this finite number, valid in TOML: "0.1",
// "1e-08", "5".

#include <string>

namespace troupe::config {

std::string number_text(double value);

}  // namespace troupe::config
