#pragma once
// The scheduler without its actor: who has joined, which view is in force, who owns which slot in
// which life, how far the job is, and what comes next. Messages go in; commands for the shell come
// out.
//
// A job passes through gathering (all nodes join), starting (the first view is installed at every
// server), training, evaluating (scores and table summaries), saving, and ends finished or failed.
// A failure keeps its first reason.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/scheduler/evaluation.hpp"
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
  std::vector<std::string> evaluate;  // data sets to score at the end: "train", "test"
  std::string model_folder;           // where the parts of the model are written; empty: not saved
  bool save_state = true;             // optimiser state too
  duration join_patience = std::chrono::minutes(2);
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
struct publish_model {  // every part is written: add what describes the model and make it visible
  std::vector<std::string> parts;
  std::vector<pb::TableSummary> tables;
  std::vector<pb::Metric> metrics;
};
using command = std::variant<send_view, send_assignment, send_stop, send_task, send_summarise,
                             send_save, publish_model>;

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
  void start_training(instant now);
  void assign(std::uint32_t slot, instant now);
  void end_training(instant now);
  void hand_out_tasks();
  void evaluated_when_all_done();
  void give_up_evaluating(error why);
  void save();
  void finish();
  void fail(errc code, std::string text, instant now);

  const job_settings settings_;
  evaluation& evaluation_;
  pb::JobStatus::Phase phase_ = pb::JobStatus::GATHERING;
  instant begun_, training_begun_;
  duration trained_for_{};
  std::map<std::uint32_t, node> servers_, workers_;
  view view_;
  slot_board board_;
  std::uint32_t restarts_ = 0;
  bool interrupted_ = false;

  std::vector<pb::EvaluateTask> tasks_;  // not yet handed out
  std::size_t tasks_open_ = 0;           // handed out or not, without a result
  std::uint32_t tasks_failed_ = 0;
  std::size_t summaries_open_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, pb::TableSummary>
      summaries_;                         // (table, server)
  std::vector<pb::TableSummary> tables_;  // the whole of each
  std::vector<pb::Metric> metrics_;
  std::map<std::uint32_t, std::vector<std::string>> saved_;  // by server

  std::optional<error> evaluation_failure_;
  std::optional<error> failure_;
  std::vector<command> commands_;
};

// Adds one server's part of a table's summary to the whole.
void add_summary(pb::TableSummary& sum, const pb::TableSummary& part);

}  // namespace troupe
