#pragma once
// The scheduler without its actor: who has joined, which view is in force, who owns which slot in
// which life, how far the job is, and what comes next. Messages go in; commands for the shell come
// out.
//
// A job passes through gathering (all nodes join), starting (the first view is installed at every
// server, and an earlier model loaded), training, evaluating (scores and table summaries), saving,
// and ends finished or failed. A failure keeps its first reason.
//
// Where the model is measured during training, all slots halt before one clock with all that they
// pushed acknowledged, so that what is measured, and kept as the best so far, is one cut of all
// tables: the one that follows from the clocks before, and bulk-synchronous always the same.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/scheduler/early_stopping.hpp"
#include "actors/scheduler/evaluation.hpp"
#include "actors/scheduler/measurement.hpp"
#include "actors/scheduler/slot_board.hpp"
#include "core/blob.hpp"
#include "core/hash.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "messages/control.pb.h"
#include "messages/view.hpp"

namespace troupe {

struct job_settings {
  pb::JobPlan plan;
  std::uint32_t servers = 1;
  std::uint32_t workers = 1;
  std::uint32_t virtual_nodes = 32;
  std::vector<scored_set> evaluate;  // at the end: "train", "test"
  std::string model_folder;          // where the parts of the model are written; empty: not saved
  bool save_state = true;            // optimiser state too
  duration join_patience = std::chrono::minutes(2);

  // An earlier model: its row files; none: training starts anew.
  std::string initial_folder;
  std::vector<std::string> initial_files;
  bool initial_state = true;  // its optimiser state too

  std::uint64_t measure_every = 0;  // clocks; 0: only at the end
  std::vector<scored_set> measure;  // during training
  early_stopping_settings stopping;
  std::string best_folder;  // where the best model is kept during training; empty: it is not
  double clocks_per_epoch = 1;
};

// What the shell is to do. Those with an answer come back through the on_...() of the same name.
struct send_view {
  std::uint32_t server = 0;
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
};
struct send_save {
  std::uint32_t server = 0;
  pb::SavePart request;
};
struct send_load {
  std::uint32_t server = 0;
  pb::LoadPart request;
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
using command = std::variant<send_view, send_assignment, send_stop, send_task, send_summarise,
                             send_save, send_load, record_evaluation, publish_model>;

class coordinator {
 public:
  // `scores` outlives the coordinator.
  coordinator(job_settings settings, evaluation& scores, instant now);

  // Inputs.
  pb::JoinReply on_join(const pb::Join& join, instant now);
  void on_down(const pb::NodeDown& down, instant now);
  void on_view(std::uint32_t server, const result<pb::ViewReply>& reply, instant now);
  void on_progress(const pb::Progress& progress, instant now);
  void on_slot_failed(const pb::SlotFailed& failed, instant now);
  void on_task(std::uint32_t worker, const pb::EvaluateTask& task,
               const result<pb::EvaluatedPart>& part, const blob& scores, instant now);
  void on_summarise(std::uint32_t server, std::uint32_t table,
                    const result<pb::TableSummary>& summary, instant now);
  void on_save(std::uint32_t server, const result<pb::SavedPart>& part, instant now);
  void on_load(std::uint32_t server, const result<pb::LoadedPart>& part, instant now);
  void on_publish(const result<void>& outcome, instant now);
  void on_stop(const pb::StopJob& stop, instant now);
  void on_time(instant now);  // every few hundred milliseconds

  // Outputs.
  std::vector<command> take_commands();
  pb::JobStatus status(bool with_view = false) const;
  bool ended() const {
    return phase_ == pb::JobStatus::FINISHED || phase_ == pb::JobStatus::FAILED;
  }

 private:
  struct node {
    std::uint64_t incarnation = 0;
    bool joined = false;
    bool view_installed = false;           // servers
    bool view_sent = false;                // and not answered yet
    std::optional<pb::EvaluateTask> task;  // workers: what it works on
  };

  pb::JoinReply refuse(const pb::Join& join, const std::string& why) const;
  std::optional<std::string> objection(const pb::Join& join) const;
  void start_when_all_joined(instant now);
  void send_views();
  void load(const std::string& folder, const std::vector<std::string>& files, bool with_state,
            bool replace);
  void start_training(instant now);
  void assign(std::uint32_t slot, instant now);
  void remind(instant now);
  // The slots are to end where they are.
  bool stopping() const { return interrupted_ || stopped_early_ || evaluation_failure_; }
  void go_on_when_all_wait(instant now);
  void fail_if_nobody_moves(instant now);
  void begin_measuring(const std::vector<scored_set>& data_sets);
  void hand_out_tasks();
  void measured_when_complete(instant now);
  void on_measured(instant now);
  void record(bool best, bool final, instant now);
  void go_on(instant now);
  void end_training(instant now);
  void evaluate_at_the_end(instant now);
  void give_up_evaluating(error why, instant now);
  void save_into(const std::string& folder);
  void publish(std::vector<std::string> parts);
  void finish();
  void fail(errc code, std::string text, instant now);

  // What the job waits for within its phase: of STARTING loading, of TRAINING all but loading.
  enum class errand { none, loading, measuring, keeping, restoring };

  const job_settings settings_;
  pb::JobStatus::Phase phase_ = pb::JobStatus::GATHERING;
  instant begun_, training_begun_;
  duration trained_for_{};
  std::map<std::uint32_t, node> servers_, workers_;
  view view_;
  slot_board board_;
  std::uint32_t restarts_ = 0;
  bool interrupted_ = false;

  errand errand_ = errand::none;
  std::optional<std::uint64_t> limit_;  // the clock before which the slots halt
  bool training_ended_ = false;         // all slots have finished
  std::uint64_t measured_at_ = 0;       // the clock of the latest measurement
  bool restored_ = false;               // the tables are the best model, not the last one
  instant reminded_;
  instant moved_;   // a slot's clock, for the last time, or what holds slots back
  instant ticked_;  // on_time()
  measurement measurement_;
  early_stopping stopping_;
  bool stopped_early_ = false;
  pb::EvaluationRecord latest_, best_;
  double loss_before_ = 0, weight_before_ = 0;  // progressive sums at the latest measurement
  std::vector<std::string> best_files_;

  std::vector<pb::TableSummary> tables_;
  std::vector<pb::Metric> metrics_;
  std::map<std::uint32_t, std::vector<std::string>> saved_;  // by server
  std::set<std::uint32_t> loaded_;                           // servers

  std::optional<error> evaluation_failure_;
  std::optional<error> failure_;
  std::vector<command> commands_;
};

}  // namespace troupe
