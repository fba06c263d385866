// The ready-made jobs reach what others reach on public data.
#include "tests/support/real_data.hpp"

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

result_page trained_on(const temporary_folder& folder, const std::string& job,
                       const std::string& staleness) {
  program_place place;
  place.folder = folder.path();
  place.environment["TROUPE_DATA"] = real_data_root();
  const auto end = run_program(
      words{TROUPE_BINARY, "sim", TROUPE_SOURCE_DIR + std::string("/config/") + job + ".toml",
            "--json", "result.json", "--model", folder / "model"} +
          set("data.cache=" + folder / "cache") + set("training.staleness=" + staleness),
      place);
  INFO(end.out, end.err);
  REQUIRE(end.exit_code == 0);
  return result_page(read_file(folder / "result.json"));
}

}  // namespace

TEST_CASE("census income is learned as well as liblinear's optimum has it") {
  if (!real_data("a9a")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
    return;
  }
  const temporary_folder folder;
  for (const std::string staleness : {"0", "4", "unbounded"}) {
    INFO("staleness ", staleness);
    const auto done = trained_on(folder, "a9a", staleness);
    CHECK(done.number("test_auc") >= 0.9012);
    CHECK(done.number("test_logloss") <= 0.3257);
    CHECK(done.number("examples") == 5 * 32'561);
    if (staleness != "unbounded") CHECK(done.number("max_staleness") <= std::stod(staleness));
  }
}

TEST_CASE("ad clicks are learned in one pass as well as by a serial FTRL") {
  if (!real_data("criteo20k")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with criteo20k");
    return;
  }
  const temporary_folder folder;
  for (const std::string staleness : {"0", "4"}) {
    INFO("staleness ", staleness);
    const auto done = trained_on(folder, "criteo20k", staleness);
    CHECK(done.number("test_logloss") <= 0.499);
    CHECK(done.number("test_auc") >= 0.734);
    CHECK(done.number("examples") == 10'000);
  }
}
