#pragma once
// What is shown of a run: a timeline as text or as a page, and JUnit's XML of many.

#include <string>
#include <vector>

#include "apps/chaos/outcome.hpp"

namespace troupe::chaos {

// One line to each thing that happened, in order: faults, what befell nodes, what broke.
std::string timeline_text(const std::string& title, const run_outcome& outcome);
// The same as a page of its own: a lane to each node, faults as bands over them.
std::string timeline_page(const std::string& title, const run_outcome& outcome);

struct tested {
  std::string name;
  double seconds = 0;
  std::string failure;  // empty: it passed
};
std::string junit_xml(const std::vector<tested>& cases);

}  // namespace troupe::chaos
