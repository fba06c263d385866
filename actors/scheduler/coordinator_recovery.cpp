// What is written down, and what is done when more is lost than there are copies, or the scheduler
// itself.

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"
#include "messages/roles.hpp"

namespace troupe {

std::string checkpoint_folder(const std::string& folder, std::uint64_t number) {
  return folder + format("/checkpoint-%06llu", static_cast<unsigned long long>(number));
}

std::string partial_checkpoint_folder(const std::string& folder, std::uint64_t number) {
  return checkpoint_folder(folder, number) + ".partial";
}

// ---- checkpoints

// Bulk-synchronous, the cut is right after a clock that is chosen ahead; else each shard is written
// as it is, with its own numbers.
void coordinator::begin_checkpoint_if_due(instant now) {
  if (settings_.checkpoint_folder.empty()) return;
  if (settings_.checkpoint_every == 0 && !checkpoint_asked_) return;
  if (checkpoint_) {
    // Slots that have finished may have made its clock impossible; shards that failed are retried
    // by the next one.
    for (const auto& [shard, none] : checkpoint_saves_.take_due(now)) {
      send_save what{view_.find(shard)->primary(), {}, checkpoint_saves_.number(), true};
      what.request.set_folder(
          partial_checkpoint_folder(settings_.checkpoint_folder, checkpoint_->manifest.number()));
      what.request.set_with_state(true);
      what.request.set_shard(shard);
      what.request.set_at_version(checkpoint_->manifest.one_cut());
      what.request.set_version(checkpoint_->manifest.clock());
      commands_.push_back(std::move(what));
    }
    return;
  }
  if (errand_ != errand::none || !lost_.empty() || board_.all_finished()) return;
  const bool cut = bulk_synchronous();
  if (!cut && board_.smallest_clock() < next_checkpoint_) return;
  checkpoint_.emplace();
  changed_ = true;
  auto& m = checkpoint_->manifest;
  m.set_number(++checkpoints_);
  m.set_job(settings_.plan.name());
  m.set_seed(settings_.plan.seed());
  m.set_slots(settings_.plan.slots());
  m.set_one_cut(cut);
  m.set_clock(cut ? next_checkpoint_ : board_.smallest_clock());
  m.set_first_clock(settings_.plan.first_clock());
  *m.mutable_measured() = measured_state();  // and what is measured up to its clock
  for (const auto& t : settings_.plan.tables()) *m.add_tables() = t;
  std::vector<shard_round::key> keys;
  for (const auto& e : view_.shards()) {
    auto* s = m.add_shards();
    s->set_shard(e.number);
    for (const auto& r : view_.ranges_of(e.number)) {
      s->add_first(r.first);
      s->add_last(r.last);
    }
    keys.emplace_back(e.number, 0);
  }
  checkpoint_saves_.begin(keys, now);
  begin_checkpoint_if_due(now);
}

void coordinator::on_checkpoint_part(const send_save& asked, const result<pb::SavedPart>& part,
                                     instant now) {
  if (!checkpoint_ || ended() ||
      !checkpoint_saves_.answered(asked.round, {asked.request.shard(), 0}, now))
    return;
  if (!part) return abandon_checkpoint(part.failure().text, board_.largest_clock() + 2, now);
  if (part->past()) return abandon_checkpoint({}, part->version() + 2, now);
  if (!part->done())
    return abandon_checkpoint(format("server %u: %s", asked.server, part->text().c_str()),
                              part->again()
                                  ? board_.largest_clock() + 2
                                  : checkpoint_->manifest.clock() + settings_.checkpoint_every,
                              now);
  auto& m = checkpoint_->manifest;
  for (auto& s : *m.mutable_shards())
    if (s.shard() == asked.request.shard()) {
      s.set_version(part->version());
      *s.mutable_slots() = part->slots();
      *s.mutable_files() = part->files();
    }
  if (!checkpoint_saves_.complete()) return;
  checkpoint_->publishing = true;
  commands_.push_back(publish_checkpoint{m});
}

void coordinator::on_checkpoint(std::uint64_t number, const result<void>& outcome, instant now) {
  if (!checkpoint_ || checkpoint_->manifest.number() != number || ended()) return;
  const auto clock = checkpoint_->manifest.clock();
  if (!outcome)
    return abandon_checkpoint(outcome.failure().text, clock + settings_.checkpoint_every, now);
  checkpoint_.reset();
  checkpoint_asked_ = false;
  changed_ = true;
  latest_checkpoint_ = number;
  next_checkpoint_ = clock + settings_.checkpoint_every;
  note(now,
       format("checkpoint %llu was taken at clock %llu", static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(clock)));
  if (finishes_) finish();
}

void coordinator::abandon_checkpoint(const std::string& why, std::uint64_t next, instant now) {
  const auto number = checkpoint_->manifest.number();
  commands_.push_back(discard_checkpoint{number});
  if (!why.empty())
    note(now,
         format("checkpoint %llu was abandoned: ", static_cast<unsigned long long>(number)) + why);
  checkpoint_.reset();
  checkpoint_saves_.give_up();
  // One that was asked for has no rhythm to fall back on.
  next_checkpoint_ = checkpoint_asked_ ? std::max(next, board_.largest_clock() + 2) : next;
  changed_ = true;
  if (finishes_) finish();
}

pb::CommandReply coordinator::on_take_checkpoint(instant now) {
  pb::CommandReply reply;
  if (settings_.checkpoint_folder.empty())
    reply.set_text("the job has no folder for checkpoints: set checkpoint.folder");
  else if (phase_ != pb::JobStatus::TRAINING || board_.all_finished())
    reply.set_text("checkpoints are taken while the job trains");
  else if (checkpoint_)
    reply.set_text("a checkpoint is being taken already");
  if (!reply.text().empty()) return reply;
  checkpoint_asked_ = changed_ = true;
  next_checkpoint_ = bulk_synchronous() ? board_.largest_clock() + 2 : board_.smallest_clock();
  reply.set_accepted(true);
  reply.set_text(format("checkpoint %llu will be taken at clock %llu",
                        static_cast<unsigned long long>(checkpoints_ + 1),
                        static_cast<unsigned long long>(next_checkpoint_)));
  begin_checkpoint_if_due(now);
  return reply;
}

// ---- more dead than copies

void coordinator::recover(const std::vector<std::uint32_t>& lost, instant now) {
  if (bulk_synchronous()) {
    std::string which;
    for (const auto shard : lost) which += format("%s%u", which.empty() ? "" : ", ", shard);
    return go_back("nobody is left who has shard " + which, now);
  }
  // Only these: each is filled from the last checkpoint when nobody can answer for it any more.
  for (const auto shard : lost)
    lost_[shard] = now + duration(settings_.plan.timings().lease()) * 5 / 4;
  changed_ = true;
  lost_loads_.give_up();
  if (std::exchange(reading_for_lost_, true)) return;
  commands_.push_back(read_checkpoint{});
}

void coordinator::go_back(const std::string& why, instant now) {
  ++generation_;
  note(now, why + ": the job goes back to its last checkpoint, or to its start");
  if (checkpoint_) abandon_checkpoint({}, next_checkpoint_, now);
  // What was being measured or kept is when the slots come there again.
  measured_at_ = measured_before();
  if (errand_ == errand::keeping) keep_again_ = measured_at_;
  phase_ = pb::JobStatus::STARTING;
  training_ended_ = finishes_ = false;
  restored_ = false;
  source_of_.clear();
  summaries_.give_up();
  saves_.give_up();
  loads_.give_up();
  for (auto& [index, n] : workers_) n.task.reset();
  errand_ = errand::reading;
  changed_ = true;
  commands_.push_back(read_checkpoint{});
}

void coordinator::on_checkpoint_read(const result<std::optional<found_checkpoint>>& found,
                                     instant now) {
  if (ended()) return;
  if (!found) return fail(found.failure().code, found.failure().text, now);
  if (errand_ == errand::reading) {
    if (settings_.resume && generation_ == 0 && !*found)
      return fail(errc::bad_usage,
                  "there is no checkpoint to go on from in " + settings_.checkpoint_folder, now);
    return start_from(*found, now);
  }
  if (std::exchange(reading_for_lost_, false)) restore_lost(*found, now);
}

// New shards for all, filled from a checkpoint, or from an earlier model, or empty; then new lives
// of all slots.
void coordinator::start_from(const std::optional<found_checkpoint>& found, instant now) {
  if (living_servers().empty()) {  // the next one to join
    start_with_ = found;
    return;
  }
  errand_ = errand::none;
  source_of_.clear();
  const auto servers = living_servers();
  const auto number = next_view_number();
  std::vector<std::size_t> parts;
  view next;
  if (found && !found->manifest.one_cut()) {
    std::vector<std::vector<closed_range>> ranges;
    for (const auto& s : found->manifest.shards()) {
      ranges.emplace_back();
      for (int i = 0; i < s.first_size(); ++i) ranges.back().push_back({s.first(i), s.last(i)});
    }
    next = dealt_view(number, servers, settings_.virtual_nodes, settings_.copies, next_shard_,
                      ranges, parts);
  } else {
    next = first_view(number, servers, settings_.virtual_nodes, settings_.copies, next_shard_);
    parts.assign(next.shards().size(), 0);  // one cut: all have the same numbers
  }
  next_shard_ = next.shards().back().number + 1;
  targets_.clear();
  std::uint64_t clock = 0;
  if (found) {
    const auto& m = found->manifest;
    latest_checkpoint_ = m.number();
    checkpoints_ = std::max(checkpoints_, m.number());
    clock = m.clock();
    // One that has gone back knows more itself.
    if (latest_.number() == 0) take_up(m.measured(), settings_.best_folder.empty());
    // The run that wrote it may have moved slots, and what is restored refuses their earlier lives.
    for (const auto& s : m.shards())
      for (const auto& record : s.slots()) board_.outlive(record.slot(), record.epoch());
    note(now, format("the job goes on from checkpoint %llu, at clock %llu",
                     static_cast<unsigned long long>(m.number()),
                     static_cast<unsigned long long>(clock)));
  }
  pb::LoadPart source;
  source.set_replace(true);
  if (found) {
    source.set_folder(found->folder);
    source.set_with_state(true);
    for (const auto& s : found->manifest.shards())
      for (const auto& name : s.files()) source.add_files(name);
    source.set_with_slots(true);
  } else if (!settings_.initial_files.empty()) {
    source.set_folder(settings_.initial_folder);
    for (const auto& name : settings_.initial_files) source.add_files(name);
    source.set_with_state(settings_.initial_state);
  }
  for (std::size_t i = 0; source.files_size() > 0 && i < next.shards().size(); ++i) {
    auto& of = source_of_[next.shards()[i].number] = source;
    if (!found) continue;
    const auto& s = found->manifest.shards(static_cast<int>(parts[i]));
    *of.mutable_slots() = s.slots();
    for (auto& record : *of.mutable_slots()) record.set_unknown(false);
    of.set_version(s.version());
  }
  board_.go_back_to(clock);
  if (settings_.measure_every > 0) limit_ = limit_from(clock);
  next_checkpoint_ = clock + settings_.checkpoint_every;
  publish(std::move(next), now);
}

// The shards that were lost take their rows from the checkpoint. Where a slot stands there, its
// next push says: the oldest that has not been acknowledged. Slots that have finished push no more.
void coordinator::restore_lost(const std::optional<found_checkpoint>& found, instant now) {
  std::vector<shard_round::key> keys;
  for (const auto& [shard, when] : lost_) {
    const auto* e = view_.find(shard);
    if (e == nullptr) continue;
    pb::LoadPart source;
    source.set_replace(true);
    source.set_with_slots(true);
    source.set_with_state(true);
    source.set_restoring(true);
    std::uint64_t from = 0;
    if (found) {
      source.set_folder(found->folder);
      for (const auto& s : found->manifest.shards())
        for (const auto& name : s.files()) source.add_files(name);
      from = found->manifest.clock();
    }
    std::uint64_t gap = 0;
    for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
      const auto clock = board_.clock(slot);
      gap += clock - std::min(clock, from);
      auto* record = source.add_slots();
      record->set_slot(slot);
      record->set_epoch(board_.epoch(slot));  // earlier lives speak no more
      record->set_finished(board_.finished(slot));
      record->set_unknown(!board_.finished(slot));
      if (board_.finished(slot)) record->set_next_clock(clock);
    }
    note(now, format("shard %u was lost with all its copies; it is restored %s%s, and lacks the "
                     "updates of about %llu clocks",
                     shard, found ? "from checkpoint " : "empty",
                     found ? std::to_string(found->manifest.number()).c_str() : "",
                     static_cast<unsigned long long>(gap)));
    source_of_[shard] = std::move(source);
    keys.emplace_back(shard, e->primary());
  }
  auto when = now;
  for (const auto& [shard, free] : lost_) when = std::max(when, free);
  lost_loads_.begin(keys, when);
  send_loads(now);
}

// ---- the scheduler itself

std::optional<pb::SchedulerState> coordinator::take_changed_state(instant now) {
  if (!std::exchange(changed_, false)) return std::nullopt;
  pb::SchedulerState s;
  s.set_job(settings_.plan.name());
  s.set_phase(phase_);
  if (!view_.empty()) *s.mutable_view() = view_.to_message();
  s.set_next_shard(next_shard_);
  s.set_generation(generation_);
  const auto add = [&s](role_id id, const node& n) {
    auto* known = s.add_nodes();
    known->set_role(id.role);
    known->set_index(id.index);
    known->set_incarnation(n.incarnation);
    known->set_joined(n.joined);
    known->set_dead(n.dead);
    known->set_draining(n.draining);
  };
  for (const auto& [index, n] : servers_) add(server_role(index), n);
  for (const auto& [index, n] : workers_) add(worker_role(index), n);
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    auto* owned = s.add_slots();
    owned->set_worker(board_.owner(slot));
    owned->set_epoch(board_.epoch(slot));
    *owned->mutable_total() = board_.total(slot);
  }
  for (const auto& [shard, server] : targets_) {
    auto* t = s.add_targets();
    t->set_shard(shard);
    t->set_server(server);
  }
  s.set_has_limit(limit_.has_value());
  s.set_limit(limit_.value_or(0));
  s.set_keeping(errand_ == errand::keeping);
  s.set_interrupted(interrupted_);
  if (best_.number() > 0) *s.mutable_best() = best_;
  for (const auto& name : best_files_) s.add_best_files(name);
  s.set_checkpoint(latest_checkpoint_);
  s.set_next_checkpoint(next_checkpoint_);
  s.set_checkpoints(checkpoints_);
  s.set_restarts(restarts_);
  s.set_failovers(failovers_);
  for (const auto& e : events_) *s.add_events() = e;
  s.set_elapsed_ns((now - begun_ + elapsed_before_).count());
  s.set_trained_ns((training_ended_ ? trained_for_ : now - training_begun_).count());
  *s.mutable_measured() = measured_state();
  s.set_stopped_early(stopped_early_);
  s.set_converged(converged_);
  for (const auto& [shard, when] : lost_) s.add_lost(shard);
  for (const auto& t : tables_) *s.add_tables() = t;
  for (const auto& m : metrics_) *s.add_metrics() = m;
  if (failure_) {
    s.set_code(static_cast<std::int32_t>(failure_->code));
    s.set_text(failure_->text);
  }
  return s;
}

void coordinator::take_up(const pb::SchedulerState& s, instant now) {
  elapsed_before_ = duration(s.elapsed_ns());
  phase_ = s.phase();
  if (auto before = view::from_message(s.view()); before && before->number() > 0)
    view_ = std::move(*before);
  next_shard_ = s.next_shard();
  generation_ = s.generation();
  for (const auto& known : s.nodes()) {
    auto& n = (known.role() == pb::SERVER ? servers_ : workers_)[known.index()];
    n.incarnation = known.incarnation();
    n.joined = known.joined();
    n.dead = known.dead();
    n.draining = known.draining();
    // Who is silent from now on is found out as ever.
    if (n.alive()) detector_.heard({known.role(), known.index()}, now);
  }
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
    if (static_cast<int>(slot) < s.slots_size())
      board_.take_up(slot, s.slots(static_cast<int>(slot)).worker(),
                     s.slots(static_cast<int>(slot)).epoch(),
                     s.slots(static_cast<int>(slot)).total(), now);
  for (const auto& t : s.targets()) targets_[t.shard()] = t.server();
  if (s.has_limit()) limit_ = s.limit();
  interrupted_ = s.interrupted();
  if (s.has_best()) best_ = s.best();
  best_files_ = {s.best_files().begin(), s.best_files().end()};
  latest_checkpoint_ = s.checkpoint();
  next_checkpoint_ = s.next_checkpoint();
  checkpoints_ = s.checkpoints();
  restarts_ = s.restarts() + 1;
  failovers_ = s.failovers();
  events_ = {s.events().begin(), s.events().end()};
  take_up(s.measured(), true);
  stopped_early_ = s.stopped_early();
  converged_ = s.converged();
  training_begun_ = now + (-duration(s.trained_ns()));
  moved_ = now;
  tables_ = {s.tables().begin(), s.tables().end()};
  metrics_ = {s.metrics().begin(), s.metrics().end()};
  if (phase_ == pb::JobStatus::FAILED) failure_ = error{static_cast<errc>(s.code()), s.text()};
  trained_for_ = duration(s.trained_ns());
  note(now, "the scheduler has started again");
  changed_ = true;
  if (ended() || phase_ == pb::JobStatus::GATHERING) return;
  if (phase_ == pb::JobStatus::STARTING || view_.empty()) {
    if (generation_ == 0 && !settings_.resume) {
      phase_ = pb::JobStatus::GATHERING;
      return start_when_all_joined(now);
    }
    phase_ = pb::JobStatus::STARTING;
    errand_ = errand::reading;
    commands_.push_back(read_checkpoint{});
    return;
  }
  // What the view said is said again, under our own number: an older scheduler's word is refused.
  std::vector<std::uint32_t> lost(s.lost().begin(), s.lost().end());
  publish(view(next_view_number(), view_.members(), view_.shards(), view_.segments()), now);
  if (!lost.empty()) recover(lost, now);
  if (phase_ == pb::JobStatus::TRAINING) {
    if (!s.keeping()) return;
    errand_ = errand::keeping;
    return save_into(settings_.best_folder, now);
  }
  training_ended_ = true;
  trained_for_ = duration(s.trained_ns());
  phase_ = pb::JobStatus::TRAINING;
  end_training(now);
}

}  // namespace troupe
