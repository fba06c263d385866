#pragma once
// One evaluation task under way: an observer's conversation that ends with a part's scores.

#include <memory>
#include <optional>
#include <utility>

#include "actors/worker/conversation.hpp"

namespace troupe {

class evaluation_loop final : public conversation {
 public:
  evaluation_loop(client_settings settings, std::vector<table_shape> tables, view present,
                  std::unique_ptr<evaluation_program> program, meter& work_done)
      : conversation(settings, std::move(tables), std::nullopt, std::move(present), work_done),
        program_(std::move(program)) {}

  void start(instant now) {
    at(now);
    program_->run(*this, [this](pb::EvaluatedPart part, blob scores) {
      outcome_.emplace(std::move(part), std::move(scores));
    });
  }
  void fail(error why) override {
    pb::EvaluatedPart part;
    part.set_code(static_cast<std::int32_t>(why.code));
    part.set_text(why.text);
    outcome_.emplace(std::move(part), blob{});
  }
  // Present once the part is scored, or has failed.
  const std::optional<std::pair<pb::EvaluatedPart, blob>>& outcome() const { return outcome_; }

 private:
  void go_on() override {}
  std::unique_ptr<evaluation_program> program_;
  std::optional<std::pair<pb::EvaluatedPart, blob>> outcome_;
};

}  // namespace troupe
