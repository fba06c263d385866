// The scheduler's log on a disk that fails and loses its power.

#include "actors/scheduler/state_log.hpp"

#include <doctest/doctest.h>

#include "sim/disk/modelled_disk.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

pb::SchedulerState state(std::uint32_t next_shard) {
  pb::SchedulerState s;
  s.set_job("job");
  s.set_next_shard(next_shard);
  return s;
}

std::unique_ptr<state_log> open(const std::shared_ptr<file_system>& files,
                                const std::string& folder) {
  auto log = state_log::open(files, folder);
  REQUIRE(log.ok());
  return *std::move(log);
}

}  // namespace

TEST_CASE("the last record is what the next incarnation begins with") {
  temporary_folder folder;
  const auto files = posix_file_system();
  {
    auto log = open(files, folder / "s");
    CHECK(log->incarnation() == 1);
    CHECK_FALSE(log->before().has_value());
    for (std::uint32_t i = 1; i <= 5; ++i) REQUIRE(log->append(state(i)));
  }
  for (std::uint64_t incarnation = 2; incarnation <= 4; ++incarnation) {  // that wrote nothing
    auto log = open(files, folder / "s");
    CHECK(log->incarnation() == incarnation);
    REQUIRE(log->before().has_value());
    CHECK(log->before()->next_shard() == 5);
  }
}

TEST_CASE("power is cut at every step: what was appended is there, what was not may be") {
  for (std::uint64_t step = 0; step < 12; ++step) {
    temporary_folder folder;
    const auto files = std::make_shared<sim::modelled_disk>(sim::disk_settings{},
                                                            posix_file_system(), random_source(1));
    std::uint32_t appended = 0;
    {
      auto log = open(files, folder / "s");
      files->fail_writes_after(step);
      while (log->append(state(appended + 1))) ++appended;
    }
    files->repair();
    files->lose_unsynced();
    const auto log = open(files, folder / "s");
    const auto found = log->before() ? log->before()->next_shard() : 0;
    CAPTURE(step);
    CHECK((found == appended || found == appended + 1));
  }
}

TEST_CASE("a record that is damaged or cut short is passed over") {
  temporary_folder folder;
  const auto files = posix_file_system();
  {
    auto log = open(files, folder / "s");
    for (std::uint32_t i = 1; i <= 3; ++i) REQUIRE(log->append(state(i)));
  }
  const auto path = folder / "s" + "/scheduler-1.log";
  auto text = *read_text(*files, path, 1 << 20);
  SUBCASE("cut") {
    text.resize(text.size() - 1);
    write_file(path, text);
    CHECK(open(files, folder / "s")->before()->next_shard() == 2);
  }
  SUBCASE("flipped") {
    text.back() = static_cast<char>(text.back() ^ 1);
    write_file(path, text);
    CHECK(open(files, folder / "s")->before()->next_shard() == 2);
  }
  SUBCASE("foreign") {
    write_file(path, "something else");
    CHECK_FALSE(open(files, folder / "s")->before().has_value());
  }
}
