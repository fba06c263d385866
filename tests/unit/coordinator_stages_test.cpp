// The scheduler's logic, with nodes that are played by hand: measuring, keeping, restoring and
// loading.

#include <doctest/doctest.h>

#include "actors/scheduler/coordinator.hpp"
#include "tests/support/played_nodes.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;
using fixture = played_nodes;

namespace {

// A job that is measured every 10 clocks, whose slots have 40 each.
struct measured : fixture {
  explicit measured(std::uint32_t patience = 0, std::string best = "model.best")
      : fixture(with(patience, std::move(best))) {
    assigned = train();
  }
  static job_settings with(std::uint32_t patience, std::string best) {
    auto s = settings();
    s.measure_every = 10;
    s.measure = {{"validation", 0}};
    s.stopping = {"validation_loss", false, patience};
    s.best_folder = std::move(best);
    s.model_folder = "model.partial";
    return s;
  }
  void halt_all(std::uint64_t clock) {
    for (std::uint32_t slot = 0; slot < 4; ++slot) halt(slot, clock);
  }
  void halt(std::uint32_t slot, std::uint64_t clock, std::uint64_t epoch = 1) {
    pb::Progress p;
    p.set_worker(slot % 2);
    auto* s = p.add_slots();
    s->set_slot(slot);
    s->set_epoch(epoch);
    s->set_clock(clock);
    s->set_halted(true);
    c.on_progress(p, now);
  }
  void finish_all(std::uint64_t clock) {
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      pb::Progress p;
      p.set_worker(slot % 2);
      auto* s = p.add_slots();
      s->set_slot(slot);
      s->set_epoch(1);
      s->set_clock(clock);
      s->set_finished(true);
      c.on_progress(p, now);
    }
  }
  // Answers all that the coordinator asks of workers and servers for an evaluation; what else it
  // asks is returned.
  std::vector<command> answer(double loss) {
    scores.next_loss = loss;
    std::vector<command> others;
    for (auto open = c.take_commands(); !open.empty(); open = c.take_commands())
      for (auto& each : open) {
        if (auto* s = std::get_if<send_summarise>(&each)) {
          summarised(*s);
        } else if (auto* t = std::get_if<send_task>(&each)) {
          pb::EvaluatedPart part;
          part.set_done(true);
          part.set_data_set(t->task.data_set());
          part.set_part(t->task.part());
          c.on_task(t->worker, t->task, part, {}, now);
        } else {
          others.push_back(each);
        }
      }
    return others;
  }
  void saved_everywhere(const std::vector<command>& commands) {
    for (const auto& each : commands)
      if (const auto* s = std::get_if<send_save>(&each)) {
        pb::SavedPart part;
        part.set_done(true);
        part.add_files("part-" + std::to_string(s->request.shard()));
        c.on_save(*s, part, now);
      }
  }
  template <class Command>
  static std::vector<Command> of(const std::vector<command>& commands) {
    std::vector<Command> found;
    for (const auto& each : commands)
      if (const auto* one = std::get_if<Command>(&each)) found.push_back(*one);
    return found;
  }

  std::vector<send_assignment> assigned;
};

}  // namespace

TEST_CASE("slots halt before one clock, are measured, and get the next one") {
  measured f(0, "");
  CHECK(f.assigned[0].assignment.halts());
  CHECK(f.assigned[0].assignment.limit() == 10);
  f.halt(0, 10);
  f.halt(1, 10);
  f.halt(2, 10);
  CHECK(f.c.take_commands().empty());  // one is under way
  f.halt(3, 9);                        // of an earlier limit: it is not there yet
  CHECK(f.c.take_commands().empty());
  f.halt(3, 10);
  const auto after = f.answer(0.5);
  CHECK(f.scores.added.size() == 4);
  CHECK(f.scores.added[0] == "validation 0");
  const auto records = measured::of<record_evaluation>(after);
  REQUIRE(records.size() == 1);
  CHECK(records[0].record.clock() == 10);
  CHECK(records[0].record.best());
  CHECK_FALSE(records[0].record.final());
  const auto again = measured::of<send_assignment>(after);
  REQUIRE(again.size() == 4);
  CHECK(again[0].assignment.limit() == 20);
  CHECK(again[0].assignment.epoch() == 1);  // the same life goes on
  CHECK(f.phase() == pb::JobStatus::TRAINING);
}

TEST_CASE("the best is kept while slots wait, and restored at the end if a later one was worse") {
  measured f;
  f.halt_all(10);
  auto asked = f.answer(0.5);
  CHECK(measured::of<send_assignment>(asked).empty());  // until it is saved
  CHECK(measured::of<send_save>(asked).at(0).request.folder() == "model.best");
  f.saved_everywhere(asked);
  CHECK(f.take<send_assignment>().size() == 4);
  f.finish_all(17);
  asked = f.answer(0.7);  // the last clocks are measured too
  CHECK(measured::of<record_evaluation>(asked).at(0).record.clock() == 17);
  const auto loads = measured::of<send_load>(asked);
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].request.replace());
  CHECK(loads[0].request.with_state());
  CHECK(loads[0].request.files_size() == 2);
  pb::LoadedPart loaded;
  loaded.set_done(true);
  f.c.on_load(loads[0], loaded, f.now);
  CHECK(f.phase() == pb::JobStatus::TRAINING);
  f.c.on_load(loads[1], loaded, f.now);
  CHECK(f.phase() == pb::JobStatus::EVALUATING);
  asked = f.answer(0.5);
  CHECK(measured::of<record_evaluation>(asked).at(0).record.final());
  f.saved_everywhere(asked);
  CHECK(f.take<publish_model>().at(0).clocks == 10);
  CHECK(f.c.status().best().clock() == 10);
}

TEST_CASE("the last model is saved as it is where it is the best") {
  measured f;
  f.halt_all(10);
  f.saved_everywhere(f.answer(0.5));
  f.take<send_assignment>();
  f.finish_all(17);
  const auto asked = f.answer(0.4);
  CHECK(measured::of<send_load>(asked).empty());
  CHECK(measured::of<send_save>(asked).at(0).request.folder() == "model.partial");
  f.saved_everywhere(asked);
  CHECK(f.take<publish_model>().at(0).clocks == 17);
}

TEST_CASE("without a better evaluation for long enough the slots are told to stop") {
  measured f(2, "");
  for (const auto& [clock, loss] : {std::pair(10, 0.5), {20, 0.6}}) {
    f.halt_all(static_cast<std::uint64_t>(clock));
    CHECK(measured::of<send_stop>(f.answer(loss)).empty());
  }
  f.halt_all(30);
  const auto asked = f.answer(0.5);
  CHECK(measured::of<send_stop>(asked).size() == 2);
  CHECK(measured::of<send_assignment>(asked).empty());
  CHECK(f.c.status().stopped_early());
  f.finish_all(30);
  CHECK(f.phase() == pb::JobStatus::EVALUATING);  // clock 30 was measured already
}

TEST_CASE("a worker that dies while slots are halted goes on at the same limit") {
  measured f(0, "");
  f.halt_all(10);
  f.take<send_task>();
  f.down(pb::WORKER, 0);
  f.join(pb::WORKER, 0, 2);
  for (const auto& again : f.take<send_assignment>()) {
    CHECK(again.assignment.limit() == 10);
    CHECK(again.assignment.epoch() == 2);
  }
  CHECK(f.phase() == pb::JobStatus::TRAINING);
}

TEST_CASE("an earlier model is loaded at every server before training begins") {
  auto s = fixture::settings();
  s.initial_folder = "old";
  s.initial_files = {"weights.part-0.rows"};
  s.initial_state = false;
  fixture f(s);
  f.train_by_hand();
  const auto loads = f.take<send_load>();
  REQUIRE(loads.size() == 2);
  pb::LoadedPart loaded;
  loaded.set_done(true);
  SUBCASE("") {
    f.c.on_load(loads[0], loaded, f.now);
    CHECK(f.phase() == pb::JobStatus::STARTING);
    f.c.on_load(loads[1], loaded, f.now);
    CHECK(f.phase() == pb::JobStatus::TRAINING);
    CHECK(f.take<send_assignment>().size() == 4);
  }
  SUBCASE("what cannot be loaded ends the job") {
    loaded.set_done(false);
    loaded.set_code(static_cast<int>(errc::damaged));
    loaded.set_text("old/weights.part-0.rows is damaged");
    f.c.on_load(loads[1], loaded, f.now);
    CHECK(f.phase() == pb::JobStatus::FAILED);
    CHECK(f.c.status().text() == "server 1: old/weights.part-0.rows is damaged");
  }
}

TEST_CASE("a limit or a stop that was lost on its way is told again") {
  measured f(1, "");
  f.halt_all(10);
  f.answer(0.5);  // slots got the limit 20; the message of slot 2 is lost
  for (const std::uint32_t slot : {0, 1, 3}) f.halt(slot, 20);
  f.halt(2, 10);
  f.now = {duration(2s).count()};
  f.beat();
  f.c.on_time(f.now);
  const auto again = f.take<send_assignment>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].assignment.slot() == 2);
  CHECK(again[0].assignment.limit() == 20);
  f.halt(2, 20);
  CHECK(measured::of<send_stop>(f.answer(0.6)).size() == 2);
  f.halt(1, 20);  // its worker did not hear of it
  f.now = {duration(4s).count()};
  f.beat();
  f.c.on_time(f.now);
  CHECK(f.take<send_stop>().size() == 2);
}

TEST_CASE(
    "slots that wait to be evaluated wait no longer than the job's patience for one that hangs") {
  auto s = measured::with(0, "");
  s.plan.mutable_timings()->set_patience(duration(60s).count());
  fixture f(s);
  f.train();
  const auto halt = [&](std::uint32_t slot, std::uint64_t clock, bool halted) {
    pb::Progress p;
    p.set_worker(slot % 2);
    auto* one = p.add_slots();
    one->set_slot(slot);
    one->set_epoch(1);
    one->set_clock(clock);
    one->set_halted(halted);
    f.c.on_progress(p, f.now);
  };
  const auto wait_until = [&](int seconds) {
    for (; f.now < instant{duration(std::chrono::seconds(seconds)).count()}; f.now = f.now + 1s) {
      halt(2, 4, false);  // its worker reports, and gets nowhere
      f.beat();
      f.c.on_time(f.now);
    }
  };
  halt(0, 10, true);
  halt(1, 10, true);
  wait_until(30);
  halt(3, 10, true);  // the last that moves
  wait_until(89);
  CHECK(f.phase() == pb::JobStatus::TRAINING);
  wait_until(93);
  CHECK(f.phase() == pb::JobStatus::FAILED);
  CHECK(f.c.status().code() == static_cast<int>(errc::timeout));
  CHECK(f.c.status().text() ==
        "for 60 s nothing has come from slot 2 at clock 4 (worker 0), and the others wait at clock "
        "10 to be evaluated");
}

TEST_CASE("a scheduler that slept itself gives the slots their time anew") {
  auto s = measured::with(0, "");
  s.plan.mutable_timings()->set_patience(duration(60s).count());
  fixture f(s);
  f.train();
  f.now = {duration(1h).count()};
  f.c.on_time(f.now);
  CHECK(f.phase() == pb::JobStatus::TRAINING);
}

TEST_CASE("a failed evaluation is not made again, and ends the job behind its model") {
  measured f(0, "");
  f.halt_all(10);
  std::vector<send_task> tasks;
  for (auto& each : f.c.take_commands()) {
    if (auto* s = std::get_if<send_summarise>(&each)) f.summarised(*s);
    if (auto* t = std::get_if<send_task>(&each)) tasks.push_back(*t);
  }
  pb::EvaluatedPart failed;
  failed.set_code(static_cast<int>(errc::damaged));
  failed.set_text("cache is damaged");
  f.c.on_task(tasks[0].worker, tasks[0].task, failed, {}, f.now);
  CHECK(f.take<send_stop>().size() == 2);
  f.report(0, 0, 1, true);  // one has finished, the others are halted where they were
  f.halt(1, 10);
  CHECK(f.take<send_summarise>().empty());
  f.finish_all(10);
  const auto asked = f.answer(0);
  CHECK(f.scores.added.empty());
  f.saved_everywhere(asked);
  CHECK(f.take<publish_model>().size() == 1);
  f.c.on_publish({}, f.now);
  CHECK(f.phase() == pb::JobStatus::FAILED);
  CHECK(f.c.status().text() == "evaluating 'validation': cache is damaged");
}

TEST_CASE("a worker that has not joined hands its task back; late answers are told apart") {
  measured f(0, "");
  f.halt_all(10);
  auto tasks = f.take<send_task>();
  REQUIRE(tasks.size() == 2);
  pb::EvaluatedPart not_joined;
  not_joined.set_code(static_cast<int>(errc::lost));
  not_joined.set_text("the worker has not joined");
  f.c.on_task(tasks[0].worker, tasks[0].task, not_joined, {}, f.now);
  f.c.on_time(f.now);
  const auto again = f.take<send_task>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].task.part() == tasks[0].task.part());
  CHECK(again[0].task.number() != tasks[0].task.number());
  // The first request's failure comes once more: the second one is still under way.
  f.c.on_task(tasks[0].worker, tasks[0].task, error{errc::lost, "timeout"}, {}, f.now);
  CHECK(f.take<send_task>().empty());
  CHECK(f.phase() == pb::JobStatus::TRAINING);
}

TEST_CASE("a job that is interrupted behind the restore still knows its clocks") {
  measured f;
  f.halt_all(10);
  f.saved_everywhere(f.answer(0.5));
  f.take<send_assignment>();
  f.finish_all(17);
  const auto loads = measured::of<send_load>(f.answer(0.7));
  REQUIRE(loads.size() == 2);
  pb::LoadedPart loaded;
  loaded.set_done(true);
  f.c.on_load(loads[0], loaded, f.now);
  f.c.on_stop({}, f.now);
  f.c.on_load(loads[1], loaded, f.now);
  f.saved_everywhere(f.answer(0.5));
  CHECK(f.take<publish_model>().at(0).clocks == 10);
}

TEST_CASE("a job that is interrupted saves its best model, unmeasured, if it keeps that") {
  measured f;
  f.halt_all(10);
  f.saved_everywhere(f.answer(0.5));
  f.take<send_assignment>();
  f.c.on_stop({}, f.now);
  f.take<send_stop>();
  f.finish_all(13);
  const auto loads = f.take<send_load>();
  REQUIRE(loads.size() == 2);
  pb::LoadedPart loaded;
  loaded.set_done(true);
  for (const auto& one : loads) f.c.on_load(one, loaded, f.now);
  f.saved_everywhere(f.answer(0.5));
  CHECK(f.scores.added.empty());
  CHECK(f.take<publish_model>().at(0).clocks == 10);
}

TEST_CASE("a job that is interrupted while it is measured still ends, with what it has") {
  measured f;
  f.halt_all(10);
  f.c.on_stop({}, f.now);
  f.saved_everywhere(f.answer(0.5));
  f.finish_all(10);
  const auto asked = f.answer(0.5);
  CHECK(measured::of<send_load>(asked).empty());
  f.saved_everywhere(asked);
  CHECK(f.take<publish_model>().size() == 1);
}
