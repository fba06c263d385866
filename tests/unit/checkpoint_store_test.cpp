// Checkpoints on a disk that fails, fills up and loses its power at every step.

#include "actors/scheduler/checkpoint_store.hpp"

#include <doctest/doctest.h>

#include "sim/disk/modelled_disk.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::shared_ptr<sim::modelled_disk> disk() {
  return std::make_shared<sim::modelled_disk>(sim::disk_settings{}, posix_file_system(),
                                              random_source(1));
}

pb::Checkpoint manifest_of(std::uint64_t number) {
  pb::Checkpoint m;
  m.set_number(number);
  m.set_job("job");
  m.set_clock(number * 10);
  auto* shard = m.add_shards();
  shard->add_first(0);
  shard->add_last(~std::uint64_t{0});
  shard->add_files("weights.shard-0.rows");
  return m;
}

// All that happens to files from the first row to the name that counts.
result<void> take(file_system& files, const checkpoint_store& store, const std::string& folder,
                  std::uint64_t number) {
  const auto partial = partial_checkpoint_folder(folder, number);
  if (auto made = files.create_folders(partial); !made) return made;
  auto file = files.create(partial + "/weights.shard-0.rows");
  if (!file) return file.failure();
  const auto text = "rows of " + std::to_string(number);
  if (auto done = (*file)->append({reinterpret_cast<const std::byte*>(text.data()), text.size()});
      !done)
    return done;
  if (auto done = (*file)->sync(); !done) return done;
  if (auto done = (*file)->close(); !done) return done;
  if (auto done = files.sync_folder(partial); !done) return done;
  return store.publish(manifest_of(number));
}

std::uint64_t latest(const checkpoint_store& store) {
  const auto found = store.latest();
  REQUIRE(found.ok());
  return *found ? (*found)->manifest.number() : 0;
}

}  // namespace

TEST_CASE("the latest checkpoint is found, and as many are kept as were asked for") {
  temporary_folder folder;
  auto files = posix_file_system();
  const checkpoint_store store(files, folder / "c", 2, "seed = 1\n", "{}");
  REQUIRE(store.prepare());
  CHECK(latest(store) == 0);
  for (std::uint64_t n = 1; n <= 4; ++n) REQUIRE(take(*files, store, folder / "c", n));
  CHECK(latest(store) == 4);
  const auto all = store.list();
  REQUIRE(all.ok());
  REQUIRE(all->size() == 2);
  CHECK((*all)[0].number == 3);
  CHECK((*all)[1].manifest->configuration() == "seed = 1\n");
  CHECK((*all)[1].manifest->files(0).size() == 9);
}

TEST_CASE("power is cut at every write, sync and rename: the latest or the one before is whole") {
  int steps = 0, olds = 0, news = 0;
  for (bool over = false; !over; ++steps) {
    temporary_folder folder;
    auto files = disk();
    const checkpoint_store store(files, folder / "c");
    REQUIRE(store.prepare());
    REQUIRE(files->sync_folder(folder.path()));
    REQUIRE(take(*files, store, folder / "c", 1));
    files->fail_writes_after(static_cast<std::uint64_t>(steps));
    over = take(*files, store, folder / "c", 2).ok();
    files->repair();
    files->lose_unsynced();
    const auto found = latest(store);
    CAPTURE(steps);
    CHECK((found == 2 || (found == 1 && !over)));
    (found == 2 ? news : olds) += 1;
    // What was left half done is no hindrance.
    REQUIRE(store.prepare());
    REQUIRE(take(*files, store, folder / "c", 3));
    CHECK(latest(store) == 3);
  }
  CHECK(steps > 12);
  CHECK(olds > 8);
  CHECK(news >= 1);
}

TEST_CASE("a full disk costs a checkpoint, and not the one before") {
  temporary_folder folder;
  const auto files = std::make_shared<sim::modelled_disk>(sim::disk_settings{{}, 0, 0, 2000, 0},
                                                          posix_file_system(), random_source(1));
  const checkpoint_store store(files, folder / "c", 1000);
  REQUIRE(store.prepare());
  std::uint64_t number = 1;
  while (take(*files, store, folder / "c", number)) ++number;
  REQUIRE(number > 1);
  REQUIRE(store.discard(number));
  CHECK(latest(store) == number - 1);
}

TEST_CASE("a damaged checkpoint is passed over, and named with the file that is at fault") {
  temporary_folder folder;
  auto files = posix_file_system();
  const checkpoint_store store(files, folder / "c");
  REQUIRE(store.prepare());
  for (std::uint64_t n = 1; n <= 2; ++n) REQUIRE(take(*files, store, folder / "c", n));
  const auto two = checkpoint_folder(folder / "c", 2);
  const auto verdict = [&] {
    const auto whole = verify_checkpoint(*files, two);
    return whole ? std::string() : whole.failure().text;
  };
  CHECK(verdict().empty());
  SUBCASE("a byte of the rows is flipped") {
    write_file(two + "/weights.shard-0.rows", "rows of 3");
    CHECK(verdict() == two + "/weights.shard-0.rows does not have its checksum");
  }
  SUBCASE("the rows are cut short") {
    write_file(two + "/weights.shard-0.rows", "rows");
    CHECK(verdict() == two + "/weights.shard-0.rows has 4 bytes and not 9");
  }
  SUBCASE("the rows are missing") {
    REQUIRE(files->remove(two + "/weights.shard-0.rows"));
    CHECK(verdict().find("weights.shard-0.rows") != std::string::npos);
  }
  SUBCASE("the manifest was changed") {
    const auto text = read_text(*files, two + "/manifest.json", 1 << 20);
    write_file(two + "/manifest.json", *text + " ");
    CHECK(verdict() == two + "/manifest.json: it does not have its checksum");
  }
  SUBCASE("it is of a newer format") {
    write_file(two + "/manifest.json", R"({"format": 9, "troupe": "7.0"})");
    CHECK(verdict() == two +
                           "/manifest.json: written by a newer Troupe (7.0, format 9); this one "
                           "reads up to format 1");
  }
  SUBCASE("the manifest is missing") {
    REQUIRE(files->remove(two + "/manifest.json"));
    CHECK(verdict() == two + "/manifest.json: it is missing, so this is no whole checkpoint");
  }
  CHECK(latest(store) == 1);
}
