#pragma once
// The scheduler without its actor: who has joined and who is dead, which view is in force, who owns
// which slot in which life, how far the job is, and what comes next. Messages go in; commands for
// the shell come out.
//
// A job passes through gathering (all nodes join), starting (the view is installed at every server,
// and a checkpoint or an earlier model loaded), training, evaluating (scores and table summaries),
// saving, and ends finished or failed. A failure keeps its first reason. A bulk-synchronous job
// that loses more servers than it has copies goes back to starting, from its last checkpoint.
//
// Where the model is measured during training, all slots halt before one clock with all that they
// pushed acknowledged, so that what is measured, and kept as the best so far, is one cut of all
// tables: the one that follows from the clocks before, and bulk-synchronous always the same.
//
// What must survive the scheduler is in state(): the shell writes it down before it carries out
// what followed from it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/scheduler/course.hpp"
#include "actors/scheduler/early_stopping.hpp"
#include "actors/scheduler/evaluation.hpp"
#include "actors/scheduler/failure_detector.hpp"
#include "actors/scheduler/measurement.hpp"
#include "actors/scheduler/shard_round.hpp"
#include "actors/scheduler/slot_board.hpp"
#include "actors/scheduler/view_planning.hpp"
#include "core/blob.hpp"
#include "core/hash.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "messages/control.pb.h"
#include "messages/durable.pb.h"
#include "messages/view.hpp"

namespace troupe {

struct job_settings {
  pb::JobPlan plan;
  std::uint32_t servers = 1;
  std::uint32_t workers = 1;
  std::uint32_t virtual_nodes = 32;
  std::uint32_t copies = 0;          // of each shard beside its primary
  std::vector<scored_set> evaluate;  // at the end: "train", "test"
  std::string model_folder;          // where the parts of the model are written; empty: not saved
  bool save_state = true;            // optimiser state too
  duration join_patience = std::chrono::minutes(2);

  // An earlier model: its row files; none: training starts anew.
  std::string initial_folder;
  std::vector<std::string> initial_files;
  bool initial_state = true;  // its optimiser state too

  std::uint64_t measure_every = 0;  // clocks; 0: only at the end
  std::uint64_t measure_first = 0;  // and once before this clock; 0: no
  std::vector<scored_set> measure;  // during training
  early_stopping_settings stopping;
  course_settings course;
  std::string best_folder;  // where the best model is kept during training; empty: it is not
  double clocks_per_epoch = 1;

  std::uint64_t checkpoint_every = 0;  // clocks; 0: never
  std::string checkpoint_folder;       // where there may be checkpoints; empty: there are none
  bool resume = false;                 // begin with the latest of them
};

// A checkpoint that can be loaded.
struct found_checkpoint {
  std::string folder;
  pb::Checkpoint manifest;
};

// What the shell is to do. Those with an answer come back through the on_...() of the same name.
struct send_view {
  std::uint32_t server = 0;
  pb::View view;
};
struct tell_view {
  std::uint32_t worker = 0;
  pb::View view;
};
struct send_assignment {
  std::uint32_t worker = 0;
  pb::Assignment assignment;
};
struct send_stop {
  std::uint32_t worker = 0;
  pb::StopSlots stop;
};
struct send_task {
  std::uint32_t worker = 0;
  pb::EvaluateTask task;
};
struct send_summarise {
  std::uint32_t server = 0;
  pb::Summarise request;
  std::uint64_t round = 0;
};
struct send_save {
  std::uint32_t server = 0;
  pb::SavePart request;
  std::uint64_t round = 0;
  bool checkpoint = false;
};
struct send_load {
  std::uint32_t server = 0;
  pb::LoadPart request;
  std::uint64_t round = 0;
  bool lost = false;  // a shard that is restored while the others go on
};
struct record_evaluation {
  pb::EvaluationRecord record;
};
struct publish_model {  // every part is written: add what describes the model and make it visible
  std::vector<std::string> parts;
  std::vector<pb::TableSummary> tables;
  std::vector<pb::Metric> metrics;
  std::uint64_t clocks = 0;  // that went into it, those of earlier runs too
};
struct publish_checkpoint {  // every part is written into its folder: make it count
  pb::Checkpoint manifest;
};
struct discard_checkpoint {
  std::uint64_t number = 0;
};
struct read_checkpoint {};  // the latest that is whole
using command = std::variant<send_view, tell_view, send_assignment, send_stop, send_task,
                             send_summarise, send_save, send_load, record_evaluation, publish_model,
                             publish_checkpoint, discard_checkpoint, read_checkpoint>;

// Where a checkpoint is written, and where it lies when it is whole.
std::string partial_checkpoint_folder(const std::string& folder, std::uint64_t number);
std::string checkpoint_folder(const std::string& folder, std::uint64_t number);

class coordinator {
 public:
  // `scores` outlives the coordinator. With `before`, the state of an earlier incarnation, it goes
  // on from there.
  coordinator(job_settings settings, evaluation& scores, instant now, std::uint64_t incarnation = 1,
              const pb::SchedulerState* before = nullptr);

  // Inputs.
  pb::JoinReply on_join(const pb::Join& join, instant now);
  void on_beat(const pb::Beat& beat, instant now);
  pb::LeaseReply on_lease(const pb::LeaseRequest& request, instant now);
  void on_report(const pb::ServerReport& report, instant now);
  pb::CommandReply on_drain(const pb::DrainNode& drain, instant now);
  pb::CommandReply on_rebalance(const pb::Rebalance& request, instant now);
  pb::CommandReply on_take_checkpoint(instant now);
  void on_down(const pb::NodeDown& down, instant now);
  void on_view(std::uint32_t server, std::uint64_t number, const result<pb::ViewReply>& reply,
               instant now);
  void on_progress(const pb::Progress& progress, instant now);
  void on_slot_failed(const pb::SlotFailed& failed, instant now);
  void on_task(std::uint32_t worker, const pb::EvaluateTask& task,
               const result<pb::EvaluatedPart>& part, const blob& scores, instant now);
  void on_summarise(const send_summarise& asked, const result<pb::TableSummary>& summary,
                    instant now);
  void on_save(const send_save& asked, const result<pb::SavedPart>& part, instant now);
  void on_load(const send_load& asked, const result<pb::LoadedPart>& part, instant now);
  void on_publish(const result<void>& outcome, instant now);
  void on_checkpoint(std::uint64_t number, const result<void>& outcome, instant now);
  void on_checkpoint_read(const result<std::optional<found_checkpoint>>& found, instant now);
  pb::CommandReply on_stop(const pb::StopJob& stop, instant now);
  // A node asks whether the job has ended, and now knows.
  void on_asked(const pb::StatusQuery& query);
  void on_time(instant now);  // every few hundred milliseconds

  // Outputs.
  std::vector<command> take_commands();
  pb::JobStatus status(bool with_view = false, instant now = {}) const;
  pb::JobStatus brief_status(const pb::StatusQuery& query, instant now) const;
  const pb::JobPlan& plan() const { return settings_.plan; }
  const view& present_view() const { return view_; }
  bool ended() const {
    return phase_ == pb::JobStatus::FINISHED || phase_ == pb::JobStatus::FAILED;
  }
  // What must be on disk before the commands that follow from it are carried out; empty when
  // nothing of it has changed.
  std::optional<pb::SchedulerState> take_changed_state(instant now);

 private:
  struct node {
    std::uint64_t incarnation = 0;
    bool joined = false;
    bool dead = false;
    bool draining = false;
    bool knows_end = false;
    bool view_installed = false;           // servers
    std::optional<instant> view_sent;      // and not answered yet
    std::optional<pb::EvaluateTask> task;  // workers: what it works on
    std::vector<std::string> waits;        // servers: whom for
    bool alive() const { return joined && !dead; }
  };

  // ---- coordinator_members.cpp
  pb::JoinReply refuse(const pb::Join& join, const std::string& why) const;
  std::optional<std::string> objection(const pb::Join& join) const;
  void start_when_all_joined(instant now);
  std::vector<member> living_servers() const;
  std::vector<std::uint32_t> living_workers() const;
  cluster_facts facts() const;
  void on_server_joined(std::uint32_t index, bool new_life, instant now);
  void split_for_newcomers(instant now);
  // Rows are not being replaced, so shards may be split.
  bool may_split() const {
    return phase_ == pb::JobStatus::TRAINING && errand_ != errand::restoring && lost_.empty();
  }
  void on_dead(role_id node, const std::string& why, instant now);
  void replan(instant now);
  void publish(view next, instant now);
  void send_views(instant now);
  bool all_installed() const;
  void when_installed(instant now);
  void fail_if_nobody_is_left(instant now);
  std::uint64_t next_view_number() { return (incarnation_ << 32) + ++views_; }
  void note(instant now, std::string text);
  std::uint32_t unaware(instant now) const;
  pb::NodeStatus status_of(role_id id, const node& n, instant now) const;

  // ---- coordinator_slots.cpp
  void start_training(instant now);
  void assign(std::uint32_t slot, instant now);
  void give_slots_to(std::uint32_t worker, instant now);
  void take_slots_from(std::uint32_t worker, instant now);
  void remind(instant now);
  // The slots are to end where they are.
  bool stopping() const {
    return interrupted_ || stopped_early_ || converged_ || evaluation_failure_;
  }
  void fail_if_nobody_moves(instant now);

  // ---- coordinator_measuring.cpp
  // The first clock behind `clock` before which the model is measured.
  std::uint64_t limit_behind(std::uint64_t clock) const;
  // Where slots that go on from `clock` halt first: there, if it is a clock before which the model
  // is measured, or kept, and that was not done.
  std::uint64_t limit_from(std::uint64_t clock) const;
  void go_on_when_all_wait(instant now);
  void begin_measuring(const std::vector<scored_set>& data_sets, instant now);
  void ask_for_summaries(instant now);
  void hand_out_tasks();
  void measured_when_complete(instant now);
  void on_measured(instant now);
  void record(bool best, bool final, bool arrived, instant now);
  void go_on(instant now);
  void give_up_evaluating(error why, instant now);
  // The clock of the last measurement that has come to something.
  std::uint64_t measured_before() const;
  pb::MeasuredState measured_state() const;
  // `with_best`: the best model itself is at hand too, or is not kept.
  void take_up(const pb::MeasuredState& measured, bool with_best);

  // ---- coordinator_stages.cpp
  void load(instant now);
  void send_loads(instant now);
  void end_training(instant now);
  void evaluate_at_the_end(instant now);
  void save_into(const std::string& folder, instant now);
  void publish(std::vector<std::string> parts);
  void finish();
  void fail(errc code, std::string text, instant now);
  void errands_on_time(instant now);
  void errands_in_new_view(instant now);

  // ---- coordinator_recovery.cpp
  bool bulk_synchronous() const {
    return settings_.plan.bounded() && settings_.plan.staleness() == 0;
  }
  void begin_checkpoint_if_due(instant now);
  void on_checkpoint_part(const send_save& asked, const result<pb::SavedPart>& part, instant now);
  void abandon_checkpoint(const std::string& why, std::uint64_t next, instant now);
  void recover(const std::vector<std::uint32_t>& lost, instant now);
  void go_back(const std::string& why, instant now);
  void on_load_refused(const send_load& asked, const pb::LoadedPart& part, instant now);
  void start_from(const std::optional<found_checkpoint>& found, instant now);
  void restore_lost(const std::optional<found_checkpoint>& found, instant now);
  void take_up(const pb::SchedulerState& before, instant now);

  // What the job waits for within its phase: of STARTING reading and loading, of TRAINING all but
  // those.
  enum class errand { none, reading, loading, measuring, keeping, restoring };

  const job_settings settings_;
  const std::uint64_t incarnation_;
  std::uint32_t views_ = 0;  // made by this incarnation
  pb::JobStatus::Phase phase_ = pb::JobStatus::GATHERING;
  instant begun_, training_begun_;
  duration elapsed_before_{}, trained_for_{};
  std::map<std::uint32_t, node> servers_, workers_;
  failure_detector detector_;
  view view_;
  std::uint32_t next_shard_ = 0, generation_ = 0;
  std::map<std::uint32_t, std::uint32_t> targets_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> filled_, still_;
  std::set<std::pair<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>> failed_;
  std::map<std::uint32_t, std::uint64_t> load_;  // keys moved, by shard
  std::map<std::uint32_t, std::uint64_t> rows_;  // by shard
  std::optional<instant> nobody_since_;          // no server, or no worker
  slot_board board_;
  std::uint32_t restarts_ = 0, failovers_ = 0;
  bool interrupted_ = false;
  std::vector<pb::Event> events_;

  errand errand_ = errand::none;
  std::optional<std::uint64_t> limit_;  // the clock before which the slots halt
  bool training_ended_ = false;         // all slots have finished
  bool finishes_ = false;               // all is done but a checkpoint that is being written
  std::uint64_t measured_at_ = 0;       // the clock of the latest measurement
  bool restored_ = false;               // the tables are the best model, not the last one
  instant reminded_;
  instant moved_;   // a slot's clock, for the last time, or what holds slots back
  instant ticked_;  // on_time()
  measurement measurement_;
  early_stopping stopping_;
  bool stopped_early_ = false;
  course course_;
  bool converged_ = false;
  pb::EvaluationRecord latest_, best_;
  double loss_before_ = 0, weight_before_ = 0;  // progressive sums at the latest measurement
  std::vector<std::string> best_files_;

  std::vector<pb::TableSummary> tables_;
  std::vector<pb::Metric> metrics_;
  shard_round summaries_, saves_, loads_, checkpoint_saves_;
  std::map<std::uint32_t, std::vector<std::string>> saved_;  // by shard
  std::string save_folder_;
  std::map<std::uint32_t, pb::LoadPart> source_of_;  // of the load under way, by shard
  // What was read to start from, while no server is there to begin.
  std::optional<std::optional<found_checkpoint>> start_with_;
  std::optional<std::uint64_t> keep_again_;  // the best model of this clock was not kept whole
  std::string trouble_;                      // what an answer said last

  // The checkpoint under way.
  struct checkpoint_under_way {
    pb::Checkpoint manifest;
    bool publishing = false;
  };
  std::optional<checkpoint_under_way> checkpoint_;
  bool checkpoint_asked_ = false;        // by an administrator, beside the regular ones
  std::uint64_t checkpoints_ = 0;        // numbers given
  std::uint64_t latest_checkpoint_ = 0;  // 0: none
  std::uint64_t next_checkpoint_ = 0;    // clock
  // Shards that are being restored, and when what was granted to their holders has run out.
  std::map<std::uint32_t, instant> lost_;
  bool reading_for_lost_ = false;
  std::string refused_;  // the folder of the checkpoint that could not be loaded last
  shard_round lost_loads_;

  std::optional<error> evaluation_failure_;
  std::optional<error> failure_;
  bool changed_ = true;  // what is in state()
  std::vector<command> commands_;
};

}  // namespace troupe
