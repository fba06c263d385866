// The linear app's programs inside real slot and evaluation loops, against servers that are played
// by hand.
#include "apps/linear/linear_program.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "apps/linear/linear_application.hpp"
#include "core/text.hpp"
#include "tests/support/played_servers.hpp"
#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

linear_training training_of(const dataset& data, loss_kind loss, bool doubles = true) {
  linear_training t;
  t.model.loss = loss;
  t.model.labels = *label_map::make(loss, "auto", data.facts());
  t.model.weights_are_doubles = t.model.bias_is_double = doubles;
  t.schedule.seed = 3;
  t.schedule.epochs = 2;
  t.schedule.rows = 7;
  return t;
}

std::shared_ptr<const dataset> data_of(const temporary_folder& folder, const std::string& name,
                                       const std::string& text) {
  write_file(folder / name, text);
  return opened(folder, {folder / name});
}

std::shared_ptr<const dataset> made_up_data(const temporary_folder& folder, std::size_t rows) {
  return data_of(folder, "train.svm", joined(random_lines(rows, 5)));
}

struct serial_model {
  std::map<key_id, double> weights;
  double bias = 0;
};

// The dumb loop that the program must equal: one row after the other, over maps.
serial_model serial(const dataset& data, const linear_training& t, double rate) {
  serial_model model;
  minibatch_schedule schedule(data.blocks(), {0, data.rows()}, t.schedule);
  for (std::uint64_t clock = 0; clock < schedule.clocks(); ++clock) {
    const auto batch = schedule.at(clock);
    const auto rows = data.load_block(batch.block);
    REQUIRE(rows.ok());
    std::map<key_id, double> gradient;
    double bias_gradient = 0;
    for (const auto row : batch.rows) {
      const auto one = (*rows)->row(row);
      double score = model.bias;
      for (const auto& f : one.features)
        score += model.weights[f.key] * static_cast<double>(f.value);
      const double slope = evaluate_loss(t.model.loss, score, t.model.labels(one.label)).slope;
      for (const auto& f : one.features) gradient[f.key] += slope * static_cast<double>(f.value);
      bias_gradient += slope;
    }
    for (const auto& [key, g] : gradient) model.weights[key] -= rate * (g * t.weights_scale);
    model.bias -= rate * (bias_gradient * t.bias_scale);
  }
  return model;
}

}  // namespace

TEST_CASE("a slot trains as a plain loop over its rows does, bit by bit") {
  temporary_folder folder;
  const auto data = made_up_data(folder, 300);
  const auto blocks = std::make_shared<block_cache>(data);
  for (const auto loss : {loss_kind::logistic, loss_kind::squared, loss_kind::squared_hinge}) {
    auto training = training_of(*data, loss);
    training.weights_scale = training.bias_scale = 1.0 / 7;
    played_servers servers(linear_tables(), 0.05);
    const auto loop = servers.run(std::make_unique<linear_program>(training, 0, blocks, nullptr));
    CHECK(loop->present_state() == slot_loop::state::finished);
    const auto expected = serial(*data, training, 0.05);
    CHECK(servers.table(weights_table) == expected.weights);
    CHECK(servers.table(bias_table).at(bias_key) == expected.bias);
    CHECK(loop->progress().examples() == 600);
    CHECK(loop->progress().weight() == 600);
  }
}

TEST_CASE("least squares reach the solution of the normal equations") {
  temporary_folder folder;
  // y = 2 x1 - x2 + 3, exactly.
  const auto data = data_of(folder, "line.svm", "5 1:1\n2 2:1\n4 1:1 2:1\n3\n9 1:3\n1 2:2\n");
  auto training = training_of(*data, loss_kind::squared);
  training.schedule.epochs = 3000;
  training.weights_scale = training.bias_scale = 1.0 / 7;
  played_servers servers(linear_tables(), 0.3);
  servers.run(
      std::make_unique<linear_program>(training, 0, std::make_shared<block_cache>(data), nullptr));
  CHECK(servers.table(weights_table).at(0) == doctest::Approx(2).epsilon(1e-9));
  CHECK(servers.table(weights_table).at(1) == doctest::Approx(-1).epsilon(1e-9));
  CHECK(servers.table(bias_table).at(bias_key) == doctest::Approx(3).epsilon(1e-9));
}

TEST_CASE("the shares of an epoch add up to one pass over the data") {
  temporary_folder folder;
  const auto data = made_up_data(folder, 230);
  auto training = training_of(*data, loss_kind::logistic, false);
  training.slots = 3;
  training.bias_scale = 0.5;
  played_servers servers(linear_tables(false), 0.1);
  const auto blocks = std::make_shared<block_cache>(data);
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    servers.run(std::make_unique<linear_program>(training, slot, blocks, nullptr), slot);
  double shares[2] = {};
  for (const auto& push : servers.pushes()) shares[push.table] += push.share;
  CHECK(shares[weights_table] == doctest::Approx(2));  // two epochs
  CHECK(shares[bias_table] == doctest::Approx(2 * 0.5));
}

TEST_CASE("a slot without rows, rows without features and a model without bias are all fine") {
  temporary_folder folder;
  const auto data = data_of(folder, "few.svm", "1\n-1\n1\n");
  auto training = training_of(*data, loss_kind::logistic);
  training.slots = 5;
  const auto blocks = std::make_shared<block_cache>(data);
  played_servers with_bias(linear_tables(), 0.1);
  std::uint64_t examples = 0;
  for (std::uint32_t slot = 0; slot < 5; ++slot) {
    const auto loop =
        with_bias.run(std::make_unique<linear_program>(training, slot, blocks, nullptr), slot);
    CHECK(loop->present_state() == slot_loop::state::finished);
    examples += loop->progress().examples();
  }
  CHECK(examples == 6);
  CHECK(with_bias.table(bias_table).at(bias_key) > 0);

  training.model.bias = false;
  played_servers without(linear_tables(true, false), 0.1);
  const auto loop = without.run(std::make_unique<linear_program>(training, 1, blocks, nullptr), 1);
  CHECK(loop->present_state() == slot_loop::state::finished);
  CHECK(without.table(weights_table).empty());
}

TEST_CASE("a block that cannot be read ends the slot with the reason") {
  temporary_folder folder;
  const auto data = made_up_data(folder, 100);
  write_file(data->cache_path(), "gone");
  write_file(folder / "train.svm", "changed meanwhile\n");
  const auto training = training_of(*data, loss_kind::logistic);
  played_servers servers(linear_tables(), 0.1);
  const auto loop = servers.run(
      std::make_unique<linear_program>(training, 0, std::make_shared<block_cache>(data), nullptr));
  CHECK(loop->present_state() == slot_loop::state::failed);
  CHECK(loop->failure().code == errc::damaged);
}

TEST_CASE("an evaluation scores all rows of its part in order, however it is cut") {
  temporary_folder folder;
  const auto data = made_up_data(folder, 300);
  const auto training = training_of(*data, loss_kind::logistic);
  meter work_done;
  linear_application app(training, {{"train", data}, {"test", data}});
  played_servers servers(linear_tables(), 0.05);
  servers.run(app.slot(0, work_done));

  const auto evaluate = [&](std::uint32_t part, std::uint32_t parts) {
    pb::EvaluateTask task;
    task.set_data_set("test");
    task.set_part(part);
    task.set_parts(parts);
    auto program = app.evaluation(task, work_done);
    REQUIRE(program.ok());
    const auto [header, scores] = servers.run(std::move(*program));
    CHECK(header.done());
    CHECK(header.rows() * 24 == scores.size());
    const auto numbers = scores.as<double>();
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  const auto whole = evaluate(0, 1);
  REQUIRE(whole.size() == 900);
  std::vector<double> pieces;
  for (std::uint32_t part = 0; part < 7; ++part)
    for (const double number : evaluate(part, 7)) pieces.push_back(number);
  CHECK(pieces == whole);

  const auto first = data->load_block(0);
  REQUIRE(first.ok());
  for (std::size_t row = 0; row < 20; ++row) {
    const auto one = (*first)->row(row);
    double score = servers.table(bias_table).at(bias_key);
    for (const auto& f : one.features)
      score += servers.table(weights_table)[f.key] * static_cast<double>(f.value);
    CHECK(whole[row * 3] == score);
    CHECK(whole[row * 3 + 1] == one.label);
    CHECK(whole[row * 3 + 2] == 1);
  }
}

TEST_CASE("an evaluation of a part without rows, or of data that are not there") {
  temporary_folder folder;
  const auto data = data_of(folder, "few.svm", "1 1:1\n-1 2:1\n");
  meter work_done;
  linear_application app(training_of(*data, loss_kind::logistic), {{"train", data}});
  played_servers servers(linear_tables(), 0.1);
  pb::EvaluateTask task;
  task.set_data_set("train");
  task.set_part(0);
  task.set_parts(9);
  const auto [header, scores] = servers.run(std::move(*app.evaluation(task, work_done)));
  CHECK(header.done());
  CHECK(scores.empty());
  task.set_data_set("test");
  CHECK(app.evaluation(task, work_done).failure().text == "there is no data set 'test'");
  task.set_data_set("train");
  task.set_part(9);
  CHECK(app.evaluation(task, work_done).failure().text == "part 9 of 9 of the train data");
}

TEST_CASE("blocks beyond the budget are forgotten, the least used first") {
  temporary_folder folder;
  const auto data = made_up_data(folder, 300);  // blocks of 64 rows
  REQUIRE(data->blocks().size() == 5);
  block_cache small(data, 1);
  CHECK(small.find(0) == nullptr);
  const auto first = small.load(0);
  REQUIRE(first.ok());
  CHECK(small.find(0) == *first);
  REQUIRE(small.load(1).ok());
  CHECK(small.find(0) == nullptr);
  CHECK(small.find(1) != nullptr);

  block_cache large(data);
  for (std::size_t i = 0; i < 5; ++i) REQUIRE(large.load(i).ok());
  for (std::size_t i = 0; i < 5; ++i) CHECK(large.find(i) != nullptr);
}
