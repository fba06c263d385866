#include "actors/scheduler/coordinator.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "messages/roles.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

detector_settings detector_settings_of(const pb::Timings& t) {
  detector_settings d;
  if (t.suspect_after() > 0) d.suspect_after = duration(t.suspect_after());
  if (t.death_after() > 0) d.death_after = duration(t.death_after());
  return d;
}

}  // namespace

coordinator::coordinator(job_settings settings, evaluation& scores, instant now,
                         std::uint64_t incarnation, const pb::SchedulerState* before)
    : settings_(std::move(settings)),
      incarnation_(incarnation),
      begun_(now),
      detector_(detector_settings_of(settings_.plan.timings())),
      board_(settings_.plan.slots()),
      ticked_(now),
      measurement_(scores),
      stopping_(settings_.stopping),
      course_(settings_.course) {
  if (settings_.measure_every > 0) limit_ = limit_behind(0);
  next_checkpoint_ = settings_.checkpoint_every;
  for (std::uint32_t i = 0; i < settings_.servers; ++i) servers_[i];
  for (std::uint32_t i = 0; i < settings_.workers; ++i) workers_[i];
  if (before != nullptr) take_up(*before, now);
}

pb::CommandReply coordinator::on_stop(const pb::StopJob& stop, instant now) {
  pb::CommandReply reply;
  reply.set_accepted(!ended());
  reply.set_text(ended() ? "the job has ended" : "training ends, and the model is saved");
  if (ended() || interrupted_) return reply;
  interrupted_ = changed_ = true;
  if (phase_ < pb::JobStatus::TRAINING) {
    fail(errc::interrupted, "stopped before training began: " + stop.reason(), now);
    return reply;
  }
  pb::StopSlots request;
  request.set_reason(stop.reason());
  for (const auto& [worker, n] : workers_) commands_.push_back(send_stop{worker, request});
  return reply;
}

void coordinator::on_time(instant now) {
  if (ended()) return;
  if (phase_ == pb::JobStatus::GATHERING && now - begun_ > settings_.join_patience) {
    const auto present = status();
    std::string missing;
    for (const auto& name : present.waiting_for()) missing += (missing.empty() ? "" : ", ") + name;
    return fail(errc::timeout,
                format("after %.0f s these nodes have not joined: %s",
                       seconds_of(settings_.join_patience), missing.c_str()),
                now);
  }
  const auto verdicts = detector_.on_time(now);
  for (const auto& id : verdicts.suspected) note(now, to_string(id) + " is suspected");
  for (const auto& id : verdicts.dead) on_dead(id, "it has not been heard of", now);
  fail_if_nobody_is_left(now);
  if (ended()) return;
  send_views(now);
  split_for_newcomers(now);
  errands_on_time(now);
  hand_out_tasks();
  if (phase_ == pb::JobStatus::TRAINING) {
    begin_checkpoint_if_due(now);
    go_on_when_all_wait(now);
    remind(now);
    fail_if_nobody_moves(now);
  }
}

std::vector<command> coordinator::take_commands() {
  return std::exchange(commands_, {});
}

void coordinator::on_asked(const pb::StatusQuery& query) {
  if (!ended()) return;
  auto& nodes = query.role() == pb::SERVER ? servers_ : workers_;
  if (const auto found = nodes.find(query.index());
      found != nodes.end() && found->second.incarnation <= query.incarnation())
    found->second.knows_end = true;
}

// Nodes that live, as far as is known, and have not heard of the end.
std::uint32_t coordinator::unaware(instant now) const {
  if (!ended()) return 0;
  const duration death(settings_.plan.timings().death_after());
  std::uint32_t count = 0;
  const auto add = [&](role_id id, const node& n) {
    const bool silent = death > duration::zero() && detector_.silence(id, now) > death;
    if (n.alive() && !n.knows_end && !silent) ++count;
  };
  for (const auto& [index, n] : servers_) add(server_role(index), n);
  for (const auto& [index, n] : workers_) add(worker_role(index), n);
  return count;
}

pb::NodeStatus coordinator::status_of(role_id id, const node& n, instant now) const {
  pb::NodeStatus one;
  one.set_role(id.role);
  one.set_index(id.index);
  one.set_incarnation(n.incarnation);
  std::uint32_t has = 0;
  bool involved = false;
  if (id.role == pb::SERVER) {
    for (const auto& e : view_.shards()) {
      has += e.primary() == id.index ? 1 : 0;
      involved |= e.involves(id.index);
      if (e.primary() != id.index) continue;
      if (const auto keys = load_.find(e.number); keys != load_.end())
        one.set_keys(one.keys() + keys->second);
      if (const auto rows = rows_.find(e.number); rows != rows_.end())
        one.set_rows(one.rows() + rows->second);
    }
  } else {
    for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
      has += board_.owner(slot) == id.index ? 1 : 0;
    involved = has > 0;
  }
  one.set_shards(has);
  one.set_silent_ns(detector_.silence(id, now).count());
  for (const auto& text : n.waits) one.add_waiting_for(text);
  one.set_state(n.dead       ? pb::NodeStatus::DEAD
                : !n.joined  ? pb::NodeStatus::ABSENT
                : n.draining ? (involved ? pb::NodeStatus::DRAINING : pb::NodeStatus::DRAINED)
                : detector_.suspects(id) ? pb::NodeStatus::SUSPECTED
                                         : pb::NodeStatus::ALIVE);
  return one;
}

pb::JobStatus coordinator::brief_status(const pb::StatusQuery& query, instant now) const {
  pb::JobStatus s;
  s.set_phase(phase_);
  s.set_interrupted(interrupted_);
  s.set_unaware(unaware(now));
  const auto& nodes = query.role() == pb::SERVER ? servers_ : workers_;
  const auto asker = nodes.find(query.index());
  if (query.role() != pb::ROLE_UNSPECIFIED && asker != nodes.end())
    *s.add_nodes() = status_of({query.role(), query.index()}, asker->second, now);
  if (!failure_) return s;
  s.set_code(static_cast<std::int32_t>(failure_->code));
  s.set_text(failure_->text);
  return s;
}

pb::JobStatus coordinator::status(bool with_view, instant now) const {
  pb::JobStatus s;
  s.set_phase(phase_);
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) *s.add_slots() = board_.total(slot);
  for (const auto& m : metrics_) *s.add_metrics() = m;
  for (const auto& t : tables_) *s.add_tables() = t;
  if (failure_) {
    s.set_code(static_cast<std::int32_t>(failure_->code));
    s.set_text(failure_->text);
  }
  s.set_restarts(restarts_);
  s.set_interrupted(interrupted_);
  for (const auto& [index, n] : servers_)
    if (!n.joined && !n.dead) s.add_waiting_for(to_string(server_role(index)));
  for (const auto& [index, n] : workers_)
    if (!n.joined && !n.dead) s.add_waiting_for(to_string(worker_role(index)));
  s.set_training_ns(trained_for_.count());
  if (latest_.number() > 0) *s.mutable_latest() = latest_;
  if (best_.number() > 0) *s.mutable_best() = best_;
  s.set_stopped_early(stopped_early_);
  s.set_converged(converged_);
  for (const auto& e : events_) *s.add_events() = e;
  s.set_failovers(failovers_);
  s.set_generation(generation_);
  s.set_checkpoint(latest_checkpoint_);
  s.set_job(settings_.plan.name());
  s.set_unaware(unaware(now));
  if (!with_view) return s;
  if (!view_.empty()) *s.mutable_view() = view_.to_message();
  for (const auto& [index, n] : servers_) *s.add_nodes() = status_of(server_role(index), n, now);
  for (const auto& [index, n] : workers_) *s.add_nodes() = status_of(worker_role(index), n, now);
  return s;
}

void coordinator::fail(errc code, std::string text, instant) {
  if (ended()) return;
  phase_ = pb::JobStatus::FAILED;
  failure_ = error{code, std::move(text)};
  commands_.clear();
  changed_ = true;
}

// What befell the cluster, for people; the latest of it.
void coordinator::note(instant now, std::string text) {
  constexpr std::size_t most = 200;
  pb::Event e;
  e.set_at_ns((now - begun_ + elapsed_before_).count());
  e.set_text(std::move(text));
  if (events_.size() == most) events_.erase(events_.begin());
  events_.push_back(std::move(e));
}

}  // namespace troupe
