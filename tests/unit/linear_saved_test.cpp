#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "apps/linear/linear_application.hpp"
#include "apps/linear/saved_linear.hpp"
#include "config/job.hpp"
#include "core/random.hpp"
#include "tests/support/model_making.hpp"
#include "tests/support/played_servers.hpp"
#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

struct fixture {
  temporary_folder folder;
  std::shared_ptr<file_system> files = posix_file_system();
  config::Job job;
  std::shared_ptr<const dataset> train, test;
  numbers_by_key weights, bias;

  explicit fixture(const std::string& settings = "") {
    write_file(folder / "train.svm", joined(random_lines(300, 5)));
    write_file(folder / "test.svm", joined(random_lines(100, 6)));
    const auto text = "[data]\ntrain = '" + (folder / "train.svm") + "'\ntest = '" +
                      (folder / "test.svm") + "'\ncache = '" + (folder / "cache") +
                      "'\nblock_rows = 64\n[model]\nvalue_type = 'f64'\n"
                      "[training.updater]\nl1 = 0.25\nl2 = 2\n" +
                      settings;
    auto parsed = config::parse_job(text, "job.toml");
    REQUIRE_MESSAGE(parsed.ok(), (parsed ? "" : parsed.failure().text));
    job = *parsed;
    train = *dataset::open(files, {folder / "train.svm"}, data_options_of(job), nullptr);
    test = *dataset::open(files, {folder / "test.svm"}, data_options_of(job), nullptr);
    random_source random(11);
    for (key_id key = 0; key < 500; ++key)
      if (random.below(3) > 0) weights[key] = random.normal();
    bias[bias_key] = 0.375;
  }
  linear_job made() {
    auto m = make_linear_job(job, {&train->facts(), &test->facts(), nullptr, nullptr});
    REQUIRE_MESSAGE(m.ok(), (m ? "" : m.failure().text));
    return *m;
  }
};

std::vector<std::pair<std::string, double>> values(const std::vector<pb::Metric>& figures) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& m : figures) all.emplace_back(m.name(), m.known() ? m.value() : -1);
  return all;
}

}  // namespace

TEST_CASE("a saved model has the figures that its job reported, to the last digit") {
  fixture f;
  const auto made = f.made();
  REQUIRE(
      save(*f.files, f.folder / "model", describe_model(f.job, made), {f.weights, f.bias}).ok());
  const auto saved = load_model(*f.files, f.folder / "model");
  REQUIRE(saved.ok());

  // The job's own evaluation, in three parts through clients and servers.
  played_servers servers(linear_tables(), 0);
  servers.table(weights_table) = f.weights;
  servers.table(bias_table) = f.bias;
  meter work_done;
  linear_application app(made.training, {{"train", f.train}, {"test", f.test}});
  metric_set figures(made.metrics);
  for (const std::string set : {"train", "test"})
    for (std::uint32_t part = 0; part < 3; ++part) {
      pb::EvaluateTask task;
      task.set_data_set(set);
      task.set_part(part);
      task.set_parts(3);
      const auto [header, scores] = servers.run(std::move(*app.evaluation(task, work_done)));
      figures.add(header, scores);
    }
  std::vector<pb::TableSummary> tables(2);
  for (std::uint32_t t = 0; t < 2; ++t) {
    tables[t].set_table(t);
    tables[t].set_l1(saved->manifest.tables(static_cast<int>(t)).sum_absolutes());
    tables[t].set_l2(saved->manifest.tables(static_cast<int>(t)).sum_squares());
  }
  auto reported = values(figures.figures(tables));

  evaluate_options options;
  options.model = f.folder / "model";
  const auto on_test = evaluate_saved(f.files, options);
  options.train = true;
  const auto on_train = evaluate_saved(f.files, options);
  REQUIRE(on_test.ok());
  REQUIRE(on_train.ok());
  auto measured = values(*on_train);
  for (const auto& figure : values(*on_test)) measured.push_back(figure);
  std::sort(measured.begin(), measured.end());
  std::sort(reported.begin(), reported.end());
  CHECK(measured == reported);
  CHECK(measured.size() == 13);  // six of each, and the objective
}

TEST_CASE("parameters that nobody pushed to have their initial values in a saved model too") {
  fixture f("[model.initialiser]\nkind = 'normal'\ndeviation = 1.0\n");
  const auto made = f.made();
  auto description = describe_model(f.job, made);
  REQUIRE(save(*f.files, f.folder / "model", description, {{}, f.bias}).ok());
  evaluate_options options;
  options.model = f.folder / "model";
  const auto figures = evaluate_saved(f.files, options);
  REQUIRE(figures.ok());
  const auto all = values(*figures);
  const auto auc =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.first == "test_auc"; });
  REQUIRE(auc != all.end());
  CHECK(auc->second != 0.5);  // what scores that are all alike would give
}

TEST_CASE("what cannot be evaluated is said with its reason") {
  fixture f;
  REQUIRE(save(*f.files, f.folder / "model", describe_model(f.job, f.made()), {f.weights, f.bias})
              .ok());
  evaluate_options options;
  options.model = f.folder / "model";
  write_file(f.folder / "other.svm", "3 1:1\n");
  options.data = {f.folder / "other.svm"};
  CHECK(evaluate_saved(f.files, options).failure().text ==
        (f.folder / "other.svm") + " has the label 3, which no training row has");
  options.data.clear();
  options.set = {"data.test=[]"};
  CHECK(evaluate_saved(f.files, options).failure().code == errc::bad_usage);
  options.model = f.folder / "nothing";
  CHECK(evaluate_saved(f.files, options).failure().code == errc::bad_usage);
}

TEST_CASE("the job's configuration becomes tables, penalties and scales") {
  fixture f("name = 'sgd'\nrate = 0.5\n[tables.bias.updater]\nname = 'ftrl'\nalpha = 0.25\n");
  const auto made = f.made();
  REQUIRE(made.tables.size() == 2);
  const auto& weights = made.tables[0];
  CHECK(weights.name() == "weights");
  CHECK(weights.kind() == "sparse");
  CHECK_FALSE(weights.by_range());
  CHECK(weights.value_type() == "f64");
  CHECK(weights.function() == "sgd");
  CHECK(weights.l1() == 0.25);
  CHECK(made.tables[1].function() == "ftrl");
  CHECK(made.tables[1].l1() == 0);  // the bias is not penalised unless asked
  CHECK(made.metrics.penalties[0].l2 == 2);
  CHECK(made.metrics.penalties[1].l2 == 0);
  // Plain steps by the mean over a minibatch, FTRL by the sum.
  CHECK(made.training.weights_scale == 1.0 / 100);
  CHECK(made.training.bias_scale == 1);
  for (const auto& message : made.tables) {
    const auto spec = table_spec_of(message);
    REQUIRE(spec.ok());
    CHECK(table::make(*spec, 1).ok());
  }
}

TEST_CASE("a range is taken from the data where the job leaves it open, else held against them") {
  fixture open("[tables.weights]\nkind = 'dense'\n");
  const auto spec = open.made().tables[0];
  CHECK(spec.kind() == "dense");
  CHECK(spec.by_range());
  CHECK(spec.first_key() ==
        std::min(open.train->facts().smallest_key, open.test->facts().smallest_key));
  CHECK(spec.last_key() ==
        std::max(open.train->facts().largest_key, open.test->facts().largest_key));

  fixture narrow("[tables.weights]\npartition = 'range'\nfirst = 0\nlast = 20\n");
  const auto refused =
      make_linear_job(narrow.job, {&narrow.train->facts(), nullptr, nullptr, nullptr});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.failure().code == errc::bad_config);
  CHECK(refused.failure().text.find("tables.weights: the data have the key ") == 0);
}

TEST_CASE("a data set without rows cannot be trained on") {
  fixture f;
  const data_facts none;
  CHECK(make_linear_job(f.job, {&none, nullptr, nullptr, nullptr}).failure().text ==
        "data.train has no rows");
}
