#pragma once
// The files that a page is made of, put into the program when it is built.

#include <string_view>

namespace troupe::sim::assets {

std::string_view page_html();
std::string_view page_css();
std::string_view page_js();
std::string_view chart_js();  // Chart.js, MIT licence

}  // namespace troupe::sim::assets
