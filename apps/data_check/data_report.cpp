#include "apps/data_check/data_report.hpp"

#include <algorithm>
#include <ostream>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

void line(std::ostream& out, const char* name, const std::string& text) {
  out << format("  %-11s ", name) << text << '\n';
}

std::string number(double value) {
  return format("%.6g", value);
}

std::string counted(const distinct_count& c) {
  return (c.exact() ? "" : "at least ") + human_count(c.count());
}

std::string range_of(const value_range& r) {
  return r.least == r.most ? number(r.least) : number(r.least) + " to " + number(r.most);
}

std::string labels_of(const data_report& r) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [label, rows] : r.labels) {
    if (shown++ == 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + number(label) + ": " + human_count(rows) +
            format(" (%.2f %%)", 100 * static_cast<double>(rows) / static_cast<double>(r.rows));
  }
  return text + (r.labels_complete ? "" : ", ...");
}

}  // namespace

bool distinct_count::add(std::uint64_t hash) {
  if (hash == 0) {
    if (std::exchange(zero_, true)) return false;
    return ++count_, true;
  }
  if (2 * (count_ + 1) > seen_.size() && seen_.size() < 2 * most) {
    const auto old = std::move(seen_);
    seen_.assign(std::max<std::size_t>(1024, 2 * old.size()), 0);
    for (const auto one : old) {
      if (one == 0) continue;
      auto slot = one & (seen_.size() - 1);
      while (seen_[slot] != 0) slot = (slot + 1) & (seen_.size() - 1);
      seen_[slot] = one;
    }
  }
  auto slot = hash & (seen_.size() - 1);
  while (seen_[slot] != 0) {
    if (seen_[slot] == hash) return false;
    slot = (slot + 1) & (seen_.size() - 1);
  }
  if (count_ >= most) {
    exact_ = false;
    return false;
  }
  seen_[slot] = hash;
  return ++count_, true;
}

void data_report::add(std::string_view text, const example& row) {
  const auto features = row.features.size();
  shortest = rows == 0 ? features : std::min<std::uint64_t>(shortest, features);
  longest = std::max<std::uint64_t>(longest, features);
  ++rows;
  entries += features;
  if (row.labelled) {
    const auto found = labels.find(row.label);
    if (found != labels.end())
      ++found->second;
    else if (labels.size() < most_labels)
      labels.emplace(row.label, 1);
    else
      labels_complete = false;
  } else {
    ++unlabelled;
  }
  if (lines.exact() && !lines.add(xxh64(text, 0)) && lines.exact()) ++duplicates;
  for (const auto& f : row.features) {
    keys.add(mix(f.key));
    smallest_key = std::min(smallest_key, f.key);
    largest_key = std::max(largest_key, f.key);
    largest_field = std::max(largest_field, f.field);
    values.add(static_cast<double>(f.value));
    zeros += f.value == 0;
    ones += f.value == 1;
  }
  weights.add(row.weight);
  if (row.group) {
    ++with_group;
    groups.add(mix(*row.group));
  }
  with_id += row.id.has_value();
}

void print(const data_report& r, bool has_indices, std::uint64_t index_base, std::ostream& out) {
  if (r.rows == 0) {
    line(out, "rows", "none");
  } else {
    line(out, "rows",
         human_count(r.rows) + " with " + human_count(r.entries) + " features, " +
             human_count(r.shortest) + " to " + human_count(r.longest) +
             format(" to a row, %.1f on average",
                    static_cast<double>(r.entries) / static_cast<double>(r.rows)));
    if (r.unlabelled > 0) line(out, "unlabelled", human_count(r.unlabelled) + " rows");
    if (!r.labels.empty()) line(out, "labels", labels_of(r));
  }
  if (r.entries > 0) {
    const auto largest = static_cast<unsigned long long>(r.largest_key);
    line(out, "features",
         counted(r.keys) + " different, keys " + std::to_string(r.smallest_key) + " to " +
             std::to_string(largest) +
             (has_indices ? format(" (indices %llu to %llu)",
                                   static_cast<unsigned long long>(r.smallest_key + index_base),
                                   static_cast<unsigned long long>(largest + index_base))
                          : ""));
    if (r.largest_field > 0) line(out, "fields", format("0 to %u", r.largest_field));
    line(out, "values",
         r.ones == r.entries ? "all 1"
                             : range_of(r.values) +
                                   (r.zeros > 0 ? ", " + human_count(r.zeros) + " of them 0" : ""));
  }
  if (r.weights.any && !(r.weights.least == 1 && r.weights.most == 1))
    line(out, "weights", range_of(r.weights));
  if (r.with_group > 0)
    line(out, "groups", counted(r.groups) + " in " + human_count(r.with_group) + " rows");
  if (r.with_id > 0) line(out, "ids", human_count(r.with_id) + " rows have one");
  line(out, "duplicates",
       (r.lines.exact() ? ""
                        : "of the first " + human_count(distinct_count::most) + " different: ") +
           (r.duplicates == 0 ? "none"
                              : human_count(r.duplicates) + " rows are like an earlier one"));
  line(out, "faults", r.faults == 0 ? "none" : human_count(r.faults));
}

}  // namespace troupe
