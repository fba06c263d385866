#pragma once
// The scheduler: an actor around the coordinator. It turns commands into requests and brings the
// replies back.

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "actors/scheduler/checkpoint_store.hpp"
#include "actors/scheduler/coordinator.hpp"
#include "actors/scheduler/state_log.hpp"
#include "actors/supervision/background_jobs.hpp"
#include "actors/supervision/environment.hpp"
#include "messages/scheduler_interface.hpp"

namespace troupe {

struct scheduler_setup {
  job_settings job;
  std::shared_ptr<evaluation> scores;
  // Writes what describes the model beside its parts and makes it visible. Runs in the background.
  std::function<result<void>(const publish_model&)> publish;
  // Keeps an evaluation for later readers. Runs in the background, in order; may be empty.
  std::function<result<void>(const pb::EvaluationRecord&)> record;
  // Where its state is written down, so that it can start again; empty: it cannot.
  std::string state_folder;
  std::shared_ptr<checkpoint_store> checkpoints;  // null: there are none
  // A log whose job has not ended is taken up, also by a process that is new.
  bool take_up_unfinished = false;
  // One that has ended is taken up too: others have still to hear of its end.
  bool take_up_ended = false;
  std::uint64_t first_incarnation = 1;  // a later one takes up whatever the first has left
  // What processes that will be workers are told: the effective job file, and the rows that it was
  // planned for.
  std::string configuration;
  std::uint64_t train_rows = 0;
};

class scheduler_state {
 public:
  using pointer = scheduler_actor::stateful_pointer<scheduler_state>;
  static constexpr const char* name = "scheduler";

  explicit scheduler_state(pointer self) : self_(self) {}
  scheduler_actor::behavior_type start(environment env, scheduler_setup setup);

 private:
  scheduler_actor::behavior_type behaviour();
  void open_log();
  duration tick() const;
  void begin(std::uint64_t incarnation, const pb::SchedulerState* before);
  // Carries out the coordinator's commands, after what they follow from has been written down.
  void carry_out(std::function<void()> first = {});
  template <class Decision>
  pb::CommandReply decide(Decision decision);
  pb::JobText describe_job() const;
  caf::result<pb::JobStatus> on_asked(const pb::StatusQuery& query);
  pb::JobStatus answer(const pb::StatusQuery& query);
  bool end_is_known() const;
  void answer_waiting();
  void perform_all(const std::vector<command>& commands);
  template <class Job, class Then>
  bool in_background(Job job, Then then);
  void perform(const send_view& c);
  void perform(const send_assignment& c);
  void perform(const send_stop& c);
  void perform(const send_task& c);
  void perform(const send_summarise& c);
  void perform(const send_save& c);
  void perform(const send_load& c);
  void perform(const record_evaluation& c);
  void perform(const publish_model& c);
  void perform(const tell_view& c);
  void perform(const publish_checkpoint& c);
  void perform(const discard_checkpoint& c);
  void perform(const read_checkpoint& c);
  // Sends a request to a server; `on_answer` gets its reply or an error that names the server.
  template <class Reply, class Atom, class Request, class OnAnswer>
  void ask_server(std::uint32_t server, Atom, const Request& request, duration timeout,
                  OnAnswer on_answer);
  instant now() const { return now_of(self_); }

  pointer self_;
  environment env_;
  scheduler_setup setup_;
  background_jobs jobs_;
  std::optional<coordinator> job_;
  struct waiting {
    pb::StatusQuery query;
    caf::typed_response_promise<pb::JobStatus> promise;
    instant until;
  };
  std::vector<waiting> waiting_;  // for the job to end
  std::shared_ptr<state_log> log_;
  std::uint32_t writes_ = 0;                    // of the log that are under way
  std::vector<std::function<void()>> put_off_;  // until they are done
};

scheduler_actor::behavior_type scheduler(scheduler_state::pointer self, environment env,
                                         scheduler_setup setup);

}  // namespace troupe
