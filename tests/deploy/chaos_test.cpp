// Scenarios of the library on real processes.
#include <unistd.h>

#include <cstdlib>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

void check_kept(const workplace& here, const std::string& name) {
  program_place place;
  place.folder = here.path();
  place.deadline = std::chrono::seconds(100);
  const auto end =
      run_program({TROUPE_BINARY, "chaos", TROUPE_SOURCE_DIR "/config/chaos/" + name + ".toml",
                   "--target", "processes"},
                  place);
  INFO(end.out, end.err);
  CHECK(end.exit_code == 0);
  CHECK(contains(end.out, "kept"));
}

bool is_root() {
  return ::geteuid() == 0;
}

}  // namespace

TEST_CASE("on processes: a server comes back early, a worker dies, the scheduler restarts") {
  const workplace here;
  for (const char* name : {"server-comes-back-early", "worker-dies", "scheduler-restarts"})
    check_kept(here, name);
}

TEST_CASE("on processes: a server is paused for twice the verdict; another begins under its name") {
  const workplace here;
  for (const char* name : {"paused-twice-the-verdict", "impostors"}) check_kept(here, name);
}

TEST_CASE("on processes: a server is cut off, in network namespaces" * doctest::skip(!is_root())) {
  const workplace here;
  check_kept(here, "one-server-cut-off");
}
