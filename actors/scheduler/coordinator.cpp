#include "actors/scheduler/coordinator.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "messages/ring.hpp"
#include "messages/roles.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

// Views are numbered (scheduler incarnation, count); the first of the first scheduler.
constexpr std::uint64_t first_view = (std::uint64_t{1} << 32) + 1;

}  // namespace

coordinator::coordinator(job_settings settings, evaluation& scores, instant now)
    : settings_(std::move(settings)),
      begun_(now),
      board_(settings_.plan.slots()),
      measurement_(scores),
      stopping_(settings_.stopping) {
  if (settings_.measure_every > 0) limit_ = settings_.measure_every;
  for (std::uint32_t i = 0; i < settings_.servers; ++i) servers_[i];
  for (std::uint32_t i = 0; i < settings_.workers; ++i) workers_[i];
}

std::optional<std::string> coordinator::objection(const pb::Join& join) const {
  if (join.protocol() != protocol_version)
    return format("it speaks protocol %u, this cluster %u", join.protocol(), protocol_version);
  if (join.build() != build_version())
    return format("it is build %s, this cluster %s", join.build().c_str(), build_version());
  if (join.role() != pb::SERVER && join.role() != pb::WORKER)
    return "only servers and workers join";
  const auto& nodes = join.role() == pb::SERVER ? servers_ : workers_;
  const auto found = nodes.find(join.index());
  if (found == nodes.end())
    return format("the job has %zu of its role, numbered from 0", nodes.size());
  if (join.incarnation() < found->second.incarnation)
    return format("incarnation %llu has been replaced by %llu",
                  static_cast<unsigned long long>(join.incarnation()),
                  static_cast<unsigned long long>(found->second.incarnation));
  return std::nullopt;
}

pb::JoinReply coordinator::refuse(const pb::Join& join, const std::string& why) const {
  pb::JoinReply reply;
  reply.set_text(to_string({join.role(), join.index()}) + " may not join: " + why);
  return reply;
}

pb::JoinReply coordinator::on_join(const pb::Join& join, instant now) {
  if (const auto why = objection(join)) return refuse(join, *why);
  auto& n = (join.role() == pb::SERVER ? servers_ : workers_)[join.index()];
  const bool new_life = join.incarnation() > n.incarnation;
  if (join.role() == pb::SERVER && new_life && n.incarnation > 0 && !view_.empty()) {
    // It has come back without its rows, and no copy of them exists.
    const auto text =
        format("server %u came back as incarnation %llu without its state, and no copies exist",
               join.index(), static_cast<unsigned long long>(join.incarnation()));
    fail(errc::lost, text, now);
    return refuse(join, text);
  }
  n.incarnation = join.incarnation();
  n.joined = true;
  if (join.role() == pb::WORKER && new_life) {
    if (n.task) (void)measurement_.give_back(*n.task);
    n.task.reset();
    if (phase_ == pb::JobStatus::TRAINING)
      for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
        if (board_.owner(slot) == join.index() && !board_.finished(slot)) {
          board_.assign(slot, join.index(), now);
          moved_ = now;
          assign(slot, now);
        }
  }
  pb::JoinReply reply;
  reply.set_accepted(true);
  *reply.mutable_plan() = settings_.plan;
  if (!view_.empty()) *reply.mutable_view() = view_.to_message();
  start_when_all_joined(now);
  hand_out_tasks();
  return reply;
}

void coordinator::start_when_all_joined(instant) {
  const auto joined = [](const auto& entry) { return entry.second.joined; };
  if (phase_ != pb::JobStatus::GATHERING ||
      !std::all_of(servers_.begin(), servers_.end(), joined) ||
      !std::all_of(workers_.begin(), workers_.end(), joined))
    return;
  std::vector<std::uint32_t> members;
  for (const auto& [index, n] : servers_) members.push_back(index);
  view_ = view(first_view, members, make_ring(members, settings_.virtual_nodes, 0, first_view));
  phase_ = pb::JobStatus::STARTING;
  send_views();
}

void coordinator::send_views() {
  for (auto& [server, n] : servers_) {
    if (n.view_installed || n.view_sent) continue;
    n.view_sent = true;
    commands_.push_back(send_view{server, view_.to_message()});
  }
}

void coordinator::on_view(std::uint32_t server, const result<pb::ViewReply>& reply, instant now) {
  if (phase_ != pb::JobStatus::STARTING) return;
  auto& n = servers_[server];
  n.view_sent = false;
  if (!reply || !reply->installed()) {  // tried again at the next tick
    if (now - begun_ > settings_.join_patience)
      fail(errc::timeout,
           format("server %u does not install the view: %s", server,
                  reply ? reply->text().c_str() : reply.failure().text.c_str()),
           now);
    return;
  }
  n.view_installed = true;
  if (!std::all_of(servers_.begin(), servers_.end(),
                   [](const auto& e) { return e.second.view_installed; }))
    return;
  if (settings_.initial_files.empty()) return start_training(now);
  errand_ = errand::loading;
  load(settings_.initial_folder, settings_.initial_files, settings_.initial_state, false);
}

void coordinator::start_training(instant now) {
  phase_ = pb::JobStatus::TRAINING;
  training_begun_ = moved_ = ticked_ = now;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    board_.assign(slot, slot % settings_.workers, now);
    assign(slot, now);
  }
}

// (Re)sends the slot's present assignment; a worker that has it already ignores it.
void coordinator::assign(std::uint32_t slot, instant now) {
  board_.touch(slot, now);
  pb::Assignment a;
  a.set_slot(slot);
  a.set_epoch(board_.epoch(slot));
  *a.mutable_view() = view_.to_message();
  a.set_halts(limit_.has_value());
  a.set_limit(limit_.value_or(0));
  commands_.push_back(send_assignment{board_.owner(slot), std::move(a)});
  if (stopping()) commands_.push_back(send_stop{board_.owner(slot), {}});
}

void coordinator::on_progress(const pb::Progress& progress, instant now) {
  for (const auto& slot : progress.slots()) {
    const bool moves = slot.slot() < board_.slots() && slot.clock() != board_.clock(slot.slot());
    if (board_.report(slot, now) && moves) moved_ = now;
  }
  go_on_when_all_wait(now);
}

void coordinator::on_slot_failed(const pb::SlotFailed& failed, instant now) {
  if (failed.slot() >= board_.slots() || failed.epoch() != board_.epoch(failed.slot())) return;
  fail(static_cast<errc>(failed.code()),
       format("worker %u, slot %u: %s", failed.worker(), failed.slot(), failed.text().c_str()),
       now);
}

void coordinator::on_down(const pb::NodeDown& down, instant now) {
  if (ended()) return;
  const auto name = to_string({down.role(), down.index()});
  if (down.role() == pb::SERVER)
    return fail(errc::lost,
                name + " died and its rows with it, since no copies exist: " + down.reason(), now);
  if (down.final())
    return fail(errc::lost,
                format("%s died and its restart budget is spent after %u restarts: %s",
                       name.c_str(), down.restarts(), down.reason().c_str()),
                now);
  ++restarts_;
  if (const auto n = workers_.find(down.index());
      n != workers_.end() && n->second.incarnation <= down.incarnation())
    n->second.joined = false;
}

void coordinator::on_stop(const pb::StopJob& stop, instant now) {
  if (ended() || interrupted_) return;
  interrupted_ = true;
  if (phase_ < pb::JobStatus::TRAINING)
    return fail(errc::interrupted, "stopped before training began: " + stop.reason(), now);
  pb::StopSlots request;
  request.set_reason(stop.reason());
  for (const auto& [worker, n] : workers_) commands_.push_back(send_stop{worker, request});
}

void coordinator::on_time(instant now) {
  if (phase_ == pb::JobStatus::GATHERING && now - begun_ > settings_.join_patience) {
    const auto present = status();
    std::string missing;
    for (const auto& name : present.waiting_for()) missing += (missing.empty() ? "" : ", ") + name;
    return fail(errc::timeout,
                format("after %.0f s these nodes have not joined: %s",
                       seconds_of(settings_.join_patience), missing.c_str()),
                now);
  }
  if (phase_ == pb::JobStatus::STARTING && errand_ == errand::none) send_views();
  hand_out_tasks();
  if (phase_ == pb::JobStatus::TRAINING) {
    remind(now);
    fail_if_nobody_moves(now);
  }
  if (phase_ == pb::JobStatus::TRAINING)
    for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
      const auto worker = board_.owner(slot);
      if (board_.finished(slot) || !workers_[worker].joined) continue;
      // Reports come several times a second; a slot that is silent for so long has not got its
      // assignment.
      if (now - board_.heard(slot) > 5 * duration(settings_.plan.timings().request_timeout()))
        assign(slot, now);
    }
}

// A limit that was raised, or a stop, may have been lost on its way: a slot that reports itself
// halted before an older limit, or goes on, is told again.
void coordinator::remind(instant now) {
  if (now - reminded_ < duration(settings_.plan.timings().request_timeout())) return;
  reminded_ = now;
  std::set<std::uint32_t> to_stop;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    const auto worker = board_.owner(slot);
    if (board_.finished(slot) || !workers_[worker].joined) continue;
    if (stopping()) to_stop.insert(worker);
    if (!stopping() && limit_ && board_.halted_below(slot, *limit_)) assign(slot, now);
  }
  for (const auto worker : to_stop) commands_.push_back(send_stop{worker, {}});
}

std::vector<command> coordinator::take_commands() {
  return std::exchange(commands_, {});
}

pb::JobStatus coordinator::status(bool with_view) const {
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
    if (!n.joined) s.add_waiting_for(to_string(server_role(index)));
  for (const auto& [index, n] : workers_)
    if (!n.joined) s.add_waiting_for(to_string(worker_role(index)));
  s.set_training_ns(trained_for_.count());
  if (latest_.number() > 0) *s.mutable_latest() = latest_;
  if (best_.number() > 0) *s.mutable_best() = best_;
  s.set_stopped_early(stopped_early_);
  if (with_view && !view_.empty()) *s.mutable_view() = view_.to_message();
  return s;
}

void coordinator::fail(errc code, std::string text, instant) {
  if (ended()) return;
  phase_ = pb::JobStatus::FAILED;
  failure_ = error{code, std::move(text)};
  commands_.clear();
}

}  // namespace troupe
