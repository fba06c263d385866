#pragma once
// A slot's program that does what another thread tells it: the worker's side of the client library.
// Commands wait in a queue; the worker's actor takes them in its own turn.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/worker/program.hpp"
#include "apps/client/client.hpp"
#include "core/background.hpp"

namespace troupe {

// In place of a node's background: a job waits until somebody pokes, and its end then brings the
// worker's actor to its queue.
class poked_background final : public background {
 public:
  bool run(job work, job after) override;
  void poke();

 private:
  std::mutex mutex_;
  std::vector<std::pair<job, job>> waiting_;
  bool poked_ = false;  // while nobody waited
};

// What the two sides share.
class client_bridge {
 public:
  using command = std::function<void(slot_session&)>;
  struct outcome {
    std::optional<error> failure;
    pulled_rows rows;
  };

  // The caller's side.
  void give(std::uint32_t slot, command what);
  client_ticket expect(std::uint32_t slot);  // a ticket for a request that is to be given
  // Waits for `what` to be so, at most that long; false: it is not.
  template <class Is>
  bool wait(Is what, duration at_most) {
    std::unique_lock guard(mutex_);
    return changed_.wait_for(guard, at_most, what);
  }
  std::optional<clock_turn> take_turn();  // under wait()'s lock: see turns()
  bool turns() const { return !turns_.empty(); }
  bool known(client_ticket t) const { return outcomes_.count(t) > 0; }
  bool answered(client_ticket t) const {
    const auto found = outcomes_.find(t);
    return found != outcomes_.end() && found->second.has_value();
  }
  std::optional<outcome> take(client_ticket t);
  void clock_over(std::uint32_t slot);

  // The worker's side, in its actor's turns.
  void begin(std::uint32_t slot, std::uint64_t clock);
  void forsake(std::uint32_t slot);  // a new life of the slot: what was asked is void
  std::vector<command> commands_of(std::uint32_t slot);
  void answer(client_ticket t, outcome what);
  // The ticket of the kv client for one of ours, for `after`.
  void note(client_ticket ours, ticket theirs) { tickets_[ours] = theirs; }
  std::vector<ticket> theirs(const std::vector<client_ticket>& ours) const;

  poked_background& poker() { return *poker_; }
  std::shared_ptr<poked_background> background() const { return poker_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::vector<command>> commands_;
  std::deque<clock_turn> turns_;
  std::map<client_ticket, std::optional<outcome>> outcomes_;
  struct asked_in {
    std::uint32_t slot = 0;
    std::uint64_t clocks_over = 0;  // of the slot, at that time
  };
  std::map<client_ticket, asked_in> asked_;
  std::map<std::uint32_t, std::uint64_t> clocks_over_;
  std::map<client_ticket, ticket> tickets_;  // the worker's side alone
  client_ticket next_ = 1;
  const std::shared_ptr<poked_background> poker_ = std::make_shared<poked_background>();
};

class external_application final : public application {
 public:
  external_application(std::shared_ptr<client_bridge> bridge, std::uint64_t clocks)
      : bridge_(std::move(bridge)), clocks_(clocks) {}
  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter&) override;
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask&, meter&) override {
    return error{errc::bad_request, "an external program scores its own data"};
  }

 private:
  const std::shared_ptr<client_bridge> bridge_;
  const std::uint64_t clocks_;
};

}  // namespace troupe
