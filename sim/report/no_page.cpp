// Stands in for page.cpp in a build without pages.
#include "sim/report/page.hpp"

namespace troupe::sim {

bool page_is_built_in() {
  return false;
}

result<std::string> report_page(const run_record&, const page_facts&) {
  return error{errc::bad_usage, "this troupe was built without pages (-DTROUPE_REPORT=OFF)"};
}

}  // namespace troupe::sim
