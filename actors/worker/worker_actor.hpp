#pragma once
// The worker: an actor around slot loops and evaluation loops. It carries their messages to servers
// and back, runs their file reads in the background, keeps their timers, and reports their progress
// to the scheduler.

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actors/supervision/background_jobs.hpp"
#include "actors/supervision/environment.hpp"
#include "actors/supervision/joining.hpp"
#include "actors/worker/evaluation_loop.hpp"
#include "actors/worker/faults.hpp"
#include "actors/worker/plan.hpp"
#include "actors/worker/program.hpp"
#include "actors/worker/slot_loop.hpp"
#include "messages/filters/ends.hpp"
#include "messages/worker_interface.hpp"

namespace troupe {

struct worker_setup {
  std::shared_ptr<application> app;
  std::shared_ptr<fault_switches> faults;
};

class worker_state {
 public:
  using pointer = worker_actor::stateful_pointer<worker_state>;
  static constexpr const char* name = "worker";

  explicit worker_state(pointer self) : self_(self) {}
  worker_actor::behavior_type start(environment env, worker_setup setup);

 private:
  // Somebody who talks to servers, under a number that replies find it by even if it has ended
  // meanwhile.
  using talker = std::uint64_t;
  enum class timers { now, later };  // whether a flush arms the talker's timer
  struct evaluation_under_way {
    std::unique_ptr<evaluation_loop> loop;
    caf::typed_response_promise<pb::EvaluatedPart, blob> promise;
  };

  void on_assign(const pb::Assignment& assignment);
  void on_stop();
  caf::result<pb::EvaluatedPart, blob> on_evaluate(const pb::EvaluateTask& task);
  void on_view(const pb::View& message);
  void on_tick();
  void on_wake();

  conversation* find(talker who);
  template <class... Reply>
  void on_reply(talker who, std::uint64_t number, const Reply&... reply);
  void on_failure(talker who, std::uint64_t number, const caf::error& why);
  // Sends out whatever the talker has produced, and notices its end.
  void flush(talker who, timers when = timers::now);
  void flush_adoptions(talker who, slot_loop& slot);
  void send(talker who, outgoing message);
  // `plain` is the message without its filters, for a server that does not know its keys.
  void send_once(talker who, const outgoing& message, const server_actor& server,
                 const std::shared_ptr<outgoing>& plain);
  std::shared_ptr<outgoing> filter(talker who, outgoing& message);
  bool sent_again(talker who, pb::Outcome outcome, const std::shared_ptr<outgoing>& plain);
  void trace(talker who, const outgoing& plain, const outgoing& sent) const;
  void read(talker who, read_order order);
  void read_what_was_put_off();
  std::vector<talker> everybody() const;
  void conclude(talker who);
  void wake_in_time(const conversation& who);
  void report();
  void report_failure(const slot_loop& slot);

  pointer self_;
  environment env_;
  worker_setup setup_;
  joining joining_;
  background_jobs jobs_;
  std::optional<pb::JobPlan> plan_;
  worker_end filters_;  // with nothing to do where the plan has no filters
  talker next_talker_ = 1;
  std::map<talker, std::unique_ptr<slot_loop>> slots_;
  std::map<talker, evaluation_under_way> evaluations_;
  std::set<talker> finished_;                      // slots whose end has been reported
  std::map<talker, std::uint64_t> halted_at_;      // one beyond the clock whose halt was reported
  std::map<std::uint32_t, pb::Assignment> early_;  // by slot: came before the plan
  std::deque<std::pair<talker, read_order>> put_off_;
  std::optional<instant> wake_at_;  // when the armed timer fires
};

worker_actor::behavior_type worker(worker_state::pointer self, environment env, worker_setup setup);

}  // namespace troupe
