#include "apps/linear/arithmetic.hpp"

#include <cassert>
#include <cstring>

#include "apps/evaluation/scored_rows.hpp"

namespace troupe {
namespace {

template <class T>
void score(const batch& rows, span<const T> weights, double bias, std::vector<double>& scores) {
  assert(weights.size() == rows.keys.size());
  scores.resize(rows.rows());
  const auto* column = rows.column.data();
  const auto* value = rows.value.empty() ? nullptr : rows.value.data();
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    double sum = bias;
    const std::size_t end = rows.row_begin[r + 1];
    if (value == nullptr)
      for (std::size_t e = rows.row_begin[r]; e < end; ++e)
        sum += static_cast<double>(weights[column[e]]);
    else
      for (std::size_t e = rows.row_begin[r]; e < end; ++e)
        sum += static_cast<double>(weights[column[e]]) * static_cast<double>(value[e]);
    scores[r] = sum;
  }
}

void add_gradients(const batch& rows, span<const double> slopes, std::vector<double>& sums) {
  sums.assign(rows.keys.size(), 0);
  const auto* column = rows.column.data();
  const auto* value = rows.value.empty() ? nullptr : rows.value.data();
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const double slope = slopes[r];
    const std::size_t end = rows.row_begin[r + 1];
    if (value == nullptr)
      for (std::size_t e = rows.row_begin[r]; e < end; ++e) sums[column[e]] += slope;
    else
      for (std::size_t e = rows.row_begin[r]; e < end; ++e)
        sums[column[e]] += slope * static_cast<double>(value[e]);
  }
}

template <class T>
blob scaled(span<const double> sums, double scale) {
  auto [bytes, writable] = blob::uninitialised(sums.size() * sizeof(T));
  auto* out = reinterpret_cast<T*>(writable);
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<T>(sums[i] * scale);
  return bytes;
}

double weight_of(const batch& rows, std::size_t row) {
  return rows.weight.empty() ? 1 : rows.weight[row];
}

}  // namespace

void score_rows(const batch& rows, const blob& weights, bool doubles, double bias,
                std::vector<double>& scores) {
  if (doubles)
    score(rows, weights.as<double>(), bias, scores);
  else
    score(rows, weights.as<float>(), bias, scores);
}

batch_loss losses_of(const linear_model& model, const batch& rows, std::vector<double>& scores) {
  batch_loss sum;
  with_loss(model.loss, [&](auto f) {
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      const double label = model.labels(rows.label[r]);
      const auto at = f(scores[r], label);
      const double weight = model.row_weight(weight_of(rows, r), label);
      sum.loss += weight * at.value;
      sum.weight += weight;
      scores[r] = weight * at.slope;
    }
  });
  return sum;
}

blob gradient_of(const batch& rows, span<const double> slopes, double scale, bool doubles,
                 std::vector<double>& sums) {
  add_gradients(rows, slopes, sums);
  return doubles ? scaled<double>(sums, scale) : scaled<float>(sums, scale);
}

blob one_value(double value, bool doubles) {
  return doubles ? scaled<double>({&value, 1}, 1) : scaled<float>({&value, 1}, 1);
}

double first_value(const blob& values, bool doubles) {
  return doubles ? values.as<double>()[0] : static_cast<double>(values.as<float>()[0]);
}

batch_loss write_scores(const linear_model& model, const batch& rows, span<const double> scores,
                        double offset, std::uint32_t columns, double* out) {
  batch_loss sum;
  with_loss(model.loss, [&](auto f) {
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      const double label = model.labels(rows.label[r]), score = scores[r] + offset;
      const double weight = model.row_weight(weight_of(rows, r), label);
      sum.loss += weight * f(score, label).value;
      sum.weight += weight;
      *out++ = score;
      *out++ = label;
      *out++ = weight;
      if (columns < columns_with_groups) continue;
      const std::uint64_t group = rows.group.empty() ? no_group : rows.group[r];
      std::memcpy(out++, &group, sizeof group);
    }
  });
  return sum;
}

}  // namespace troupe
