#pragma once
// What a batch needs of a linear model's tables: pulled together, used once.

#include <functional>

#include "actors/worker/program.hpp"
#include "apps/linear/linear_model.hpp"
#include "core/blob.hpp"
#include "core/span.hpp"

namespace troupe {

class parameters {
 public:
  // Calls then() when the rows of `keys` and the bias have come, or ends the session with the first
  // error. One pull at a time.
  void pull(session& with, const linear_model& model, span<const key_id> keys,
            std::function<void()> then);

  const blob& weights() const { return weights_; }  // one to each key, in their order
  double bias() const { return bias_; }             // 0 without one
  const key_set& keys() const { return keys_; }
  const key_set& bias_keys() const { return bias_keys_; }

 private:
  template <class Take>
  void arrived(session& with, const result<pulled>& values, Take take);

  key_set keys_, bias_keys_;
  blob weights_;
  double bias_ = 0;
  int awaited_ = 0;
  bool failed_ = false;
  std::function<void()> then_;
};

}  // namespace troupe
