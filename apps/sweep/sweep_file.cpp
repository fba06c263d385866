#include "apps/sweep/sweep_file.hpp"

#include <algorithm>
#include <set>

#include "config/findings.hpp"
#include "config/toml_tree.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

using config::node;

// A value as an override has it.
std::string value_text(const node& value) {
  switch (value.what) {
    case node::type::text:
      return config::quoted(value.text);
    case node::type::whole:
      return std::to_string(value.whole);
    case node::type::boolean:
      return value.boolean ? "true" : "false";
    case node::type::number:
      return format("%.17g", value.number);
    case node::type::list: {
      std::string all;
      for (const auto& item : value.items) all += (all.empty() ? "" : ", ") + value_text(item);
      return "[" + all + "]";
    }
    default:
      return {};
  }
}

// As people read it: words without their quotes.
std::string shown_text(const node& value) {
  if (value.what == node::type::text) return value.text;
  if (value.what == node::type::number) return format("%g", value.number);
  return value_text(value);
}

class sweep_reader {
 public:
  explicit sweep_reader(std::string source) : source_(std::move(source)) {}

  result<sweep_settings> read(const node& file) {
    for (const auto& entry : file.entries) read_entry(entry);
    if (s_.job.empty()) add({source_, 0, 0}, "job", "is missing: the job file that is run");
    multiply_out();
    const auto runs = s_.points.size() * std::max<std::size_t>(1, s_.seeds.size());
    if (runs > most_sweep_runs)
      add({source_, 0, 0}, "",
          format("%zu runs are more than the %zu a sweep may have", runs, most_sweep_runs));
    std::set<std::string> names;
    for (const auto& p : s_.points)
      if (!names.insert(p.name).second)
        add({source_, 0, 0}, "points", "two points are called '" + p.name + "'");
    if (!faults_.empty()) return faults_.as_error();
    return s_;
  }

 private:
  void add(const config::place& where, const std::string& key, std::string text) {
    faults_.add(where, key, std::move(text));
  }

  void read_entry(const node::entry& e) {
    const auto& key = e.key;
    if (key == "name") {
      s_.name = text(e);
    } else if (key == "job") {
      s_.job = text(e);
    } else if (key == "clock") {
      const auto clock = text(e);
      if (clock != "real" && clock != "virtual") add(e.where, key, "is real or virtual");
      s_.in_virtual_time = clock == "virtual";
    } else if (key == "set") {
      s_.set = texts(e);
    } else if (key == "columns") {
      s_.columns = texts(e);
    } else if (key == "rank_by") {
      s_.rank_by = text(e);
    } else if (key == "order") {
      const auto order = text(e);
      if (order != "largest" && order != "smallest") add(e.where, key, "is largest or smallest");
      s_.largest_first = order == "largest";
    } else if (key == "seeds") {
      for (const auto& item : items(e)) s_.seeds.push_back(whole(item, key, 0, INT64_MAX));
    } else if (key == "parallel") {
      s_.parallel = static_cast<std::uint32_t>(whole(e.value, key, 1, 256));
    } else if (key == "run_limit_seconds") {
      s_.run_limit_seconds = static_cast<std::uint32_t>(whole(e.value, key, 1, 1'000'000'000));
    } else if (key == "axes") {
      read_axes(e);
    } else if (key == "points") {
      for (const auto& item : items(e)) read_point(item);
    } else {
      const auto near = nearest(key, {"name", "job", "clock", "set", "columns", "rank_by", "order",
                                      "seeds", "parallel", "run_limit_seconds", "axes", "points"});
      add(e.where, key,
          near.empty() ? "is no key of a sweep" : "is no key; did you mean '" + near + "'?");
    }
  }

  void read_axes(const node::entry& e) {
    if (e.value.what != node::type::table)
      return add(e.where, e.key, "is a section: keys of the job, and a list of values for each");
    for (const auto& axis : e.value.entries) {
      axis_values values;
      for (const auto& item : items(axis)) {
        if (value_text(item).empty())
          add(item.where, axis.key, "a value is text, a number or a list");
        values.push_back({axis.key + "=" + shown_text(item), {axis.key + "=" + value_text(item)}});
      }
      if (values.empty()) add(axis.where, axis.key, "has no values");
      axes_.push_back(std::move(values));
    }
  }

  void read_point(const node& item) {
    sweep_point p;
    if (item.what != node::type::table) return add(item.where, "points", "a point is a section");
    for (const auto& e : item.entries) {
      if (e.key == "name")
        p.name = text(e);
      else if (e.key == "set")
        p.set = texts(e);
      else
        add(e.where, "points." + e.key, "is no key of a point: it has a name and a list, set");
    }
    if (p.name.empty()) add(item.where, "points", "a point needs a name");
    named_.push_back(std::move(p));
  }

  // Each named point with each combination of the axes; the first axis changes slowest.
  void multiply_out() {
    std::vector<sweep_point> all = named_;
    if (all.empty()) all.push_back({});
    for (const auto& axis : axes_) {
      std::vector<sweep_point> more;
      if (all.size() * axis.size() > most_sweep_runs) {
        add({source_, 0, 0}, "axes", format("make more than %zu points", most_sweep_runs));
        return;
      }
      for (const auto& point : all)
        for (const auto& value : axis) {
          auto next = point;
          next.name += (next.name.empty() ? "" : " ") + value.name;
          next.set.insert(next.set.end(), value.set.begin(), value.set.end());
          more.push_back(std::move(next));
        }
      all = std::move(more);
    }
    if (all.size() == 1 && all[0].name.empty()) all[0].name = "the job";
    s_.points = std::move(all);
  }

  std::string text(const node::entry& e) {
    if (e.value.what == node::type::text && !e.value.text.empty()) return e.value.text;
    add(e.where, e.key, "is text, not " + config::described(e.value));
    return {};
  }
  std::vector<std::string> texts(const node::entry& e) {
    std::vector<std::string> all;
    for (const auto& item : items(e)) {
      if (item.what != node::type::text) add(item.where, e.key, "is a list of texts");
      all.push_back(item.text);
    }
    return all;
  }
  std::vector<node> items(const node::entry& e) {
    if (e.value.what == node::type::list) return e.value.items;
    add(e.where, e.key, "is a list, not " + config::described(e.value));
    return {};
  }
  std::uint64_t whole(const node& value, const std::string& key, std::int64_t least,
                      std::int64_t most) {
    if (value.what == node::type::whole && value.whole >= least && value.whole <= most)
      return static_cast<std::uint64_t>(value.whole);
    add(value.where, key, format("is a whole number from %lld on", static_cast<long long>(least)));
    return static_cast<std::uint64_t>(least);
  }

  using axis_values = std::vector<sweep_point>;
  const std::string source_;
  sweep_settings s_;
  std::vector<axis_values> axes_;
  std::vector<sweep_point> named_;
  config::findings faults_;
};

}  // namespace

result<sweep_settings> read_sweep(std::string_view text, const std::string& name) {
  const auto tree = config::parse_toml(text, name);
  if (!tree) return tree.failure();
  return sweep_reader(name).read(*tree);
}

}  // namespace troupe
