#include "actors/server/functions/builtin_functions.hpp"

#include "actors/server/functions/gradient_functions.hpp"

namespace troupe {
namespace {

template <class T>
class add final : public server_function<T> {
 public:
  explicit add(const function_numbers&) {}
  void apply(const row_block<T>& b, const step&) override {
    T* __restrict w = b.values;
    const T* __restrict pushed = b.pushed;
    for (std::size_t i = 0; i < b.size(); ++i) w[i] += pushed[i];
  }
};

template <class T>
class assign final : public server_function<T> {
 public:
  explicit assign(const function_numbers&) {}
  void apply(const row_block<T>& b, const step&) override {
    for (std::size_t i = 0; i < b.size(); ++i) b.values[i] = b.pushed[i];
  }
};

}  // namespace

std::vector<function_entry> builtin_functions() {
  auto last_word = entry_of<assign>("assign");
  last_word.additive = false;
  return {entry_of<add>("add"),  last_word,        sgd_entry(),
          momentum_entry(),      nesterov_entry(), adagrad_entry(),
          rmsprop_entry(),       adam_entry(),     ftrl_entry(),
          block_proximal_entry()};
}

}  // namespace troupe
