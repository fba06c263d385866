// What a job does beside training: loading an earlier model, measuring, keeping and restoring the
// best, and saving.

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"

namespace troupe {

// ---- loading

void coordinator::load(const std::string& folder, const std::vector<std::string>& files,
                       bool with_state, bool replace) {
  loaded_.clear();
  for (const auto& [server, n] : servers_) {
    pb::LoadPart request;
    request.set_folder(folder);
    for (const auto& name : files) request.add_files(name);
    request.set_with_state(with_state);
    request.set_replace(replace);
    commands_.push_back(send_load{server, std::move(request)});
  }
}

void coordinator::on_load(std::uint32_t server, const result<pb::LoadedPart>& part, instant now) {
  if (ended() || (errand_ != errand::loading && errand_ != errand::restoring)) return;
  if (!part) return fail(part.failure().code, part.failure().text, now);
  if (!part->done())
    return fail(static_cast<errc>(part->code()),
                format("server %u: %s", server, part->text().c_str()), now);
  loaded_.insert(server);
  if (loaded_.size() < servers_.size()) return;
  const bool before_training = std::exchange(errand_, errand::none) == errand::loading;
  restored_ = !before_training;
  before_training ? start_training(now) : evaluate_at_the_end(now);
}

// ---- measuring

// All slots have halted, or finished: the model stands still.
void coordinator::go_on_when_all_wait(instant now) {
  if (phase_ != pb::JobStatus::TRAINING || errand_ != errand::none) return;
  if (board_.all_finished()) return end_training(now);
  if (!limit_ || stopping() || !board_.all_wait_at(*limit_)) return;
  measured_at_ = *limit_;
  errand_ = errand::measuring;
  begin_measuring(settings_.measure);
}

void coordinator::begin_measuring(const std::vector<scored_set>& data_sets) {
  const auto tables = static_cast<std::uint32_t>(settings_.plan.tables_size());
  measurement_.begin(data_sets, settings_.plan.slots(), view_, servers_.size(), tables);
  for (std::uint32_t table = 0; table < tables; ++table)
    for (const auto& [server, n] : servers_) {
      pb::Summarise request;
      request.set_table(table);
      commands_.push_back(send_summarise{server, request});
    }
  hand_out_tasks();
}

void coordinator::hand_out_tasks() {
  if (phase_ != pb::JobStatus::EVALUATING && errand_ != errand::measuring) return;
  for (auto& [index, n] : workers_) {
    if (!n.joined || n.task) continue;
    n.task = measurement_.take_task();
    if (!n.task) return;
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
    const auto why = part ? error{errc::lost, part->text()} : part.failure();
    if (!measurement_.give_back(task)) give_up_evaluating(why, now);
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

void coordinator::on_summarise(std::uint32_t server, std::uint32_t table,
                               const result<pb::TableSummary>& summary, instant now) {
  if (phase_ != pb::JobStatus::EVALUATING && errand_ != errand::measuring) return;
  if (!summary) return fail(summary.failure().code, summary.failure().text, now);
  measurement_.summarised(server, table, *summary);
  measured_when_complete(now);
}

void coordinator::measured_when_complete(instant now) {
  if (!measurement_.complete()) return;
  if (errand_ == errand::measuring) return on_measured(now);
  if (phase_ != pb::JobStatus::EVALUATING) return;
  tables_ = measurement_.tables();
  metrics_ = measurement_.metrics();
  record(false, true, now);
  if (settings_.model_folder.empty()) return finish();
  phase_ = pb::JobStatus::SAVING;
  save_into(settings_.model_folder);
}

void coordinator::record(bool best, bool final, instant now) {
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
  commands_.push_back(record_evaluation{latest_});
}

void coordinator::on_measured(instant now) {
  tables_ = measurement_.tables();
  metrics_ = measurement_.metrics();
  std::optional<double> value;
  for (const auto& m : metrics_)
    if (m.name() == stopping_.settings().metric && m.known()) value = m.value();
  const bool best = stopping_.on_evaluation(measured_at_, value);
  record(best, false, now);
  if (best) best_ = latest_;
  errand_ = errand::none;
  // At the end of training the tables are the best model themselves.
  if (!best || settings_.best_folder.empty() || training_ended_) return go_on(now);
  errand_ = errand::keeping;
  save_into(settings_.best_folder);
}

// Behind a measurement.
void coordinator::go_on(instant now) {
  if (training_ended_ || board_.all_finished()) return end_training(now);
  if (evaluation_failure_ || stopping_.should_stop()) {
    stopped_early_ = !evaluation_failure_;
    pb::StopSlots request;
    request.set_reason("there is no better model any more");
    // A worker that is away now is told with its next assignment.
    for (const auto& [worker, n] : workers_) commands_.push_back(send_stop{worker, request});
    return;
  }
  *limit_ += settings_.measure_every;
  moved_ = now;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
    if (!board_.finished(slot)) assign(slot, now);
}

// Slots that stand at the limit ask nobody for anything, so no request of theirs runs out: the wait
// for the others has its deadline here.
void coordinator::fail_if_nobody_moves(instant now) {
  const duration patience(settings_.plan.timings().patience());
  // A scheduler that slept itself has no right to complain.
  const bool late = now - ticked_ > patience / 2;
  ticked_ = now;
  if (late || errand_ != errand::none || !limit_) moved_ = now;
  if (now - moved_ <= patience) return;
  std::string missing;
  bool somebody_waits = false;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    if (board_.finished(slot)) continue;
    const bool waits = board_.waits_at(slot, *limit_);
    somebody_waits |= waits;
    if (!waits)
      missing += format("%sslot %u at clock %llu (worker %u)", missing.empty() ? "" : ", ", slot,
                        static_cast<unsigned long long>(board_.clock(slot)), board_.owner(slot));
  }
  if (!somebody_waits || missing.empty()) return;
  fail(errc::timeout,
       format("for %.0f s nothing has come from ", seconds_of(patience)) + missing +
           format(", and the others wait at clock %llu to be evaluated",
                  static_cast<unsigned long long>(*limit_)),
       now);
}

// ---- the end

void coordinator::end_training(instant now) {
  if (!std::exchange(training_ended_, true)) trained_for_ = now - training_begun_;
  const auto clock = board_.largest_clock();
  if (limit_ && !interrupted_ && !evaluation_failure_ && measured_at_ != clock) {
    measured_at_ = clock;
    errand_ = errand::measuring;
    return begin_measuring(settings_.measure);
  }
  // Who interrupts a job that keeps its best model gets that, too.
  const bool restores = !best_files_.empty() && stopping_.best_clock() != clock;
  if (!restores) return evaluate_at_the_end(now);
  errand_ = errand::restoring;
  load(settings_.best_folder, best_files_, true, true);
}

void coordinator::evaluate_at_the_end(instant now) {
  phase_ = pb::JobStatus::EVALUATING;
  begin_measuring(interrupted_ || evaluation_failure_ ? std::vector<scored_set>{}
                                                      : settings_.evaluate);
  measured_when_complete(now);
}

void coordinator::save_into(const std::string& folder) {
  saved_.clear();
  for (const auto& [server, n] : servers_) {
    pb::SavePart request;
    request.set_folder(folder);
    request.set_with_state(settings_.save_state);
    commands_.push_back(send_save{server, request});
  }
}

void coordinator::on_save(std::uint32_t server, const result<pb::SavedPart>& part, instant now) {
  if (phase_ != pb::JobStatus::SAVING && errand_ != errand::keeping) return;
  if (!part) return fail(part.failure().code, part.failure().text, now);
  if (!part->done())
    return fail(errc::io, format("server %u: %s", server, part->text().c_str()), now);
  saved_[server] = {part->files().begin(), part->files().end()};
  if (saved_.size() < servers_.size()) return;
  std::vector<std::string> parts;
  for (const auto& [index, files] : saved_) parts.insert(parts.end(), files.begin(), files.end());
  if (errand_ == errand::keeping) {
    errand_ = errand::none;
    best_files_ = std::move(parts);
    return go_on(now);
  }
  publish(std::move(parts));
}

void coordinator::publish(std::vector<std::string> parts) {
  publish_model p{std::move(parts), tables_, metrics_, 0};
  p.clocks =
      settings_.plan.first_clock() + (restored_ ? stopping_.best_clock() : board_.largest_clock());
  commands_.push_back(std::move(p));
}

void coordinator::on_publish(const result<void>& outcome, instant now) {
  if (phase_ != pb::JobStatus::SAVING) return;
  if (!outcome) return fail(outcome.failure().code, outcome.failure().text, now);
  finish();
}

void coordinator::finish() {
  phase_ = evaluation_failure_ ? pb::JobStatus::FAILED : pb::JobStatus::FINISHED;
  failure_ = evaluation_failure_;
}

}  // namespace troupe
