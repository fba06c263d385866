#pragma once
// Filters by name. The global registry begins with the built-in ones; a program adds its own before
// a job is planned:
//
//   filter_entry entry;
//   entry.name = "my_filter";
//   entry.make_value = [](const filter_numbers&, const filter_place& place) {
//     return std::make_unique<my_filter>(place);
//   };
//   filter_registry::global().add(std::move(entry));
//
// Both ends of a connection make their chains from the job's plan, so a node whose build does not
// know a filter cannot take part: it says so when it joins.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "messages/control.pb.h"
#include "messages/filters/filter.hpp"

namespace troupe {

struct filter_parameter {
  std::string name;
  double fallback = 0, least = 0, most = 0;
};
using filter_numbers = std::map<std::string, double>;

struct filter_entry {
  std::string name;
  std::vector<filter_parameter> parameters;
  bool reads_keys = false;     // stands before filters that make other bytes of the keys
  bool hides_keys = false;     // and this is one
  bool keeps_residue = false;  // a value filter with state of its own, which dies with its worker
  // Either may be empty.
  std::function<std::unique_ptr<value_filter>(const filter_numbers&, const filter_place&)>
      make_value;
  std::function<std::unique_ptr<transmission_filter>(const filter_numbers&, const filter_place&)>
      make_transmission;
};

// Safe from several threads.
class filter_registry {
 public:
  static filter_registry& global();
  result<void> add(filter_entry entry);  // an error if the name is taken
  // The error names the nearest known one.
  result<filter_entry> find(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  mutable std::mutex mutex_;
  std::map<std::string, filter_entry> entries_;
};

// All of a filter's numbers, completed with defaults. Errors name the filter and the number.
result<filter_numbers> numbers_of(const pb::FilterSpec& spec, const filter_entry& entry);

// The built-in ones, by file.
filter_entry key_cache_entry();
filter_entry key_delta_entry();
filter_entry value_delta_entry();
filter_entry zstd_entry();
filter_entry lz4_entry();
filter_entry bf16_entry();
filter_entry f16_entry();
filter_entry fixed8_entry();
filter_entry fixed16_entry();
filter_entry significant_entry();
filter_entry random_skip_entry();

}  // namespace troupe
