// A job file under a scenario's faults, with filters, on real processes.
#include <fstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

TEST_CASE("on processes: the block solver through filters, while everybody is killed in turn") {
  const workplace here;
  std::ofstream rows(here.path() + "/rows.svm");
  for (int i = 0; i < 240; ++i) {
    const int a = i * 7 % 20, b = 20 + i * 11 % 20, c = 40 + i * 13 % 20;
    rows << ((a + b + c) % 3 == 0 ? "+1" : "-1") << ' ' << a + 1 << ":1 " << b + 1 << ":1 " << c + 1
         << ":1\n";
  }
  rows.close();
  std::ofstream(here.path() + "/job.toml")
      << "[data]\ntrain = \"rows.svm\"\n[model]\noutput = \"\"\n[training]\nepochs = 30\n"
         "[training.updater]\nl1 = 0.5\n[solver]\nname = \"blocks\"\nby = \"range\"\ncount = 8\n"
         "check_every = 5\nfilter = \"kkt\"\n";
  std::ofstream(here.path() + "/scenario.toml")
      << "[cluster]\nservers = 3\nworkers = 2\nslots = 3\n[workload]\nkind = \"job\"\n"
         "job = \"job.toml\"\n[filters]\npush = [\"fixed8\", \"value_delta\", \"key_cache "
         "least_keys=3\", \"zstd\"]\npull = [\"key_cache least_keys=3\", \"zstd\"]\n"
         "[[faults]]\nkind = \"kill\"\nnode = \"server 1\"\nat = \"40 ms\"\nlasts = \"50 ms\"\n"
         "[[faults]]\nkind = \"kill\"\nnode = \"worker 0\"\nat = \"80 ms\"\nlasts = \"20 ms\"\n"
         "[[faults]]\nkind = \"kill\"\nnode = \"scheduler\"\nat = \"120 ms\"\nlasts = \"20 ms\"\n"
         "[expect]\nleast_faults = 3\n";
  program_place place;
  place.folder = here.path();
  place.deadline = std::chrono::seconds(100);
  // Its model must be, bit for bit, that of a run in virtual time without faults.
  const auto end =
      run_program({TROUPE_BINARY, "chaos", "scenario.toml", "--target", "processes"}, place);
  INFO(end.out, end.err);
  CHECK(end.exit_code == 0);
  CHECK(contains(end.out, "kept"));
}
