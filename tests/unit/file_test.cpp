#include "core/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using testing::read_file;
using testing::temporary_folder;
using testing::write_file;

TEST_CASE("a file is read from any offset, and its end is a short count") {
  const temporary_folder folder;
  write_file(folder / "a", "0123456789");
  auto file = posix_file_system()->open(folder / "a");
  REQUIRE(file);
  CHECK((*file)->size() == 10);
  char bytes[4];
  const span<std::byte> buffer(reinterpret_cast<std::byte*>(bytes), 4);
  CHECK(*(*file)->read_at(3, buffer) == 4);
  CHECK(std::string(bytes, 4) == "3456");
  CHECK(*(*file)->read_at(8, buffer) == 2);
  CHECK(*(*file)->read_at(10, buffer) == 0);
  CHECK(*(*file)->read_at(1000, buffer) == 0);
}

TEST_CASE("errors of the disk name the path and the reason") {
  const temporary_folder folder;
  auto files = posix_file_system();
  const auto absent = folder / "absent";
  CHECK(files->open(absent).failure().text ==
        "cannot open " + absent + ": No such file or directory");
  CHECK(files->open(absent).failure().code == errc::io);
  CHECK(files->open(folder.path()).failure().text ==
        "cannot read " + folder.path() + ": Is a directory");
  CHECK_FALSE(files->remove(absent));
  CHECK_FALSE(files->list(absent));
  CHECK_FALSE(files->facts(absent));
  CHECK_FALSE(files->create(absent + "/b"));
  CHECK_FALSE(files->rename(absent, folder / "b"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(files->open(folder / "pipe"));
}

TEST_CASE("folders are made with their parents, listed in order and removed with all in them") {
  const temporary_folder folder;
  auto files = posix_file_system();
  REQUIRE(files->create_folders(folder / "a/b/c"));
  REQUIRE(files->create_folders(folder / "a/b/c"));
  for (const char* name : {"z", "m", "a"}) write_file(folder / (std::string("a/") + name), "x");
  CHECK(*files->list(folder / "a") == std::vector<std::string>{"a", "b", "m", "z"});
  CHECK(files->facts(folder / "a")->folder);
  CHECK(files->facts(folder / "a/m")->size == 1);
  CHECK(files->sync_folder(folder / "a"));
  REQUIRE(files->remove(folder / "a"));
  CHECK_FALSE(files->exists(folder / "a"));
}

TEST_CASE("text that is larger than allowed is refused") {
  const temporary_folder folder;
  write_file(folder / "a", "12345");
  auto files = posix_file_system();
  CHECK(*read_text(*files, folder / "a", 5) == "12345");
  CHECK(read_text(*files, folder / "a", 4).failure().text ==
        folder / "a" + " is larger than the 4 bytes allowed");
  write_file(folder / "empty", "");
  CHECK(*read_text(*files, folder / "empty", 0) == "");
}

TEST_CASE("an atomic write replaces the old content and leaves nothing else behind") {
  const temporary_folder folder;
  auto files = posix_file_system();
  REQUIRE(write_text_atomically(*files, folder / "a", "old"));
  REQUIRE(write_text_atomically(*files, folder / "a", "new"));
  CHECK(read_file(folder / "a") == "new");
  CHECK(files->list(folder.path())->size() == 1);
  CHECK_FALSE(write_text_atomically(*files, folder / "absent/a", "x"));
}

TEST_CASE("a lock keeps threads of one process apart") {
  const temporary_folder folder;
  auto files = posix_file_system();
  std::atomic<int> inside{0}, most{0}, turns{0};
  const auto contend = [&] {
    for (int i = 0; i < 200; ++i) {
      auto held = files->lock(folder / "lock");
      if (!held) return;
      const int now = ++inside;
      if (now > most) most = now;
      --inside;
      ++turns;
    }
  };
  std::thread other(contend);
  contend();
  other.join();
  CHECK(turns == 400);
  CHECK(most == 1);
}
