// The scheduler's logic, with nodes that are played by hand.

#include "actors/scheduler/coordinator.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/played_nodes.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;
using fixture = played_nodes;

TEST_CASE("a job starts when all have joined and every server has the view") {
  fixture f;
  f.join(pb::SERVER, 0);
  f.join(pb::WORKER, 0);
  f.join(pb::WORKER, 1);
  CHECK(f.phase() == pb::JobStatus::GATHERING);
  CHECK(f.c.status().waiting_for(0) == "server 1");
  CHECK(f.join(pb::SERVER, 1).accepted());
  const auto views = f.take<send_view>();
  REQUIRE(views.size() == 2);
  CHECK(views[0].view.number() == (std::uint64_t{1} << 32) + 1);
  pb::ViewReply installed;
  installed.set_installed(true);
  f.c.on_view(0, views[0].view.number(), installed, f.now);
  CHECK(f.phase() == pb::JobStatus::STARTING);
  f.c.on_view(1, views[0].view.number(), installed, f.now);
  CHECK(f.phase() == pb::JobStatus::TRAINING);
  const auto assigned = f.take<send_assignment>();
  REQUIRE(assigned.size() == 4);
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    CHECK(assigned[slot].assignment.slot() == slot);
    CHECK(assigned[slot].assignment.epoch() == 1);
    CHECK(assigned[slot].worker == slot % 2);
  }
}

TEST_CASE("who does not fit is refused by name") {
  fixture f;
  CHECK(f.join(pb::SERVER, 0, 1, protocol_version + 1)
            .text()
            .find("server 0 may not join: it speaks protocol") == 0);
  CHECK(f.join(pb::WORKER, 1 << 20).text() ==
        "worker 1048576 may not join: nodes of a role are numbered from 0 to 65535");
  CHECK(f.join(pb::WORKER, 1, 2).accepted());
  CHECK(f.join(pb::WORKER, 1, 1).text() ==
        "worker 1 may not join: incarnation 1 has been replaced by 2");
}

TEST_CASE("nodes that never join end the job, which names them") {
  fixture f;
  f.join(pb::SERVER, 1);
  f.now = {duration(121s).count()};
  f.c.on_time(f.now);
  CHECK(f.phase() == pb::JobStatus::FAILED);
  CHECK(f.c.status().text() ==
        "after 120 s these nodes have not joined: server 0, worker 0, worker 1");
}

TEST_CASE(
    "a restarted worker gets its unfinished slots in a new life, and reports of the old one are "
    "ignored") {
  fixture f;
  f.train();
  f.report(0, 0, 1, true, 1);
  f.report(0, 2, 1, false, 5);
  f.down(pb::WORKER, 0);
  CHECK(f.c.status().restarts() == 1);
  f.join(pb::WORKER, 0, 2);
  const auto assigned = f.take<send_assignment>();
  REQUIRE(assigned.size() == 1);
  CHECK(assigned[0].assignment.slot() == 2);
  CHECK(assigned[0].assignment.epoch() == 2);
  f.report(0, 2, 1, true, 100);
  CHECK_FALSE(f.c.status().slots(2).finished());
  f.report(0, 2, 2, true, 7);
  CHECK(f.c.status().slots(2).finished());
  CHECK(f.c.status().slots(2).loss() == 12);  // both lives
}

TEST_CASE("an assignment that is not answered by reports is sent again") {
  fixture f;
  f.train();
  f.now = {duration(3s).count()};
  f.beat();
  f.report(1, 1, 1, false);
  f.report(1, 3, 1, false);
  f.now = {duration(6s).count()};
  f.beat();
  f.c.on_time(f.now);
  const auto again = f.take<send_assignment>();
  REQUIRE(again.size() == 2);
  CHECK(again[0].assignment.slot() == 0);
  CHECK(again[0].assignment.epoch() == 1);
  CHECK(again[1].assignment.slot() == 2);
}

TEST_CASE("a worker whose restart budget is spent ends the job, which names it") {
  fixture f;
  f.train();
  f.down(pb::WORKER, 1, true);
  CHECK(f.c.status().text() ==
        "worker 1 died and its restart budget is spent after 3 restarts: it threw");
}

TEST_CASE("after training come summaries and scores, then the parts of the model, then the end") {
  auto settings = fixture::settings();
  settings.model_folder = "model.partial";
  fixture f(settings);
  f.train();
  for (std::uint32_t slot = 0; slot < 4; ++slot) f.report(slot % 2, slot, 1, true);
  CHECK(f.phase() == pb::JobStatus::EVALUATING);

  std::vector<send_task> tasks;
  std::size_t summaries = 0;
  for (auto& each : f.c.take_commands()) {
    if (auto* task = std::get_if<send_task>(&each)) tasks.push_back(*task);
    if (auto* s = std::get_if<send_summarise>(&each)) {
      pb::TableSummary part;
      part.set_rows(10 + s->server);
      f.summarised(*s, part);
      ++summaries;
    }
  }
  CHECK(summaries == 2);
  CHECK(tasks.size() == 2);  // one to a worker
  // The first answer is a failure: the task goes to a worker again at the next tick.
  f.c.on_task(tasks[0].worker, tasks[0].task, error{errc::lost, "no answer"}, {}, f.now);
  f.c.on_time(f.now);
  int handed_out = 0;
  for (auto open = f.take<send_task>(); !open.empty() || !tasks.empty();
       open = f.take<send_task>()) {
    if (handed_out++ == 0) open.push_back(tasks[1]);
    tasks.clear();
    for (const auto& t : open) {
      pb::EvaluatedPart part;
      part.set_done(true);
      part.set_data_set("train");
      part.set_part(t.task.part());
      f.c.on_task(t.worker, t.task, part, {}, f.now);
      f.c.on_task(t.worker, t.task, part, {}, f.now);  // answered twice counts once
    }
  }
  std::sort(f.scores.added.begin(), f.scores.added.end());
  CHECK(f.scores.added == std::vector<std::string>{"train 0", "train 1", "train 2", "train 3"});
  CHECK(f.phase() == pb::JobStatus::SAVING);
  CHECK(f.c.status().metrics(0).value() == 21);
}

TEST_CASE("an interrupted job stops its slots, scores nothing and still saves") {
  auto settings = fixture::settings();
  settings.model_folder = "model.partial";
  fixture f(settings);
  f.train();
  f.c.on_stop({}, f.now);
  CHECK(f.take<send_stop>().size() == 2);
  for (std::uint32_t slot = 0; slot < 4; ++slot) f.report(slot % 2, slot, 1, true);
  for (auto& each : f.c.take_commands()) {
    CHECK_FALSE(std::holds_alternative<send_task>(each));
    if (auto* s = std::get_if<send_summarise>(&each)) f.summarised(*s);
  }
  const auto saves = f.take<send_save>();
  REQUIRE(saves.size() == 2);
  pb::SavedPart part;
  part.set_done(true);
  part.add_files("a");
  for (const auto& one : saves) f.c.on_save(one, part, f.now);
  CHECK(f.take<publish_model>().at(0).parts.size() == 2);
  f.c.on_publish({}, f.now);
  CHECK(f.phase() == pb::JobStatus::FINISHED);
  CHECK(f.c.status().interrupted());
}

TEST_CASE("a slot that fails ends the job with its reason, unless it speaks for an old life") {
  fixture f;
  f.train();
  pb::SlotFailed failed;
  failed.set_worker(1);
  failed.set_slot(3);
  failed.set_epoch(0);
  failed.set_code(static_cast<int>(errc::timeout));
  failed.set_text("server 0: push to table 'weights': no reply");
  f.c.on_slot_failed(failed, f.now);
  CHECK(f.phase() == pb::JobStatus::TRAINING);
  failed.set_epoch(1);
  f.c.on_slot_failed(failed, f.now);
  CHECK(f.c.status().text() == "worker 1, slot 3: server 0: push to table 'weights': no reply");
}

TEST_CASE(
    "an evaluation that fails does not throw the model away: it is saved, and then the job fails") {
  auto settings = fixture::settings();
  settings.model_folder = "model.partial";
  fixture f(settings);
  f.train();
  for (std::uint32_t slot = 0; slot < 4; ++slot) f.report(slot % 2, slot, 1, true);
  std::vector<send_task> tasks;
  for (auto& each : f.c.take_commands()) {
    if (auto* s = std::get_if<send_summarise>(&each)) f.summarised(*s);
    if (auto* t = std::get_if<send_task>(&each)) tasks.push_back(*t);
  }
  pb::EvaluatedPart failed;
  failed.set_code(static_cast<int>(errc::damaged));
  failed.set_text("cache is damaged");
  f.c.on_task(tasks[0].worker, tasks[0].task, failed, {}, f.now);
  const auto saves = f.take<send_save>();
  CHECK(saves.size() == 2);
  pb::SavedPart part;
  part.set_done(true);
  for (const auto& one : saves) f.c.on_save(one, part, f.now);
  f.c.on_publish({}, f.now);
  CHECK(f.phase() == pb::JobStatus::FAILED);
  CHECK(f.c.status().code() == static_cast<int>(errc::damaged));
  CHECK(f.c.status().text() == "evaluating 'train': cache is damaged");
}
