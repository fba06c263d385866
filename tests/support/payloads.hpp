#pragma once
// Keys and values to send through filters.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/blob.hpp"
#include "core/random.hpp"
#include "messages/control.pb.h"
#include "messages/filters/content_memory.hpp"
#include "messages/filters/filter.hpp"

namespace troupe::testing {

template <class T>
blob blob_of(const std::vector<T>& items) {
  return blob::copy_of(span<const T>(items));
}

template <class T>
std::vector<T> items_of(const blob& bytes) {
  return {bytes.as<T>().begin(), bytes.as<T>().end()};
}

// Ascending; of keys below `key_space`, or any.
inline std::vector<position> positions(std::size_t count, std::uint64_t seed,
                                       std::uint64_t key_space = 0) {
  random_source random(seed);
  std::set<position> all;
  while (all.size() < count)
    all.insert(mix(key_space > 0 ? random.below(key_space) : random.bits()));
  return {all.begin(), all.end()};
}

inline std::vector<float> normals(std::size_t count, std::uint64_t seed) {
  random_source random(seed);
  std::vector<float> all(count);
  for (auto& x : all) x = static_cast<float>(random.normal());
  return all;
}

inline content_memories fresh_memories() {
  return {std::size_t{1} << 20, std::size_t{1} << 20};
}

// f32 or f64 of width 1.
inline pb::TableSpec table_with(const std::vector<std::string>& push,
                                const std::vector<std::string>& pull, bool doubles = false) {
  pb::TableSpec table;
  table.set_name("weights");
  table.set_width(1);
  table.set_value_type(doubles ? "f64" : "f32");
  for (const auto& name : push) table.add_push_filters()->set_name(name);
  for (const auto& name : pull) table.add_pull_filters()->set_name(name);
  return table;
}

inline pb::JobPlan plan_with(const std::vector<std::string>& push,
                             const std::vector<std::string>& pull) {
  pb::JobPlan plan;
  *plan.add_tables() = table_with(push, pull);
  return plan;
}

}  // namespace troupe::testing
