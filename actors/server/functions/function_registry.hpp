#pragma once
// Server functions by name. The global registry begins with the built-in ones
// (builtin_functions.hpp); a program, or a shared object that it loads, adds its own before tables
// are made:
//
//   template <class T>
//   class largest final : public server_function<T> {   // keeps the largest value ever pushed
//    public:
//     explicit largest(const function_numbers&) {}
//     void apply(const row_block<T>& b, const step&) override {
//       for (std::size_t i = 0; i < b.size(); ++i)
//         b.values[i] = std::max(b.values[i], b.pushed[i]);
//     }
//   };
//   function_registry::global().add(entry_of<largest>("largest"));

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/server/functions/function_spec.hpp"
#include "actors/server/functions/server_function.hpp"
#include "core/result.hpp"

namespace troupe {

// All numbers of a function, checked and completed with defaults.
struct function_numbers {
  std::map<std::string, double> parameters;
  double l1 = 0;
  double l2 = 0;
  double at(const std::string& name) const { return parameters.at(name); }
};

struct function_parameter {
  std::string name;
  double fallback = 0;
  double least = 0;
  double most = 0;
};

template <class T>
using function_factory = std::unique_ptr<server_function<T>> (*)(const function_numbers&);

struct function_entry {
  std::string name;
  std::vector<function_parameter> parameters;
  state_layout state;
  bool additive = true;      // values pushed twice to one key may be added up beforehand
  bool uses_rate = false;    // reads step::rate
  bool penalises = false;    // applies l1 and l2
  std::uint32_t pushes = 1;  // numbers that are pushed for each value, side by side
  // A slot's pull answers, behind each row's values, so many of the per-value state arrays.
  std::uint32_t shows = 0;
  // The per-value state array whose largest magnitude a summary of the table has.
  std::optional<std::uint32_t> largest;
  function_factory<float> make_f32 = nullptr;
  function_factory<double> make_f64 = nullptr;
};

template <template <class> class Function>
function_entry entry_of(std::string name) {
  function_entry entry;
  entry.name = std::move(name);
  entry.make_f32 = [](const function_numbers& n) -> std::unique_ptr<server_function<float>> {
    return std::make_unique<Function<float>>(n);
  };
  entry.make_f64 = [](const function_numbers& n) -> std::unique_ptr<server_function<double>> {
    return std::make_unique<Function<double>>(n);
  };
  return entry;
}

// Safe from several threads.
class function_registry {
 public:
  static function_registry& global();

  result<void> add(function_entry entry);  // an error if the name is taken
  // The error of an unknown function names the nearest known one.
  result<function_entry> find(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  mutable std::mutex mutex_;
  std::map<std::string, function_entry> entries_;
};

// Errors name the function and the number that is unknown or out of its bounds.
result<function_numbers> check(const function_spec& spec, const function_entry& entry);

}  // namespace troupe
