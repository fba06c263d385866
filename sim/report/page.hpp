#pragma once
// A virtual run as one self-contained HTML page: the cluster's timeline, who spent how much on
// what, the objective over time, the staleness of pulls, the traffic, the events. It refers to
// nothing outside itself: style, script and the chart library (Chart.js) are in it.
//
// A pure function of its arguments, byte for byte.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sim/record/run_record.hpp"

namespace troupe::sim {

// Bytes that a filter left of a table's pushes or pulls.
struct page_filter {
  std::string traffic, step;  // "weights, pushes"; "raw" or the filter
  std::uint64_t by_workers = 0, by_servers = 0;
};

struct page_facts {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;  // name and value, in this order
  std::vector<page_filter> filters = {};                  // in the order in which they work
};

// False where the build left the pages out (-DTROUPE_REPORT=OFF).
bool page_is_built_in();

// errc::bad_usage where pages were left out.
result<std::string> report_page(const run_record& run, const page_facts& facts);

// What the page's script draws, as JSON without "</".
std::string page_data(const run_record& run, const page_facts& facts);

}  // namespace troupe::sim
