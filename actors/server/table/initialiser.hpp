#pragma once
// The value of a row that nobody pushed to: a function of (seed, table, key, index), so that it is
// the same at every server, before and after the row exists.

#include <string>

#include "actors/server/table/table_spec.hpp"
#include "core/result.hpp"

namespace troupe {

// Errors name the number that does not fit.
result<void> check(const initialiser_spec& spec);

class initialiser {
 public:
  initialiser(const initialiser_spec& spec, const std::string& table, std::uint64_t seed);
  // Of one key's values, in the table's type.
  void fill(key_id key, float* values, std::size_t width) const { fill_all(key, values, width); }
  void fill(key_id key, double* values, std::size_t width) const { fill_all(key, values, width); }

 private:
  template <class T>
  void fill_all(key_id key, T* values, std::size_t width) const;
  double value(key_id key, std::size_t index) const;

  const initialiser_spec spec_;
  const std::uint64_t seed_;  // of the job and the table
};

}  // namespace troupe
