#include "sim/report/page.hpp"

#include "sim/report/assets.hpp"

namespace troupe::sim {
namespace {

void put(std::string& page, std::string_view mark, std::string_view text) {
  const auto at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), text);
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
  std::string page(assets::page_html());
  // The data last: they may hold anything, a mark too.
  put(page, "{{title}}", as_html(facts.title));
  put(page, "{{style}}", assets::page_css());
  put(page, "{{library}}", assets::chart_js());
  put(page, "{{script}}", assets::page_js());
  put(page, "{{data}}", page_data(run, facts));
  return page;
}

}  // namespace troupe::sim
