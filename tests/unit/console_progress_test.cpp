#include <doctest/doctest.h>

#include <string>

#include "apps/console/progress.hpp"
#include "apps/console/summary.hpp"

using namespace troupe;
using namespace troupe::console;

namespace {

constexpr std::int64_t second = 1'000'000'000;

run_facts census() {
  run_facts facts;
  facts.job = "census";
  facts.seed = 1;
  facts.workers = 4;
  facts.servers = 2;
  facts.slots = 2;
  facts.epochs = 5;
  facts.minibatch = 100;
  facts.staleness = "4";
  facts.train_rows = 1000;
  facts.test_rows = 500;
  facts.features = 123;
  return facts;
}

// Two slots, each having done `clocks` of 50 clocks of 50 examples; the second is one clock behind.
pb::JobStatus training(std::uint64_t clocks) {
  pb::JobStatus status;
  status.set_phase(pb::JobStatus::TRAINING);
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto& slot = *status.add_slots();
    slot.set_slot(i);
    slot.set_clock(clocks - (clocks > 0 ? i : 0));
    slot.set_clocks(50);
    slot.set_examples(50 * slot.clock());
    slot.set_loss(0.25 * static_cast<double>(slot.examples()));
    slot.set_weight(static_cast<double>(slot.examples()));
    slot.set_bytes_pushed(1'500'000);
    slot.set_bytes_pulled(2'500'000);
    slot.set_max_staleness(3);
  }
  return status;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a moving rate covers the last five seconds") {
  moving_rate rate;
  CHECK_FALSE(rate.per_second());
  rate.add({0}, 0);
  CHECK_FALSE(rate.per_second());
  rate.add({1 * second}, 1000);
  CHECK(*rate.per_second() == doctest::Approx(1000));
  for (int t = 2; t <= 20; ++t) rate.add({t * second}, 1000 + 100u * static_cast<unsigned>(t - 1));
  CHECK(*rate.per_second() == doctest::Approx(100));  // the fast first second is out of sight
  rate.add({20 * second}, 9999);                      // no time has passed
  rate.add({21 * second}, 5);                         // counts never fall
  CHECK(*rate.per_second() == doctest::Approx(100));
  CHECK_FALSE(rate.stalled());
  for (int t = 21; t <= 27; ++t) rate.add({t * second}, 2900);
  CHECK(rate.stalled());
}

TEST_CASE("the live line shows epoch, share, speed, loss, staleness, traffic and time left") {
  progress p(progress_style::live, std::chrono::seconds(2), census());
  CHECK(p.on_status(training(1), {0}, 200) ==
        "\r\x1b[Kepoch 1/5  [................]    1%  loss 0.2500  staleness <= 3  up 3.0 MB  "
        "down 5.0 MB");
  CHECK(
      p.on_status(training(21), {1 * second}, 200) ==
      "\r\x1b[Kepoch 3/5  [######..........]   41%  2,000 examples/s  loss 0.2500  staleness <= 3  "
      "up 3.0 MB  down 5.0 MB  1.5 s left");
  CHECK(p.wipe() == "\r\x1b[K");
  CHECK(p.wipe() == "");
}

TEST_CASE("a narrow terminal loses the least important fields and never wraps") {
  progress p(progress_style::live, std::chrono::seconds(2), census());
  p.on_status(training(1), {0}, 80);
  p.on_status(training(21), {1 * second}, 80);
  auto status = training(21);
  status.set_restarts(1);
  for (std::size_t width = 1; width <= 160; ++width) CHECK(p.line(status, width).size() <= width);
  CHECK(p.line(status, 160).find("1 restart  ") != std::string::npos);
  CHECK(p.line(status, 40) == "epoch 3/5   41%  2,000 examples/s");
  CHECK(p.line(status, 50) == "epoch 3/5   41%  2,000 examples/s  loss 0.2500");
}

TEST_CASE("plain lines come every so often, and when the phase or the restarts change") {
  progress p(progress_style::plain, std::chrono::seconds(2), census());
  pb::JobStatus gathering;
  gathering.add_waiting_for("server 1");
  gathering.add_waiting_for("worker 0");
  CHECK(p.on_status(gathering, {0}, 10) == "gathering: waiting for server 1, worker 0\n");
  CHECK(p.on_status(gathering, {1 * second}, 10) == "");
  CHECK(contains(p.on_status(training(1), {1 * second + 1}, 10), "epoch 1/5"));
  CHECK(p.on_status(training(2), {2 * second}, 10) == "");
  auto restarted = training(3);
  restarted.set_restarts(2);
  CHECK(contains(p.on_status(restarted, {2 * second + 1}, 10), "2 restarts"));
  CHECK(p.on_status(restarted, {4 * second}, 10) == "");
  const auto line = p.on_status(restarted, {4 * second + 1}, 10);
  CHECK(line.back() == '\n');
  CHECK_FALSE(contains(line, "\x1b"));
  CHECK(p.wipe() == "");
}

TEST_CASE("every phase has a word, and an end is left to the summary") {
  progress p(progress_style::plain, std::chrono::seconds(2), census());
  pb::JobStatus status;
  const struct {
    pb::JobStatus::Phase phase;
    const char* text;
  } table[] = {{pb::JobStatus::GATHERING, "gathering"},
               {pb::JobStatus::STARTING, "starting"},
               {pb::JobStatus::TRAINING, "epoch 1/5"},
               {pb::JobStatus::EVALUATING, "evaluating"},
               {pb::JobStatus::SAVING, "saving the model"}};
  for (const auto& [phase, text] : table) {
    status.set_phase(phase);
    CHECK(contains(p.on_status(status, {0}, 80), text));
  }
  for (const auto phase : {pb::JobStatus::FINISHED, pb::JobStatus::FAILED}) {
    status.set_phase(phase);
    CHECK(p.on_status(status, {100 * second}, 80) == "");
  }
}

TEST_CASE("no progress means nothing at all") {
  progress p(progress_style::none, std::chrono::seconds(2), census());
  CHECK(p.on_status(training(1), {0}, 80) == "");
}

TEST_CASE("a job that stands still says whom it waits for") {
  progress p(progress_style::plain, std::chrono::seconds(1), census());
  auto status = training(5);
  status.mutable_slots(1)->set_waiting_for("server 1 (pull of 'weights' at clock 7)");
  std::string line;
  for (int t = 0; t < 8; ++t) line = p.on_status(status, {t * second}, 80);
  CHECK(contains(line, "slot 1 waits for server 1 (pull of 'weights' at clock 7)"));
}

TEST_CASE("a job without rows or clocks has a line too") {
  progress p(progress_style::plain, std::chrono::seconds(1), run_facts{});
  pb::JobStatus status;
  status.set_phase(pb::JobStatus::TRAINING);
  CHECK(contains(p.on_status(status, {0}, 80), "training  [................]    0%"));
}

TEST_CASE("the summary is aligned and says what came of the job") {
  auto status = training(50);
  status.set_phase(pb::JobStatus::FINISHED);
  status.set_training_ns(500'000'000);
  status.mutable_slots(0)->set_waited_ns(40'000'000);
  status.mutable_slots(0)->add_staleness(75);
  status.mutable_slots(0)->add_staleness(0);
  status.mutable_slots(0)->add_staleness(25);
  auto& table = *status.add_tables();
  table.set_rows(124);
  table.set_nonzeros(98);
  auto& m = *status.add_metrics();
  m.set_name("test_auc");
  m.set_known(true);
  m.set_value(0.902219);
  status.add_metrics()->set_name("test_logloss");
  auto& trained = *status.add_metrics();
  trained.set_name("train_auc");
  trained.set_known(true);
  trained.set_value(0.904346);
  auto facts = census();
  facts.wall_seconds = 0.75;
  facts.model_digest = "0123456789abcdef0123456789abcdef";
  facts.model_folder = "models/census";
  CHECK(summary_table(status, facts) ==
        "census: finished, seed 1\n"
        "  data        1,000 rows, 123 features; test 500 rows\n"
        "  cluster     4 workers, 2 servers, 2 slots, staleness 4, minibatch 100\n"
        "  training    5 epochs in 500 ms, 9,900 examples/s; the whole run 750 ms\n"
        "  loss        0.25000, each example before its own update\n"
        "  quality                    test       train\n"
        "              AUC         0.90222     0.90435\n"
        "              logloss           -\n"
        "  model       98 non-zeros in 124 rows\n"
        "              digest 0123456789abcdef0123456789abcdef\n"
        "              saved in models/census\n"
        "  traffic     3.0 MB pushed, 5.0 MB pulled\n"
        "  staleness        0   75.0%  ##############################\n"
        "                   2   25.0%  ##########\n"
        "  waiting     for pulls 20 ms a slot, the longest slot 0 with 40 ms\n");
}

TEST_CASE("the summary of a failed job gives the reason, restarts and rejected updates") {
  auto status = training(3);
  status.set_phase(pb::JobStatus::FAILED);
  status.set_restarts(4);
  status.mutable_slots(1)->set_rejected(1);
  auto facts = census();
  facts.exit_code = 1;
  facts.failure = "worker 2 died 4 times within 1 min";
  const auto text = summary_table(status, facts);
  CHECK(
      contains(text, "census: failed, seed 1\n  error       worker 2 died 4 times within 1 min\n"));
  CHECK(contains(text, "  restarts    4\n"));
  CHECK(contains(text, "  rejected    1 update\n"));
}
