// What a job does beside training: loading, restoring the best, and saving. Each asks the holders
// of all shards, and asks again when the view has changed. (Measuring: coordinator_measuring.cpp.)

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"

namespace troupe {

void coordinator::errands_on_time(instant now) {
  if (phase_ == pb::JobStatus::EVALUATING || errand_ == errand::measuring) ask_for_summaries(now);
  if (phase_ == pb::JobStatus::SAVING || errand_ == errand::keeping) save_into(save_folder_, now);
  if (errand_ == errand::loading || errand_ == errand::restoring || !lost_.empty()) send_loads(now);
  const duration patience(settings_.plan.timings().patience());
  for (const auto* round : {&summaries_, &saves_, &loads_})
    if (!round->complete() && !trouble_.empty() && now - round->moved() > patience)
      return fail(errc::lost,
                  format("for %.0f s no answer has come: ", seconds_of(patience)) + trouble_, now);
}

void coordinator::errands_in_new_view(instant now) {
  if (phase_ == pb::JobStatus::EVALUATING || errand_ == errand::measuring) {
    if (!measurement_.summaries_complete()) {
      measurement_.begin_summaries(view_.shards().size());
      summaries_.give_up();
      ask_for_summaries(now);
    }
  }
  if (phase_ == pb::JobStatus::SAVING || errand_ == errand::keeping) {
    if (!saves_.complete()) {
      saves_.give_up();
      saved_.clear();
      save_into(save_folder_, now);
    }
  }
  if (errand_ == errand::loading || errand_ == errand::restoring) load(now);
}

// ---- loading

// Every holder of a shard takes up its rows itself: they lie where all can read them.
void coordinator::load(instant now) {
  std::vector<shard_round::key> keys;
  for (const auto& e : view_.shards())
    for (const auto server : e.chain) keys.emplace_back(e.number, server);
  loads_.begin(keys, now);
  trouble_.clear();
  send_loads(now);
}

void coordinator::send_loads(instant now) {
  const auto send = [&](shard_round& round, bool lost) {
    for (const auto& [shard, server] : round.take_due(now)) {
      // A shard that was split off meanwhile takes what its parent took.
      const auto* e = view_.find(shard);
      auto source = source_of_.find(shard);
      while (source == source_of_.end() && e != nullptr && e->parent != e->number) {
        source = source_of_.find(e->parent);
        e = view_.find(e->parent);
      }
      if (source == source_of_.end()) continue;
      send_load what{server, source->second, round.number(), lost};
      what.request.set_shard(shard);
      commands_.push_back(std::move(what));
    }
  };
  if (errand_ == errand::loading || errand_ == errand::restoring) send(loads_, false);
  if (!lost_.empty()) send(lost_loads_, true);
}

void coordinator::on_load(const send_load& asked, const result<pb::LoadedPart>& part, instant now) {
  if (ended()) return;
  auto& round = asked.lost ? lost_loads_ : loads_;
  const shard_round::key key{asked.request.shard(), asked.server};
  const bool nobody = !part || (!part->done() && part->code() == static_cast<int>(errc::lost));
  if (nobody) {
    trouble_ =
        part ? format("server %u: %s", asked.server, part->text().c_str()) : part.failure().text;
    (void)round.failed(asked.round, key, now);
    return;
  }
  if (!part->done() && static_cast<errc>(part->code()) == errc::io &&
      refused_ == asked.request.folder()) {
    // No other checkpoint is better: the trouble is the node's, and need not last.
    trouble_ = format("server %u: %s", asked.server, part->text().c_str());
    if (round.failed(asked.round, key, now) &&
        now - round.moved() > duration(settings_.plan.timings().patience()))
      fail(errc::io, trouble_, now);
    return;
  }
  const bool waited_for = round.answered(asked.round, key, now);
  const bool lost = asked.lost && lost_.count(asked.request.shard()) > 0;
  if (!waited_for && !lost) return;
  if (!part->done()) return on_load_refused(asked, *part, now);
  if (asked.lost) {
    changed_ = true;
    lost_.erase(asked.request.shard());
    source_of_.erase(asked.request.shard());
    return;
  }
  if (!loads_.complete()) return;
  source_of_.clear();
  const bool before_training = std::exchange(errand_, errand::none) == errand::loading;
  restored_ = !before_training;
  before_training ? start_training(now) : evaluate_at_the_end(now);
}

// A checkpoint that was whole when it was chosen may be so no more. Who chooses again passes over
// it, so that an earlier one helps; one that is chosen twice and is damaged twice is not the
// reason.
void coordinator::on_load_refused(const send_load& asked, const pb::LoadedPart& part, instant now) {
  const auto code = static_cast<errc>(part.code());
  const auto what = format("server %u: %s", asked.server, part.text().c_str());
  const bool of_checkpoint = asked.request.with_slots() && !asked.request.folder().empty();
  if (!of_checkpoint || (code != errc::damaged && code != errc::io) ||
      std::exchange(refused_, asked.request.folder()) == asked.request.folder())
    return fail(code, what, now);
  if (!asked.lost) return go_back(what, now);
  note(now, what + ": another checkpoint is looked for");
  if (!std::exchange(reading_for_lost_, true)) commands_.push_back(read_checkpoint{});
}

// ---- the end

void coordinator::end_training(instant now) {
  if (!std::exchange(training_ended_, true)) trained_for_ = now - training_begun_;
  const auto clock = board_.largest_clock();
  // One whose clock was reached is being written; another one's never comes.
  if (checkpoint_ && checkpoint_->manifest.one_cut() && clock < checkpoint_->manifest.clock())
    abandon_checkpoint("training has ended", ~std::uint64_t{0}, now);
  if (limit_ && !interrupted_ && !evaluation_failure_ && measured_at_ != clock) {
    measured_at_ = clock;
    errand_ = errand::measuring;
    return begin_measuring(settings_.measure, now);
  }
  // Who interrupts a job that keeps its best model gets that, too.
  const bool restores = !best_files_.empty() && stopping_.best_clock() != clock;
  if (!restores) return evaluate_at_the_end(now);
  errand_ = errand::restoring;
  pb::LoadPart source;
  source.set_folder(settings_.best_folder);
  for (const auto& name : best_files_) source.add_files(name);
  source.set_with_state(settings_.save_state);
  source.set_replace(true);
  for (const auto& e : view_.shards()) source_of_[e.number] = source;
  load(now);
}

void coordinator::evaluate_at_the_end(instant now) {
  phase_ = pb::JobStatus::EVALUATING;
  changed_ = true;
  begin_measuring(
      interrupted_ || evaluation_failure_ ? std::vector<scored_set>{} : settings_.evaluate, now);
  measured_when_complete(now);
}

void coordinator::save_into(const std::string& folder, instant now) {
  save_folder_ = folder;
  if (saves_.complete() && saved_.empty()) {
    std::vector<shard_round::key> keys;
    for (const auto& e : view_.shards()) keys.emplace_back(e.number, 0);
    saves_.begin(keys, now);
    trouble_.clear();
  }
  for (const auto& [shard, none] : saves_.take_due(now)) {
    send_save what{view_.find(shard)->primary(), {}, saves_.number(), false};
    what.request.set_folder(folder);
    what.request.set_with_state(settings_.save_state);
    what.request.set_shard(shard);
    commands_.push_back(std::move(what));
  }
}

void coordinator::on_save(const send_save& asked, const result<pb::SavedPart>& part, instant now) {
  if (asked.checkpoint) return on_checkpoint_part(asked, part, now);
  if (phase_ != pb::JobStatus::SAVING && errand_ != errand::keeping) return;
  const shard_round::key key{asked.request.shard(), 0};
  if (!part || part->again()) {
    trouble_ =
        part ? format("server %u: %s", asked.server, part->text().c_str()) : part.failure().text;
    (void)saves_.failed(asked.round, key, now);
    return;
  }
  if (!part->done()) {  // a disk that is full now need not be so for long
    trouble_ = format("server %u: %s", asked.server, part->text().c_str());
    if (saves_.failed(asked.round, key, now) &&
        now - saves_.moved() > duration(settings_.plan.timings().patience()))
      fail(errc::io, trouble_, now);
    return;
  }
  if (!saves_.answered(asked.round, key, now)) return;
  saved_[key.first] = {part->files().begin(), part->files().end()};
  if (!saves_.complete()) return;
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
  if (checkpoint_) {  // first it is made to count, or given up
    finishes_ = true;
    return;
  }
  phase_ = evaluation_failure_ ? pb::JobStatus::FAILED : pb::JobStatus::FINISHED;
  failure_ = evaluation_failure_;
  changed_ = true;
}

}  // namespace troupe
