#include "sim/report/page.hpp"

#include <cassert>
#include <string_view>

#include "sim/report/assets.hpp"

namespace troupe::sim {
namespace {

using mark = std::pair<std::string_view, std::string_view>;  // "{{title}}" and what stands for it

// In one pass over the template: what is put in may hold anything, a mark too.
std::string filled(std::string_view rest, const std::vector<mark>& marks) {
  std::string page;
  for (const auto& [name, text] : marks) {
    const auto at = rest.find(name);
    assert(at != std::string_view::npos);  // the marks come in the template's order
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + name.size());
  }
  return page += rest;
}

std::string as_html(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  return out;
}

}  // namespace

bool page_is_built_in() {
  return true;
}

result<std::string> report_page(const run_record& run, const page_facts& facts) {
  const auto title = as_html(facts.title);
  const auto data = page_data(run, facts);
  return filled(assets::page_html(), {{"{{title}}", title},
                                      {"{{style}}", assets::page_css()},
                                      {"{{data}}", data},
                                      {"{{library}}", assets::chart_js()},
                                      {"{{script}}", assets::page_js()}});
}

}  // namespace troupe::sim
