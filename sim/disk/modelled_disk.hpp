#pragma once
// One node's disk in virtual time: another file system's files, with a price for every operation,
// an end to the space, writes that fail, and writes that a power cut forgets.
//
// What a power cut may take is what a journalling file system may lose at worst:
//   - bytes that were appended since the last sync() of their file, closed or not;
//   - names that were made, replaced or removed since the last sync_folder() of their folder: they
//     are as they were before, with the content they had (it is kept in memory until then).
// Truncating a file by create() loses its old content at once.
//
// For one thread. What was written before the disk was made, or past it, counts as durable and
// takes no space.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "core/random.hpp"
#include "core/time.hpp"

namespace troupe::sim {

struct disk_settings {
  duration latency{};                    // of each operation
  double read_rate = 0, write_rate = 0;  // bytes a second; 0: no limit
  std::uint64_t capacity = 0;            // bytes; 0: no limit
  double write_failure = 0;              // the chance that a change fails
};

// What is wrong with a disk for a while.
struct disk_trouble {
  bool full = false;            // nothing more fits
  bool fails = false;           // every change fails
  bool short_writes = false;    // half of what is appended is written, and the rest fails
  bool lies = false;            // it says that it has synced, and has not
  bool no_descriptors = false;  // no file can be opened
};

class modelled_disk final : public file_system {
 public:
  modelled_disk(disk_settings settings, std::shared_ptr<file_system> under, random_source random);

  // All disks that share the files beneath, this one too: what one renames, the others know by its
  // new name.
  void share_names(std::shared_ptr<std::vector<modelled_disk*>> all) { all_ = std::move(all); }

  // How long the operations since the last call took.
  duration take_elapsed();

  // After so many more changes (create, append, sync, rename, remove) all fail, until repair().
  void fail_writes_after(std::uint64_t changes) { good_changes_ = changes; }
  void repair() { good_changes_.reset(); }
  void set_trouble(const disk_trouble& trouble) { trouble_ = trouble; }
  // A power cut. Files that were open for writing fail from now on.
  void lose_unsynced();

  std::uint64_t used() const { return used_; }

  result<std::unique_ptr<readable_file>> open(const std::string& path) override;
  result<std::unique_ptr<writable_file>> create(const std::string& path) override;
  result<void> rename(const std::string& from, const std::string& to) override;
  result<void> remove(const std::string& path) override;
  result<void> create_folders(const std::string& path) override;
  result<void> sync_folder(const std::string& path) override;
  result<std::vector<std::string>> list(const std::string& path) override;
  result<file_facts> facts(const std::string& path) override;
  bool exists(const std::string& path) override;
  result<std::unique_ptr<file_lock>> lock(const std::string& path) override;

 private:
  class reader;
  class writer;
  struct written_file {
    std::uint64_t size = 0, synced = 0;
  };
  struct name_change {
    std::string folder;  // that must be synced to make it last
    std::function<void()> undo;
  };

  void spend(std::uint64_t bytes, double rate);
  result<void> change(const std::string& path);  // whether a change may succeed
  result<void> grow(const std::string& path, std::uint64_t bytes);
  void forget(const std::string& path);  // a file or a folder of files: their space is free
  void on_renamed(const std::string& from, const std::string& to);
  void keep_for_undo(const std::string& path,
                     std::vector<std::pair<std::string, std::string>>& into);
  void restore(const std::vector<std::pair<std::string, std::string>>& files);

  const disk_settings settings_;
  const std::shared_ptr<file_system> under_;
  random_source random_;
  duration elapsed_{};
  std::shared_ptr<std::vector<modelled_disk*>> all_;  // null: there is no other
  std::optional<std::uint64_t> good_changes_;
  disk_trouble trouble_;
  std::uint64_t used_ = 0;
  std::uint64_t power_cuts_ = 0;
  std::map<std::string, written_file> files_;
  std::vector<name_change> name_changes_;
};

}  // namespace troupe::sim
