#include "actors/scheduler/early_stopping.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("the best evaluation is remembered, and patience counts those that are none") {
  early_stopping loss({"validation_logloss", false, 2});
  CHECK(loss.on_evaluation(10, 0.5));
  CHECK(loss.on_evaluation(20, 0.4));
  CHECK_FALSE(loss.on_evaluation(30, 0.4));  // as good is not better
  CHECK_FALSE(loss.should_stop());
  CHECK_FALSE(loss.on_evaluation(40, 0.45));
  CHECK(loss.should_stop());
  CHECK(loss.best_clock() == 20);
  CHECK(*loss.best() == 0.4);
  CHECK(loss.on_evaluation(50, 0.3));
  CHECK_FALSE(loss.should_stop());
}

TEST_CASE("larger may be better, what is not known never is, and no patience never stops") {
  early_stopping auc({"validation_auc", true, 0});
  CHECK_FALSE(auc.on_evaluation(1, std::nullopt));
  CHECK_FALSE(auc.best().has_value());
  CHECK(auc.on_evaluation(2, 0.6));
  CHECK(auc.on_evaluation(3, 0.7));
  CHECK_FALSE(auc.on_evaluation(4, 0.65));
  for (std::uint64_t i = 5; i < 100; ++i) auc.on_evaluation(i, 0.1);
  CHECK_FALSE(auc.should_stop());
  CHECK(auc.best_clock() == 3);
}

TEST_CASE("evaluations that are not known do not use up the patience") {
  early_stopping auc({"validation_auc", true, 2});
  for (std::uint64_t i = 0; i < 9; ++i) CHECK_FALSE(auc.on_evaluation(i, std::nullopt));
  CHECK_FALSE(auc.should_stop());
}
