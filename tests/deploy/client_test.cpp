// The client library, as a program outside of this tree uses it: installed, found by CMake, linked.
#include "tests/support/deployment.hpp"

using namespace troupe::testing;

namespace {

program_end run_in(const std::string& folder, const words& command) {
  program_place place;
  place.folder = folder;
  place.deadline = std::chrono::seconds(120);
  return run_program(command, place);
}

constexpr const char* external_job = R"(
[job]
name = "counting"
[model]
app = "external"
[training]
staleness = 0
[tables.counts]
partition = "range"
first = 0
last = 99
combine = "each"
updater = "add"
[cluster]
slots = 2
)";

}  // namespace

// A program without a sanitizer cannot load a library that has one.
#ifdef TROUPE_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

TEST_CASE("a program outside the tree finds the library, and is a worker of a cluster" *
          doctest::skip(sanitized)) {
  const deployment cluster(deployment::shape{2, 2, 0, "", ""});
  const auto& folder = cluster.here.path();
  const auto installed =
      run_in(folder, {TROUPE_CMAKE, "--install", TROUPE_BUILD_DIR, "--prefix", folder + "/usr"});
  INFO(installed.out, installed.err);
  REQUIRE(installed.exit_code == 0);
  const auto configured =
      run_in(folder, {TROUPE_CMAKE, "-S", TROUPE_SOURCE_DIR "/apps/client/example", "-B", "example",
                      "-DCMAKE_PREFIX_PATH=" + folder + "/usr"});
  INFO(configured.out, configured.err);
  REQUIRE(configured.exit_code == 0);
  const auto built = run_in(folder, {TROUPE_CMAKE, "--build", "example"});
  INFO(built.out, built.err);
  REQUIRE(built.exit_code == 0);

  cluster.here.write("job.toml", external_job);
  const auto run = cluster.up();
  const auto worker = [&](const std::string& name) {
    return std::make_unique<running_program>(
        words{folder + "/example/averages", "cluster.toml", name, "50"}, cluster.place());
  };
  const auto first = worker("worker-0"), second = worker("worker-1");
  for (auto* each : {first.get(), second.get()}) {
    const auto& end = each->wait();
    INFO(end.out, end.err);
    CHECK(end.exit_code == 0);
    // At clock 49 every slot sees exactly 49 clocks of ten draws by two slots.
    CHECK(contains(end.out, "draws were counted"));
    CHECK(contains(end.out, "at least 980 draws"));
  }
  const auto& end = run->wait();
  INFO(end.out, end.err, cluster.log_of("scheduler"));
  CHECK(end.exit_code == 0);
}

TEST_CASE("an external program's job is refused where it makes no sense") {
  const deployment cluster;
  cluster.here.write("job.toml", external_job);
  check_refused(cluster.here.sim(), {"model.app", "the client library"});
  cluster.here.write("job.toml", std::string(external_job) + "[data]\ntrain = \"x.svm\"\n");
  const auto run = cluster.up();
  CHECK(run->wait().exit_code == 2);
  CHECK(contains(run->wait().err, "data.train: an external program reads its own data"));
}
