#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.hpp"
#include "sim/report/page.hpp"

namespace troupe::sim {
namespace {

constexpr std::size_t most_links = 20;  // shown one by one
constexpr std::size_t most_events = 1000;

// Valid in a script element too: "<" is escaped, so that no text ends the element.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '<' || static_cast<unsigned char>(c) < 0x20)
      out += format("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

// The shortest digits that read back as the same number; null where JSON has no word for it, as for
// the objective of a model that diverged.
std::string number(double x) {
  if (!std::isfinite(x)) return "null";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;
  return {digits, end};
}
std::string number(std::uint64_t x) {
  return std::to_string(x);
}
std::string seconds(duration d) {
  return number(seconds_of(d));
}

template <class Items, class Render>
std::string list(const Items& items, Render render) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += render(item);
  }
  return out + "]";
}

// Two characters a column: the 63rds of it that were compute, and transfer; the rest was waiting.
std::string encoded(const std::vector<activity_times>& row) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  out.reserve(2 * row.size());
  for (const auto& c : row) {
    const auto whole = std::max<std::int64_t>(1, c.total().count());
    out += digits[(63 * c.compute.count() + whole / 2) / whole];
    out += digits[(63 * c.transfer.count() + whole / 2) / whole];
  }
  return out;
}

std::string nodes_of(const run_record& run) {
  std::string out = "[";
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const auto& n = run.nodes[i];
    if (i > 0) out += ",\n";
    out += "[" + quoted(n.name) + "," + quoted(n.zone) + "," + seconds(n.times.compute) + "," +
           seconds(n.times.transfer) + "," + seconds(n.times.wait) + "," +
           quoted(i < run.bars.nodes.size() ? encoded(run.bars.nodes[i]) : "") + "]";
  }
  return out + "]";
}

std::string traffic_of(const std::string& name, const traffic& t) {
  return "[" + name + "," + number(t.messages) + "," + number(t.bytes) + "," + number(t.lost) +
         "," + number(t.duplicated) + "]";
}

std::string links_of(const run_record& run) {
  using entry = std::pair<std::pair<std::string, std::string>, traffic>;
  std::vector<entry> all(run.by_link.begin(), run.by_link.end());
  const auto shown = std::min(most_links, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), all.end(),
                    [](const entry& a, const entry& b) {
                      return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes
                                                              : a.first < b.first;
                    });
  traffic rest;
  for (std::size_t i = shown; i < all.size(); ++i) rest += all[i].second;
  const auto others = all.size() - shown;
  all.resize(shown);
  auto out = list(all, [](const entry& e) {
    return traffic_of(quoted(e.first.first + " to " + e.first.second), e.second);
  });
  if (others == 0) return out;
  out.pop_back();
  return out + "," + traffic_of(quoted(human_count(others) + " other links"), rest) + "]";
}

}  // namespace

std::string page_data(const run_record& run, const page_facts& facts) {
  std::string out = "{\"title\":" + quoted(facts.title);
  out += ",\"facts\":" + list(facts.rows, [](const auto& row) {
           return "[" + quoted(row.first) + "," + quoted(row.second) + "]";
         });
  out += ",\"filters\":" + list(facts.filters, [](const page_filter& f) {
           return "[" + quoted(f.traffic) + "," + quoted(f.step) + "," + number(f.by_workers) +
                  "," + number(f.by_servers) + "]";
         });
  out += ",\"seconds\":" + seconds(run.virtual_time);
  out += ",\"column\":" + seconds(run.bars.column);
  out += ",\"nodes\":" + nodes_of(run);
  out += ",\"kinds\":" +
         list(run.by_kind, [](const auto& k) { return traffic_of(quoted(k.first), k.second); });
  out += ",\"links\":" + links_of(run);
  out += ",\"objective\":" + list(run.objective, [](const objective_point& p) {
           return "[" + seconds(p.at) + "," + number(p.clocks) + "," + number(p.examples) + "," +
                  number(p.objective) + "]";
         });
  out += ",\"staleness\":" + list(run.staleness, [](std::uint64_t pulls) { return number(pulls); });
  std::vector<event> shown(
      run.events.begin(),
      run.events.begin() + static_cast<std::ptrdiff_t>(std::min(most_events, run.events.size())));
  out += ",\"events\":" + list(shown, [](const event& e) {
           return "[" + seconds(e.at) + "," + quoted(e.node) + "," + quoted(e.text) + "]";
         });
  out += ",\"moreEvents\":" +
         number(std::uint64_t{run.events.size() - shown.size()} + run.events_dropped);
  return out + "}";
}

}  // namespace troupe::sim
