// The slots: who owns them, how far they are, and what they are told.

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"
#include "messages/roles.hpp"

namespace troupe {

void coordinator::start_training(instant now) {
  phase_ = pb::JobStatus::TRAINING;
  changed_ = true;
  if (generation_ == 0 || training_begun_ == instant{}) training_begun_ = now;
  moved_ = ticked_ = now;
  errand_ = errand::none;
  const auto workers = living_workers();
  if (workers.empty()) return;  // the next one to join gets them
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    board_.assign(slot, workers[slot % workers.size()], now);
    assign(slot, now);
  }
}

// (Re)sends the slot's present assignment; a worker that has it already ignores it.
void coordinator::assign(std::uint32_t slot, instant now) {
  board_.touch(slot, now);
  changed_ = true;
  pb::Assignment a;
  a.set_slot(slot);
  a.set_epoch(board_.epoch(slot));
  *a.mutable_view() = view_.to_message();
  a.set_halts(limit_.has_value());
  a.set_limit(limit_.value_or(0));
  for (const auto& stage : course_.stages()) *a.add_stages() = stage;
  commands_.push_back(send_assignment{board_.owner(slot), std::move(a)});
  if (stopping()) commands_.push_back(send_stop{board_.owner(slot), {}});
}

// The slots of one who left go to those who have the fewest.
void coordinator::take_slots_from(std::uint32_t worker, instant now) {
  auto workers = living_workers();
  workers.erase(std::remove(workers.begin(), workers.end(), worker), workers.end());
  if (workers.empty()) return;  // they wait for one to join
  std::map<std::uint32_t, std::uint32_t> owned;
  for (const auto w : workers) owned[w] = 0;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot)
    if (!board_.finished(slot) && owned.count(board_.owner(slot))) ++owned[board_.owner(slot)];
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    if (board_.owner(slot) != worker || board_.finished(slot)) continue;
    const auto to = std::min_element(owned.begin(), owned.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
    ++owned[to];
    board_.assign(slot, to, now);
    note(now, format("slot %u goes on at worker %u from clock %llu", slot, to,
                     static_cast<unsigned long long>(board_.clock(slot))));
    moved_ = now;
    assign(slot, now);
  }
}

// A worker has joined, perhaps again: its own slots go on in a new life, those of nobody are its,
// and it takes some of whoever has more than a fair share.
void coordinator::give_slots_to(std::uint32_t worker, instant now) {
  if (workers_[worker].draining) return;
  std::map<std::uint32_t, std::vector<std::uint32_t>> owned;
  for (const auto w : living_workers()) owned[w];
  std::vector<std::uint32_t> take;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    if (board_.finished(slot)) continue;
    const auto owner = board_.owner(slot);
    if (owner == worker || board_.epoch(slot) == 0 || !owned.count(owner))
      take.push_back(slot);
    else
      owned[owner].push_back(slot);
  }
  for (;;) {
    const auto most = std::max_element(
        owned.begin(), owned.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == owned.end() || most->second.size() < take.size() + 2) break;
    take.push_back(most->second.back());
    most->second.pop_back();
  }
  for (const auto slot : take) {
    board_.assign(slot, worker, now);
    moved_ = now;
    assign(slot, now);
  }
}

void coordinator::on_progress(const pb::Progress& progress, instant now) {
  for (const auto& slot : progress.slots()) {
    const bool in_range = slot.slot() < board_.slots();
    const bool moves = in_range && slot.clock() != board_.clock(slot.slot());
    const bool finishes = in_range && slot.finished() && !board_.finished(slot.slot());
    if (!board_.report(slot, now)) continue;
    if (moves) moved_ = now;
    changed_ = changed_ || finishes;
  }
  if (phase_ == pb::JobStatus::TRAINING) begin_checkpoint_if_due(now);
  go_on_when_all_wait(now);
}

void coordinator::on_slot_failed(const pb::SlotFailed& failed, instant now) {
  if (failed.slot() >= board_.slots() || failed.epoch() != board_.epoch(failed.slot())) return;
  fail(static_cast<errc>(failed.code()),
       format("worker %u, slot %u: %s", failed.worker(), failed.slot(), failed.text().c_str()),
       now);
}

// A limit that was raised, or a stop, may have been lost on its way: a slot that reports itself
// halted before an older limit, or goes on, is told again. So is one that is silent: reports come
// several times a second, so it has not got its assignment.
void coordinator::remind(instant now) {
  const duration timeout(settings_.plan.timings().request_timeout());
  if (now - reminded_ < timeout) return;
  reminded_ = now;
  std::set<std::uint32_t> to_stop;
  for (std::uint32_t slot = 0; slot < board_.slots(); ++slot) {
    const auto worker = board_.owner(slot);
    if (board_.finished(slot) || board_.epoch(slot) == 0 || !workers_[worker].alive()) continue;
    if (stopping()) to_stop.insert(worker);
    const bool halted_too_early = !stopping() && limit_ && board_.halted_below(slot, *limit_);
    if (halted_too_early || now - board_.heard(slot) > 5 * timeout) assign(slot, now);
  }
  for (const auto worker : to_stop) commands_.push_back(send_stop{worker, {}});
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

}  // namespace troupe
