#include "apps/client/external_program.hpp"

#include <limits>

namespace troupe {

bool poked_background::run(job work, job after) {
  {
    std::lock_guard guard(mutex_);
    if (!std::exchange(poked_, false)) {
      waiting_.emplace_back(std::move(work), std::move(after));
      return true;
    }
  }
  work();
  after();
  return true;
}

void poked_background::poke() {
  std::vector<std::pair<job, job>> due;
  {
    std::lock_guard guard(mutex_);
    due.swap(waiting_);
    if (due.empty()) poked_ = true;
  }
  for (auto& [work, after] : due) {
    work();
    after();
  }
}

void client_bridge::give(std::uint32_t slot, command what) {
  {
    std::lock_guard guard(mutex_);
    commands_[slot].push_back(std::move(what));
  }
  poker_->poke();
}

client_ticket client_bridge::expect(std::uint32_t slot) {
  std::lock_guard guard(mutex_);
  outcomes_.emplace(next_, std::nullopt);
  asked_[next_] = {slot, clocks_over_[slot]};
  return next_++;
}

std::optional<clock_turn> client_bridge::take_turn() {
  std::lock_guard guard(mutex_);
  if (turns_.empty()) return std::nullopt;
  const auto turn = turns_.front();
  turns_.pop_front();
  return turn;
}

std::optional<client_bridge::outcome> client_bridge::take(client_ticket t) {
  std::lock_guard guard(mutex_);
  const auto found = outcomes_.find(t);
  if (found == outcomes_.end() || !found->second) return std::nullopt;
  auto what = std::move(*found->second);
  outcomes_.erase(found);
  asked_.erase(t);
  return what;
}

// What was asked in the clock before is forgotten.
void client_bridge::clock_over(std::uint32_t slot) {
  std::lock_guard guard(mutex_);
  const auto over = ++clocks_over_[slot];
  for (auto i = asked_.begin(); i != asked_.end();)
    if (i->second.slot == slot && i->second.clocks_over + 2 <= over) {
      outcomes_.erase(i->first);
      i = asked_.erase(i);
    } else {
      ++i;
    }
}

void client_bridge::begin(std::uint32_t slot, std::uint64_t clock) {
  std::lock_guard guard(mutex_);
  turns_.push_back({slot, clock});
  changed_.notify_all();
}

void client_bridge::forsake(std::uint32_t slot) {
  std::lock_guard guard(mutex_);
  commands_.erase(slot);
  for (auto i = turns_.begin(); i != turns_.end();) i = i->slot == slot ? turns_.erase(i) : i + 1;
  for (auto& [t, asked] : asked_)
    if (asked.slot == slot && !outcomes_[t])
      outcomes_[t] = outcome{error{errc::stale, "the slot has begun a new life"}, {}};
  changed_.notify_all();
}

std::vector<client_bridge::command> client_bridge::commands_of(std::uint32_t slot) {
  std::lock_guard guard(mutex_);
  return std::exchange(commands_[slot], {});
}

void client_bridge::answer(client_ticket t, outcome what) {
  tickets_.erase(t);
  std::lock_guard guard(mutex_);
  const auto found = outcomes_.find(t);
  if (found != outcomes_.end()) found->second = std::move(what);
  changed_.notify_all();
}

std::vector<ticket> client_bridge::theirs(const std::vector<client_ticket>& ours) const {
  std::vector<ticket> all;
  for (const auto t : ours)
    if (const auto found = tickets_.find(t); found != tickets_.end()) all.push_back(found->second);
  return all;
}

namespace {

class external_program final : public slot_program {
 public:
  external_program(std::uint32_t slot, std::uint64_t clocks, std::shared_ptr<client_bridge> bridge)
      : slot_(slot), clocks_(clocks), bridge_(std::move(bridge)) {
    bridge_->forsake(slot_);
  }
  std::uint64_t clocks() const override {
    return clocks_ > 0 ? clocks_ : std::numeric_limits<std::uint32_t>::max();
  }
  std::uint64_t examples_before(std::uint64_t) const override { return 0; }

  void run(slot_session& session, std::uint64_t clock) override {
    bridge_->begin(slot_, clock);
    if (!std::exchange(listens_, true)) listen(session);
  }

 private:
  // The next look at the queue comes with the next poke.
  void listen(slot_session& session) {
    const auto nothing = [] { return result<void>(); };
    session.read(nothing, [this, &session](result<void>) {
      for (const auto& what : bridge_->commands_of(slot_)) what(session);
      listen(session);
    });
  }

  const std::uint32_t slot_;
  const std::uint64_t clocks_;
  const std::shared_ptr<client_bridge> bridge_;
  bool listens_ = false;
};

}  // namespace

std::unique_ptr<slot_program> external_application::slot(std::uint32_t slot, meter&) {
  return std::make_unique<external_program>(slot, clocks_, bridge_);
}

}  // namespace troupe
