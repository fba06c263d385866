#include "apps/linear/parameters.hpp"

#include <utility>

#include "apps/linear/arithmetic.hpp"

namespace troupe {

void parameters::pull(session& with, const linear_model& model, span<const key_id> keys,
                      std::function<void()> then) {
  auto weights = with.kv().keys(weights_table, keys);
  if (!weights) return with.fail(weights.failure());
  keys_ = std::move(*weights);
  if (model.bias) {
    auto bias = with.kv().keys(bias_table, {&bias_key, 1});
    if (!bias) return with.fail(bias.failure());
    bias_keys_ = std::move(*bias);
  }
  then_ = std::move(then);
  failed_ = false;
  awaited_ = model.bias ? 2 : 1;
  with.kv().pull(weights_table, keys_, {}, [this, &with](const result<pulled>& got) {
    arrived(with, got, [this](const blob& values) { weights_ = values; });
  });
  if (!model.bias) return;
  with.kv().pull(bias_table, bias_keys_, {},
                 [this, &with, doubles = model.bias_is_double](const result<pulled>& got) {
                   arrived(with, got,
                           [&](const blob& values) { bias_ = first_value(values, doubles); });
                 });
}

template <class Take>
void parameters::arrived(session& with, const result<pulled>& values, Take take) {
  if (failed_) return;
  if (!values) {
    failed_ = true;
    return with.fail(values.failure());
  }
  take(values->values);
  if (--awaited_ > 0) return;
  // Moved out: what comes next may pull again.
  const auto then = std::move(then_);
  then();
}

}  // namespace troupe
