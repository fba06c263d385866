#include "apps/chaos/workload/table_filters.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/text.hpp"
#include "messages/filters/registry.hpp"

namespace troupe::chaos {
namespace {

const filter_texts& chain_of(const config::Scenario& s, direction way) {
  return way == direction::push ? s.filters().push() : s.filters().pull();
}

bool loses(const std::string& filter) {
  const auto entry = filter_registry::global().find(filter);
  return entry && entry->make_value;
}

std::string name_in(const std::string& text) {
  const auto spec = filter_of(text);
  return spec ? spec->name() : "";
}

// Shards are cut anew where servers come or load is evened out, and by a cluster that goes back to
// a checkpoint.
bool shards_may_change(const config::Scenario& s) {
  return s.workload().restore_at_size() > 0 || s.expect().loss() ||
         std::any_of(s.faults().begin(), s.faults().end(), [](const config::Fault& f) {
           return f.kind() == "join" || f.kind() == "rebalance";
         });
}

filter_names filters_in(const config::Scenario& s, direction way) {
  filter_names names;
  for (const auto& text : chain_of(s, way)) names.insert(name_in(text));
  return names;
}

std::string listed(const filter_texts& chain) {
  std::string text;
  for (const auto& one : chain) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace

bool loses_any(const filter_texts& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const std::string& text) { return loses(name_in(text)); });
}

// bf16 and f16 have 8 and 11 bits of precision. A block of whole numbers up to the largest code of
// fixed8 and fixed16 has 1 or a smaller power of two for its unit, and all are multiples of that.
std::optional<double> exact_up_to(const pb::FilterSpec& spec) {
  const auto& filter = spec.name();
  if (!loses(filter)) return std::numeric_limits<double>::infinity();
  if (filter == "bf16") return 256;
  if (filter == "f16") return 2048;
  if (filter != "fixed8" && filter != "fixed16") return std::nullopt;
  const auto numbers = numbers_of(spec, *filter_registry::global().find(filter));
  if (!numbers) return std::nullopt;
  return (1 << (static_cast<int>(numbers->at("bits")) - 1)) - 1;
}

std::string misfit_of_filters(const config::Scenario& s, direction way) {
  const auto what = table_workload_of(s);
  auto table = what->table();
  auto& to =
      *(way == direction::push ? table.mutable_push_filters() : table.mutable_pull_filters());
  if (const auto added = add_filters(chain_of(s, way), to); !added) return added.failure().text;
  if (const auto fits = check_filters(table); !fits) return fits.failure().text;
  const auto largest = what->largest_whole_number(way);
  if (!largest) return "";
  const auto& kind = s.workload().kind();
  const auto* travels = way == direction::push ? "pushed" : "read";
  for (const auto& filter : to) {
    const auto exact = exact_up_to(filter);
    if (!exact)
      return format("'%s' changes what is %s, and the check of %s counts on every bit of it",
                    filter.name().c_str(), travels, kind.c_str());
    if (*largest > *exact)
      return format(
          "'%s' keeps whole numbers up to %g as they are; %s up to %g are %s, and their "
          "check counts on every bit of them",
          filter.name().c_str(), *exact, kind.c_str(), *largest, travels);
  }
  return "";
}

pb::TableSpec table_of(const config::Scenario& s, const table_workload& what) {
  auto table = what.table();
  const bool added = add_filters(s.filters().push(), *table.mutable_push_filters()).ok() &&
                     add_filters(s.filters().pull(), *table.mutable_pull_filters()).ok();
  assert(added);
  (void)added;
  return table;
}

bool same_bits_under_faults(const config::Scenario& s) {
  return same_bits_under_faults(s, filters_in(s, direction::push), filters_in(s, direction::pull));
}

bool same_bits_under_faults(const config::Scenario& s, const filter_names& push,
                            const filter_names& pull) {
  for (const auto& name : push)
    if (const auto entry = filter_registry::global().find(name); entry && entry->keeps_residue)
      return false;  // what it keeps dies with its worker
  if (!shards_may_change(s)) return true;
  // bf16 and f16 round each number by itself; the others look at what else a shard answers.
  return std::all_of(pull.begin(), pull.end(), [](const auto& name) {
    return !loses(name) || name == "bf16" || name == "f16";
  });
}

config::Scenario with_lossy_filters_alone(const config::Scenario& scenario) {
  auto s = scenario;
  for (auto* chain : {s.mutable_filters()->mutable_push(), s.mutable_filters()->mutable_pull()}) {
    const bool some = !chain->empty();
    chain->erase(std::remove_if(chain->begin(), chain->end(),
                                [](const std::string& text) { return !loses(name_in(text)); }),
                 chain->end());
    // A job's own must not come back in their place.
    if (some && chain->empty() && s.workload().kind() == "job") *chain->Add() = "none";
  }
  return s;
}

filter_names filters_in(const config::Scenario& s) {
  auto names = filters_in(s, direction::push);
  names.merge(filters_in(s, direction::pull));
  return names;
}

std::string describe_filters(const config::Scenario& s) {
  const auto pushes = listed(s.filters().push()), pulls = listed(s.filters().pull());
  std::string text;
  if (!pushes.empty()) text = "pushes through " + pushes;
  if (!pulls.empty()) text += (text.empty() ? "" : "; ") + ("pulls through " + pulls);
  return text;
}

}  // namespace troupe::chaos
