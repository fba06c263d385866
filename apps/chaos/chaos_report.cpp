#include "apps/chaos/chaos_report.hpp"

#include <algorithm>
#include <map>

#include "core/text.hpp"

namespace troupe::chaos {
namespace {

double ms_of(duration d) {
  return seconds_of(d) * 1e3;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  return out;
}

constexpr const char* style = R"(
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
h1 { font-size: 1.3em; } .broken { color: #b00020; font-weight: 600; }
svg { background: #fafafa; border: 1px solid #ddd; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; }
table { border-collapse: collapse; margin-top: 1em; } td { padding: 1px 10px 1px 0; vertical-align: top; }
td.at { text-align: right; font-variant-numeric: tabular-nums; color: #666; }
tr.fault td { color: #8a4b00; } tr.broken td { color: #b00020; font-weight: 600; }
)";

struct line {
  duration at{};
  std::string node, text;
  enum class kind { happening, fault, broken } what = kind::happening;
};

std::vector<line> lines_of(const run_outcome& o) {
  std::vector<line> lines;
  for (const auto& h : o.happenings) lines.push_back({h.at, h.node, h.text, line::kind::happening});
  for (const auto& f : o.faults) {
    if (!f.withheld.empty()) {
      lines.push_back(
          {f.from, "", "[" + f.text + "] is left out: " + f.withheld, line::kind::fault});
      continue;
    }
    lines.push_back({f.from, "", "[" + f.text + "] begins", line::kind::fault});
    if (f.to > f.from) lines.push_back({f.to, "", "[" + f.text + "] is over", line::kind::fault});
  }
  for (const auto& v : o.violations)
    lines.push_back(
        {duration(v.at.ns), "", "BROKEN: " + v.promise + ": " + v.text, line::kind::broken});
  std::stable_sort(lines.begin(), lines.end(),
                   [](const line& a, const line& b) { return a.at < b.at; });
  return lines;
}

}  // namespace

std::string timeline_text(const std::string& title, const run_outcome& o) {
  auto text = title + "\n";
  for (const auto& l : lines_of(o))
    text += format("%11.3f ms  %-11s %s\n", ms_of(l.at), l.node.c_str(), l.text.c_str());
  return text + format("%11.3f ms  the job %s%s\n", ms_of(o.took),
                       o.finished ? "has finished" : "has not finished: ", o.text.c_str());
}

std::string timeline_page(const std::string& title, const run_outcome& o) {
  constexpr double left = 90, width = 1000, lane = 26, top = 20;
  const auto height = top + lane * static_cast<double>(o.nodes.size()) + 24;
  const auto all = std::max(1e-9, ms_of(o.took));
  const auto x = [&](duration d) { return left + width * std::min(1.0, ms_of(d) / all); };
  std::map<std::string, double> y;
  std::string drawn;
  for (std::size_t i = 0; i < o.nodes.size(); ++i) {
    const auto at = top + lane * static_cast<double>(i);
    y[o.nodes[i]] = at;
    drawn += format(
        "<text x=\"4\" y=\"%.1f\">%s</text><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
        "y2=\"%.1f\" stroke=\"#ccc\"/>\n",
        at + 16, escaped(o.nodes[i]).c_str(), left, left + width, at + 12, at + 12);
  }
  for (const auto& f : o.faults) {
    if (!f.withheld.empty()) continue;
    for (const auto& node : f.nodes)
      if (y.count(node))
        drawn += format(
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"20\" fill=\"#e8731a\" "
            "fill-opacity=\"0.35\"><title>%s, %.3f to %.3f ms</title></rect>\n",
            x(f.from), y[node] + 2, std::max(2.0, x(f.to) - x(f.from)), escaped(f.text).c_str(),
            ms_of(f.from), ms_of(f.to));
  }
  for (const auto& h : o.happenings)
    if (y.count(h.node))
      drawn += format(
          "<circle cx=\"%.2f\" cy=\"%.1f\" r=\"2.5\" fill=\"#3367d6\"><title>%.3f ms: "
          "%s</title></circle>\n",
          x(h.at), y[h.node] + 12, ms_of(h.at), escaped(h.text).c_str());
  for (const auto& v : o.violations)
    drawn += format(
        "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%.1f\" stroke=\"#b00020\" "
        "stroke-width=\"2\"><title>%s</title></line>\n",
        x(duration(v.at.ns)), x(duration(v.at.ns)), height, escaped(v.text).c_str());
  for (int tick = 0; tick <= 10; ++tick)
    drawn +=
        format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%.4g ms</text>\n",
               left + width * tick / 10, height - 6, all * tick / 10);
  std::string rows;
  for (const auto& l : lines_of(o))
    rows += format("<tr class=\"%s\"><td class=\"at\">%.3f ms</td><td>%s</td><td>%s</td></tr>\n",
                   l.what == line::kind::fault    ? "fault"
                   : l.what == line::kind::broken ? "broken"
                                                  : "",
                   ms_of(l.at), escaped(l.node).c_str(), escaped(l.text).c_str());
  std::string verdict = "<p>All promises were kept.</p>";
  if (!o.ok())
    verdict = "<p class=\"broken\">" + escaped(o.violations.front().promise) + ": " +
              escaped(o.violations.front().text) + "</p>";
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         escaped(title) + "</title><style>" + style + "</style></head><body>\n<h1>" +
         escaped(title) + "</h1>\n" + verdict +
         format(
             "\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"faults over the nodes' "
             "lanes\">\n",
             left + width + 40, height) +
         drawn + "</svg>\n<table>\n" + rows + "</table>\n</body></html>\n";
}

std::string junit_xml(const std::vector<tested>& cases) {
  std::size_t failed = 0;
  double seconds = 0;
  std::string text;
  for (const auto& c : cases) {
    seconds += c.seconds;
    text += format("  <testcase classname=\"chaos\" name=\"%s\" time=\"%.3f\"",
                   escaped(c.name).c_str(), c.seconds);
    if (c.failure.empty()) {
      text += "/>\n";
      continue;
    }
    ++failed;
    text += "><failure message=\"" + escaped(c.failure) + "\"/></testcase>\n";
  }
  return format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"troupe chaos\" "
             "tests=\"%zu\" failures=\"%zu\" time=\"%.3f\">\n",
             cases.size(), failed, seconds) +
         text + "</testsuite>\n";
}

}  // namespace troupe::chaos
