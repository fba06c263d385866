// Bulk-synchronous training gives the same bytes, whoever takes part and whatever goes wrong.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

struct cluster {
  const char* workers;
  const char* servers;
  const char* threads;
};

const cluster clusters[] = {{"1", "1", "1"}, {"1", "3", "2"}, {"2", "1", "2"},
                            {"2", "3", "1"}, {"4", "1", "1"}, {"4", "3", "2"}};

words options(const cluster& c) {
  return words{"--workers", c.workers, "--servers", c.servers} +
         set(std::string("cluster.threads=") + c.threads);
}

std::string name(const cluster& c) {
  return std::string(c.workers) + " workers, " + c.servers + " servers, " + c.threads + " threads";
}

// Throws while it computes and between its sends to two servers, and sends pushes twice.
const char* const faults = R"(
[[debug.throws]]
slot = 1
clock = 5
[[debug.throws]]
slot = 2
clock = 7
where = "between_sends"
[[debug.repeat_push]]
slot = 0
clock = 3
[[debug.repeat_push]]
slot = 3
clock = 6
)";

// With a bias a clock has pushes to two tables, without one to a single table.
std::vector<words> jobs() {
  std::vector<words> all;
  for (const std::string combine : {"each", "sum", "mean"})
    for (const std::string updater : {"adam", "ftrl"})
      for (const std::string bias : {"true", "false"})
        all.push_back(set("training.combine=" + combine) + set("training.updater.name=" + updater) +
                      set("model.bias=" + bias) + set("training.updater.rate=0.01"));
  return all;
}

}  // namespace

TEST_CASE("in bulk-synchronous mode the model is the same for any cluster, and under faults") {
  const workplace calm, troubled;
  troubled.amend(faults);
  for (const auto& job : jobs()) {
    INFO(job[1], ", ", job[3], ", ", job[5]);
    std::vector<words> everywhere;
    for (const auto& c : clusters) everywhere.push_back(job + options(c));
    const auto undisturbed = calm.train_all(everywhere);
    const auto disturbed = troubled.train_all(everywhere);
    const auto& first = undisturbed[0];
    CHECK(first.number("test_auc") > 0.6);
    for (std::size_t i = 0; i < everywhere.size(); ++i) {
      INFO(name(clusters[i]));
      CHECK(undisturbed[i].digest() == first.digest());
      CHECK(disturbed[i].digest() == first.digest());
      CHECK(disturbed[i].number("restarts") == 2);
      CHECK(disturbed[i].number("examples") == first.number("examples"));
      CHECK(disturbed[i].number("objective") == first.number("objective"));
    }
  }
}

TEST_CASE("the model follows from the seed") {
  const workplace here;
  const auto first = here.train({"--seed", "7"});
  CHECK(here.train({"--seed", "7"}).digest() == first.digest());
  CHECK(here.train({"--seed", "8"}).digest() != first.digest());
  // Random initial values follow from it too.
  const auto random = set("model.initialiser.kind=normal") + set("data.shuffle=false");
  const auto drawn = here.train(words{"--seed", "7"} + random);
  CHECK(here.train(words{"--seed", "7", "--servers", "3"} + random).digest() == drawn.digest());
  CHECK(here.train(words{"--seed", "8"} + random).digest() != drawn.digest());
}

TEST_CASE("the model does not depend on how evenly keys are spread or on evaluations on the way") {
  const workplace here;
  const auto all = here.train_all({{},
                                   set("cluster.virtual_nodes=1"),
                                   set("cluster.virtual_nodes=200"),
                                   set("cluster.window=2"),
                                   set("evaluation.train=true"),
                                   set("evaluation.train=false"),
                                   set("data.block_rows=16384")});
  for (const auto& one : all) CHECK(one.digest() == all[0].digest());
  CHECK(here.train({"--slots", "3"}).digest() != all[0].digest());
}
