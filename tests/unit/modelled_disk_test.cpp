// The disk of virtual time: what it takes, and what it loses.
#include "sim/disk/modelled_disk.hpp"

#include <doctest/doctest.h>

#include "tests/support/temporary_folder.hpp"

namespace troupe::sim {
namespace {

using std::chrono::milliseconds;
using testing::temporary_folder;

struct fixture {
  temporary_folder folder;
  std::shared_ptr<file_system> under = posix_file_system();

  modelled_disk disk(disk_settings settings = {}) { return {settings, under, random_source(1)}; }
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  std::string text(const std::string& name) const {
    const auto read = read_text(*under, path(name), 1000);
    return read ? *read : "(absent)";
  }
};

span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("an operation of the modelled disk takes its latency and its bytes their rate") {
  fixture f;
  auto disk = f.disk({milliseconds(2), 1000, 500, 0, 0});
  {
    auto file = disk.create(f.path("a"));
    REQUIRE(file.ok());
    CHECK(disk.take_elapsed() == milliseconds(2));
    CHECK((*file)->append(bytes_of(std::string(100, 'x'))).ok());
    CHECK(disk.take_elapsed() == milliseconds(2 + 200));
    CHECK((*file)->sync().ok());
    CHECK(disk.take_elapsed() == milliseconds(2));
  }
  auto file = disk.open(f.path("a"));
  REQUIRE(file.ok());
  std::byte buffer[50];
  CHECK(*(*file)->read_at(0, {buffer, 50}) == 50);
  CHECK(disk.take_elapsed() == milliseconds(2 + 2 + 50));
  CHECK(disk.take_elapsed() == duration::zero());
}

TEST_CASE("a full modelled disk refuses what does not fit, whole, until something is removed") {
  fixture f;
  auto disk = f.disk({{}, 0, 0, 10, 0});
  auto a = disk.create(f.path("a"));
  REQUIRE(a.ok());
  CHECK((*a)->append(bytes_of("12345678")).ok());
  const auto refused = (*a)->append(bytes_of("901"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.failure().code == errc::io);
  CHECK(refused.failure().text == f.path("a") + ": no space left on device (modelled)");
  CHECK((*a)->append(bytes_of("90")).ok());
  CHECK(f.text("a") == "1234567890");
  CHECK(disk.remove(f.path("a")).ok());
  CHECK(disk.used() == 0);
}

TEST_CASE("a failing modelled disk fails every change until it is repaired") {
  fixture f;
  auto disk = f.disk();
  disk.fail_writes_after(2);
  auto file = disk.create(f.path("a"));
  REQUIRE(file.ok());
  CHECK((*file)->append(bytes_of("x")).ok());
  CHECK_FALSE((*file)->append(bytes_of("y")).ok());
  CHECK_FALSE((*file)->sync().ok());
  CHECK_FALSE(disk.create(f.path("b")).ok());
  CHECK(disk.exists(f.path("a")));
  disk.repair();
  CHECK((*file)->append(bytes_of("z")).ok());
  CHECK(f.text("a") == "xz");
}

TEST_CASE("a power cut takes what was not synced") {
  fixture f;
  auto disk = f.disk();
  const auto write = [&](const char* name, bool sync_file, bool sync_folder) {
    auto file = disk.create(f.path(name));
    REQUIRE(file.ok());
    REQUIRE((*file)->append(bytes_of("kept")).ok());
    if (sync_file) REQUIRE((*file)->sync().ok());
    REQUIRE((*file)->append(bytes_of(" lost")).ok());
    REQUIRE((*file)->close().ok());
    if (sync_folder) REQUIRE(disk.sync_folder(f.folder.path()).ok());
  };
  write("both", true, true);
  write("name only", false, true);
  write("content only", true, false);
  disk.lose_unsynced();
  CHECK(f.text("both") == "kept");
  CHECK(f.text("name only") == "");
  CHECK(f.text("content only") == "(absent)");
  CHECK(disk.used() == 4);
}

TEST_CASE("a power cut undoes renames and removals whose folder was not synced") {
  fixture f;
  {
    auto disk = f.disk();
    for (const char* name : {"a", "b", "c"})
      REQUIRE(write_text_atomically(disk, f.path(name), name).ok());
    REQUIRE(disk.rename(f.path("a"), f.path("b")).ok());
    REQUIRE(disk.remove(f.path("c")).ok());
    disk.lose_unsynced();
  }
  CHECK(f.text("a") == "a");
  CHECK(f.text("b") == "b");
  CHECK(f.text("c") == "c");
}

TEST_CASE("after a power cut at any change, an atomic write shows the old text or the new") {
  for (std::uint64_t changes = 0; changes < 12; ++changes) {
    fixture f;
    auto disk = f.disk();
    REQUIRE(write_text_atomically(disk, f.path("a"), "old").ok());
    disk.fail_writes_after(changes);
    const bool done = write_text_atomically(disk, f.path("a"), "new").ok();
    disk.lose_unsynced();
    CAPTURE(changes);
    CHECK(f.text("a") == (done ? "new" : "old"));
  }
}

TEST_CASE("a file that was open at the power cut fails") {
  fixture f;
  auto disk = f.disk();
  auto file = disk.create(f.path("a"));
  REQUIRE(file.ok());
  disk.lose_unsynced();
  CHECK_FALSE((*file)->append(bytes_of("x")).ok());
  CHECK_FALSE((*file)->close().ok());
}

TEST_CASE("write failures are drawn by the seed") {
  fixture f;
  const auto failures = [&](std::uint64_t seed) {
    modelled_disk disk({{}, 0, 0, 0, 0.5}, f.under, random_source(seed));
    std::string marks;
    for (int i = 0; i < 32; ++i) marks += disk.create(f.path("a")).ok() ? '.' : 'x';
    return marks;
  };
  CHECK(failures(1) == failures(1));
  CHECK(failures(1) != failures(2));
  CHECK(failures(1).find('x') != std::string::npos);
  CHECK(failures(1).find('.') != std::string::npos);
}

}  // namespace troupe::sim
