#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include "actors/worker/data/dataset.hpp"
#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// Whether opening these sources now reads them from end to end.
bool reads_text(const temporary_folder& folder, const std::string& source,
                data_options options = small_blocks()) {
  meter work_done;
  opened(folder, {source}, std::move(options), &work_done);
  return work_done.total(work::bytes_written) > 0;
}

void flip_byte(const std::string& path, std::size_t at) {
  auto bytes = read_file(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(path, bytes);
}

// A disk of which only so many bytes can be written.
class small_disk final : public file_system {
 public:
  explicit small_disk(std::uint64_t room) : room_(room) {}

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    auto file = disk_->create(path);
    if (!file) return file.failure();
    return std::unique_ptr<writable_file>(std::make_unique<written>(*std::move(file), room_));
  }
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return disk_->open(path);
  }
  result<void> rename(const std::string& from, const std::string& to) override {
    return disk_->rename(from, to);
  }
  result<void> remove(const std::string& path) override { return disk_->remove(path); }
  result<void> create_folders(const std::string& path) override {
    return disk_->create_folders(path);
  }
  result<void> sync_folder(const std::string& path) override { return disk_->sync_folder(path); }
  result<std::vector<std::string>> list(const std::string& path) override {
    return disk_->list(path);
  }
  result<file_facts> facts(const std::string& path) override { return disk_->facts(path); }
  bool exists(const std::string& path) override { return disk_->exists(path); }
  result<std::unique_ptr<file_lock>> lock(const std::string& path) override {
    return disk_->lock(path);
  }

 private:
  class written final : public writable_file {
   public:
    written(std::unique_ptr<writable_file> file, std::uint64_t& room)
        : file_(std::move(file)), room_(room) {}
    result<void> append(span<const std::byte> bytes) override {
      if (bytes.size() > room_) return error{errc::io, "the disk is full"};
      room_ -= bytes.size();
      return file_->append(bytes);
    }
    result<void> sync() override { return file_->sync(); }
    result<void> close() override { return file_->close(); }

   private:
    std::unique_ptr<writable_file> file_;
    std::uint64_t& room_;
  };

  std::shared_ptr<file_system> disk_ = posix_file_system();
  std::uint64_t room_;
};

}  // namespace

TEST_CASE("a cache is used as long as its sources have the content it was made from") {
  const temporary_folder folder;
  const auto a = folder / "a";
  const auto text = joined(random_lines(50'000, 2));
  write_file(a, text);
  CHECK(reads_text(folder, a));
  CHECK_FALSE(reads_text(folder, a));

  // Moved, or touched: the same content.
  std::filesystem::rename(a, folder / "b");
  CHECK_FALSE(reads_text(folder, folder / "b"));
  std::filesystem::rename(folder / "b", a);
  std::filesystem::last_write_time(a, std::filesystem::file_time_type::clock::now());
  CHECK_FALSE(reads_text(folder, a));
  meter work_done;
  opened(folder, {a}, small_blocks(), &work_done);
  CHECK(work_done.total(work::bytes_read) < text.size() / 2);  // the new time has been noted

  // One byte amid the file, of the same length.
  auto changed = text;
  const auto at = changed.find(":1", changed.size() / 2);
  changed[at + 1] = '2';
  write_file(a, changed);
  std::filesystem::last_write_time(
      a, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(reads_text(folder, a));
  write_file(a, text + "1 3:1\n");
  CHECK(reads_text(folder, a));
}

TEST_CASE("other options make another cache") {
  const temporary_folder folder;
  const auto a = folder / "a";
  write_file(a, joined(random_lines(100, 3)));
  CHECK(reads_text(folder, a));
  auto options = small_blocks();
  options.blocks.rows = 10;
  CHECK(reads_text(folder, a, options));
  options.reading.index_base = 0;
  CHECK(reads_text(folder, a, options));
  options.reading.settings["x"] = "y";
  CHECK(reads_text(folder, a, options));
  CHECK_FALSE(reads_text(folder, a, options));
  CHECK_FALSE(reads_text(folder, a));  // the first one is still there
}

TEST_CASE("a damaged, truncated or older cache is made anew when it is opened") {
  const temporary_folder folder;
  const auto a = folder / "a";
  write_file(a, joined(random_lines(500, 4)));
  const auto whole = opened(folder, {a});
  const auto path = whole->cache_path();
  const auto bytes = read_file(path);
  const auto expected = content(*whole);
  const auto& last = whole->blocks().back();

  std::vector<std::string> broken = {"", "x", bytes.substr(0, 100),
                                     bytes.substr(0, bytes.size() - 1), bytes + "x"};
  // A flipped byte in the magic, the version, the footer's first byte, its middle, and the trailer.
  const auto footer = static_cast<std::size_t>(last.offset + last.size);
  for (const auto at : {std::size_t{0}, std::size_t{8}, footer, (footer + bytes.size()) / 2,
                        bytes.size() - 30, bytes.size() - 1}) {
    broken.push_back(bytes);
    broken.back()[at] = static_cast<char>(broken.back()[at] ^ 1);
  }
  for (std::size_t i = 0; i < broken.size(); ++i) {
    CAPTURE(i);
    write_file(path, broken[i]);
    CHECK(reads_text(folder, a));
    CHECK(content(*opened(folder, {a})) == expected);
  }
}

TEST_CASE("a block damaged on disk is healed from the sources") {
  const temporary_folder folder;
  const auto a = folder / "a";
  write_file(a, joined(random_lines(500, 5)));
  const auto set = opened(folder, {a});
  const auto expected = content(*set);
  flip_byte(set->cache_path(), static_cast<std::size_t>(set->blocks()[3].offset) + 20);
  CHECK(content(*set) == expected);
  CHECK(content(*opened(folder, {a})) == expected);
}

TEST_CASE("a damaged block whose sources are gone or changed is a precise error") {
  const temporary_folder folder;
  const auto a = folder / "a";
  const auto text = joined(random_lines(500, 6));
  write_file(a, text);
  const auto set = opened(folder, {a});
  const auto& place = set->blocks()[3];
  flip_byte(set->cache_path(), static_cast<std::size_t>(place.offset) + 20);
  const auto damage = "the data cache " + set->cache_path() + " is damaged: block 3 at byte " +
                      std::to_string(place.offset) +
                      " fails its checksum; it could not be made anew: ";

  REQUIRE(posix_file_system()->remove(a));
  auto rows = set->load_block(3);
  REQUIRE_FALSE(rows);
  CHECK(rows.failure().code == errc::damaged);
  CHECK(rows.failure().text == damage + "cannot find " + a + ": No such file or directory");
  CHECK(set->load_block(2));  // the others are still good

  write_file(a, "1 3:1\n");
  rows = set->load_block(3);
  REQUIRE_FALSE(rows);
  CHECK(rows.failure().text == damage + "the files it was made from have changed since");
}

TEST_CASE("several openers share one cache, and one of them makes it") {
  const temporary_folder folder;
  const auto a = folder / "a";
  write_file(a, joined(random_lines(20'000, 7)));
  meter work_done;
  std::uint64_t digests[4] = {};
  std::vector<std::thread> openers;
  for (auto& digest : digests)
    openers.emplace_back([&] {
      auto set = open_data(folder, {a}, small_blocks(), &work_done);
      if (set) digest = (*set)->digest();
    });
  for (auto& opener : openers) opener.join();
  const auto set = opened(folder, {a});
  for (const auto digest : digests) CHECK(digest == set->digest());
  CHECK(work_done.total(work::bytes_written) == read_file(set->cache_path()).size());
}

TEST_CASE("a disk that fills up while a cache is made leaves nothing behind, whenever it happens") {
  const temporary_folder folder;
  const auto a = folder / "a";
  write_file(a, joined(random_lines(500, 8)));
  data_options options = small_blocks();
  options.cache_folder = folder / "cache";
  std::uint64_t failures = 0;
  for (std::uint64_t room = 0;; room += 997) {
    auto set = dataset::open(std::make_shared<small_disk>(room), {a}, options, nullptr);
    if (set) break;
    ++failures;
    CHECK(set.failure().text == "the disk is full");
    const auto left = *posix_file_system()->list(folder / "cache");
    REQUIRE(left.size() == 1);  // the lock
    CHECK(left[0].find(".lock") != std::string::npos);
  }
  CHECK(failures > 10);
  CHECK(opened(folder, {a})->rows() == 500);
}
