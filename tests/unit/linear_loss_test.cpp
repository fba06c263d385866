#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

#include "apps/linear/loss.hpp"

using namespace troupe;

TEST_CASE("losses and their slopes at chosen scores") {
  struct {
    loss_kind loss;
    double score, label, value, slope;
  } const table[] = {
      {loss_kind::logistic, 0, 1, std::log(2), -0.5},
      {loss_kind::logistic, 0, -1, std::log(2), 0.5},
      {loss_kind::logistic, 2, 1, 0.126928011042972, -0.119202922022118},
      {loss_kind::logistic, -2, 1, 2.126928011042972, -0.880797077977882},
      {loss_kind::logistic, 1000, 1, 0, 0},
      {loss_kind::logistic, -1000, 1, 1000, -1},
      {loss_kind::logistic, 1000, -1, 1000, 1},
      {loss_kind::squared, 3, 1.5, 1.125, 1.5},
      {loss_kind::squared, -1, 1, 2, -2},
      {loss_kind::squared_hinge, 0.25, 1, 0.5625, -1.5},
      {loss_kind::squared_hinge, 0.25, -1, 1.5625, 2.5},
      {loss_kind::squared_hinge, 1, 1, 0, 0},
      {loss_kind::squared_hinge, 7, 1, 0, 0},
  };
  for (const auto& row : table) {
    CAPTURE(to_string(row.loss));
    CAPTURE(row.score);
    const auto at = evaluate_loss(row.loss, row.score, row.label);
    CHECK(at.value == doctest::Approx(row.value).epsilon(1e-12));
    CHECK(at.slope == doctest::Approx(row.slope).epsilon(1e-12));
  }
}

TEST_CASE("slopes are the numeric derivatives of the losses") {
  CHECK(rc::check("slope", [] {
    const auto loss =
        *rc::gen::element(loss_kind::logistic, loss_kind::squared, loss_kind::squared_hinge);
    const double score = *rc::gen::inRange(-20000, 20000) / 1000.0;
    const double label =
        classifies(loss) ? *rc::gen::element(-1.0, 1.0) : *rc::gen::inRange(-5000, 5000) / 1000.0;
    constexpr double h = 1e-5;
    const auto value = [&](double s) { return evaluate_loss(loss, s, label).value; };
    const double numeric = (value(score + h) - value(score - h)) / (2 * h);
    RC_ASSERT(std::abs(evaluate_loss(loss, score, label).slope - numeric) < 1e-4);
  }));
}

TEST_CASE("a loss is found by its word, and a misspelt one by what it resembles") {
  for (const auto* word : {"logistic", "squared", "squared_hinge"})
    CHECK(to_string(*loss_of(word)) == std::string(word));
  CHECK(loss_of("logstic").failure().text ==
        "there is no loss 'logstic'; did you mean 'logistic'?");
  CHECK(loss_of("x").failure().text ==
        "there is no loss 'x'; there are logistic, squared, squared_hinge");
}
