// Measuring the model during training and at its end, and what follows from that: the best so far,
// the course of a solver, and whether training goes on.

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"

namespace troupe {

std::uint64_t coordinator::limit_behind(std::uint64_t clock) const {
  const auto next = (clock / settings_.measure_every + 1) * settings_.measure_every;
  return clock < settings_.measure_first ? std::min(next, settings_.measure_first) : next;
}

std::uint64_t coordinator::limit_from(std::uint64_t clock) const {
  const bool due = clock > measured_at_ &&
                   (clock % settings_.measure_every == 0 || clock == settings_.measure_first);
  return due || keep_again_ == clock ? clock : limit_behind(clock);
}

// All slots have halted, or finished: the model stands still.
void coordinator::go_on_when_all_wait(instant now) {
  if (phase_ != pb::JobStatus::TRAINING || errand_ != errand::none) return;
  if (board_.all_finished()) return end_training(now);
  if (!limit_ || stopping() || !board_.all_wait_at(*limit_)) return;
  if (*limit_ <= measured_at_) {  // in a life before the job went back
    if (keep_again_ != limit_) return go_on(now);
    keep_again_.reset();
    errand_ = errand::keeping;
    saves_.give_up();
    saved_.clear();
    return save_into(settings_.best_folder, now);
  }
  measured_at_ = *limit_;
  errand_ = errand::measuring;
  begin_measuring(settings_.measure, now);
}

void coordinator::begin_measuring(const std::vector<scored_set>& data_sets, instant now) {
  const auto tables = static_cast<std::uint32_t>(settings_.plan.tables_size());
  measurement_.begin(data_sets, settings_.plan.slots(), view_, view_.shards().size(), tables,
                     course_.penalty());
  for (auto& [index, n] : workers_) n.task.reset();
  summaries_.give_up();
  ask_for_summaries(now);
  hand_out_tasks();
}

void coordinator::ask_for_summaries(instant now) {
  if (summaries_.complete() && !measurement_.summaries_complete()) {
    std::vector<shard_round::key> keys;
    for (const auto& e : view_.shards())
      for (std::uint32_t t = 0; t < static_cast<std::uint32_t>(settings_.plan.tables_size()); ++t)
        keys.emplace_back(e.number, t);
    summaries_.begin(keys, now);
    trouble_.clear();
  }
  for (const auto& [shard, table] : summaries_.take_due(now)) {
    send_summarise what{view_.find(shard)->primary(), {}, summaries_.number()};
    what.request.set_shard(shard);
    what.request.set_table(table);
    commands_.push_back(std::move(what));
  }
}

void coordinator::hand_out_tasks() {
  if (phase_ != pb::JobStatus::EVALUATING && errand_ != errand::measuring) return;
  for (auto& [index, n] : workers_) {
    if (!n.alive() || n.task) continue;
    n.task = measurement_.take_task();
    if (!n.task) return;
    *n.task->mutable_view() = view_.to_message();
    commands_.push_back(send_task{index, *n.task});
  }
}

void coordinator::on_task(std::uint32_t worker, const pb::EvaluateTask& task,
                          const result<pb::EvaluatedPart>& part, const blob& scores, instant now) {
  auto& n = workers_[worker];
  const bool its_own = n.task && n.task->number() == task.number();
  if (ended() || !its_own) return;  // given to somebody else meanwhile
  n.task.reset();
  // The worker died, has not joined yet, or did not answer in time: its next life or another worker
  // gets it, at the next tick.
  const bool nobody = !part || (!part->done() && part->code() == static_cast<int>(errc::lost));
  if (nobody) {
    // One that says that it has not joined yet has tried nothing.
    if (!measurement_.give_back(task, !part)) give_up_evaluating(part.failure(), now);
    return;
  }
  if (!part->done()) {
    return give_up_evaluating(
        {static_cast<errc>(part->code()),
         format("evaluating '%s': %s", task.data_set().c_str(), part->text().c_str())},
        now);
  }
  measurement_.scored(*part, scores);
  hand_out_tasks();
  measured_when_complete(now);
}

// The model is there all the same: it is saved, and then the job fails.
void coordinator::give_up_evaluating(error why, instant now) {
  measurement_.give_up(why);
  evaluation_failure_ = std::move(why);
  for (auto& [index, n] : workers_) n.task.reset();
  measured_when_complete(now);
}

void coordinator::on_summarise(const send_summarise& asked, const result<pb::TableSummary>& summary,
                               instant now) {
  if (phase_ != pb::JobStatus::EVALUATING && errand_ != errand::measuring) return;
  const shard_round::key key{asked.request.shard(), asked.request.table()};
  if (!summary) {
    trouble_ = summary.failure().text;
    (void)summaries_.failed(asked.round, key, now);
    return;
  }
  if (!summaries_.answered(asked.round, key, now)) return;
  measurement_.summarised(key.first, key.second, *summary);
  measured_when_complete(now);
}

void coordinator::measured_when_complete(instant now) {
  if (!measurement_.complete()) return;
  if (errand_ == errand::measuring) return on_measured(now);
  if (phase_ != pb::JobStatus::EVALUATING) return;
  tables_ = measurement_.tables();
  metrics_ = measurement_.metrics();
  record(false, true, converged_, now);
  if (settings_.model_folder.empty()) return finish();
  phase_ = pb::JobStatus::SAVING;
  changed_ = true;
  saves_.give_up();
  saved_.clear();
  save_into(settings_.model_folder, now);
}

void coordinator::record(bool best, bool final, bool arrived, instant now) {
  double loss = 0, weight = 0;
  std::uint64_t examples = 0, nonzeros = 0;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    const auto total = board_.total(slot);
    loss += total.loss();
    weight += total.weight();
    examples += total.examples();
  }
  for (const auto& t : tables_) nonzeros += t.nonzeros();
  const auto number = latest_.number() + 1;
  latest_ = {};
  latest_.set_number(number);
  latest_.set_clock(board_.largest_clock());
  latest_.set_epoch(static_cast<double>(latest_.clock()) / settings_.clocks_per_epoch);
  latest_.set_examples(examples);
  latest_.set_progressive_known(weight > weight_before_);
  if (latest_.progressive_known())
    latest_.set_progressive_loss((loss - loss_before_) / (weight - weight_before_));
  loss_before_ = loss;
  weight_before_ = weight;
  latest_.set_training_ns((training_ended_ ? trained_for_ : now - training_begun_).count());
  for (const auto& m : metrics_) *latest_.add_metrics() = m;
  latest_.set_nonzeros(nonzeros);
  latest_.set_best(best);
  latest_.set_final(final);
  if (course_.on()) {
    latest_.set_penalty(measurement_.penalty());
    latest_.set_arrived(arrived);
  }
  changed_ = true;
  commands_.push_back(record_evaluation{latest_});
}

void coordinator::on_measured(instant now) {
  tables_ = measurement_.tables();
  metrics_ = measurement_.metrics();
  const auto value_of = [&](const std::string& name) {
    std::optional<double> value;
    for (const auto& m : metrics_)
      if (m.name() == name && m.known()) value = m.value();
    return value;
  };
  const bool best = stopping_.on_evaluation(measured_at_, value_of(stopping_.settings().metric));
  const auto course =
      course_.on_measured(measured_at_, value_of("objective"), value_of("largest_violation"));
  record(best, false, course.arrived, now);
  converged_ = converged_ || (course.ends && !training_ended_);
  if (best) best_ = latest_;
  errand_ = errand::none;
  if (checkpoint_ && measured_at_ <= checkpoint_->manifest.clock())
    *checkpoint_->manifest.mutable_measured() = measured_state();
  // At the end of training the tables are the best model themselves.
  if (!best || settings_.best_folder.empty() || training_ended_) return go_on(now);
  errand_ = errand::keeping;
  changed_ = true;
  saves_.give_up();
  saved_.clear();
  save_into(settings_.best_folder, now);
}

// Behind a measurement.
void coordinator::go_on(instant now) {
  changed_ = true;
  if (training_ended_ || board_.all_finished()) return end_training(now);
  if (evaluation_failure_ || converged_ || stopping_.should_stop()) {
    stopped_early_ = !evaluation_failure_ && !converged_;
    pb::StopSlots request;
    request.set_reason(converged_ ? "it has converged" : "there is no better model any more");
    // A worker that is away now is told with its next assignment.
    for (const auto& [worker, n] : workers_) commands_.push_back(send_stop{worker, request});
    return;
  }
  limit_ = limit_behind(*limit_);
  moved_ = now;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
    if (!board_.finished(slot)) assign(slot, now);
}

std::uint64_t coordinator::measured_before() const {
  return errand_ == errand::measuring ? latest_.clock() : measured_at_;
}

pb::MeasuredState coordinator::measured_state() const {
  pb::MeasuredState s;
  s.set_at(measured_before());
  if (latest_.number() > 0) *s.mutable_latest() = latest_;
  s.set_evaluations_without_better(stopping_.since_best());
  s.set_best_clock(stopping_.best_clock());
  s.set_has_best_value(stopping_.best().has_value());
  s.set_best_value(stopping_.best().value_or(0));
  for (const auto& stage : course_.stages()) *s.add_stages() = stage;
  *s.mutable_course() = course_.state();
  return s;
}

void coordinator::take_up(const pb::MeasuredState& s, bool with_best) {
  measured_at_ = s.at();
  if (s.has_latest()) latest_ = s.latest();
  if (with_best)
    stopping_.take_up(s.has_best_value() ? std::optional<double>(s.best_value()) : std::nullopt,
                      s.best_clock(), s.evaluations_without_better());
  course_.take_up(s.course(), {s.stages().begin(), s.stages().end()});
}

}  // namespace troupe
