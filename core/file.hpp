#pragma once
// The seam through which all files are reached, so that a test or the simulator can put a disk of
// its own behind it: one that is slow, full, fails, or forgets what was not synced.
//
// Calls block; an actor makes them from a `background` job (core/background.hpp), never from a
// handler. Errors name the path and the system's reason.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/span.hpp"

namespace troupe {

class readable_file {
 public:
  virtual ~readable_file() = default;
  // Reads at most buffer.size() bytes from `offset`; 0 means the end of the file. Safe from several
  // threads.
  virtual result<std::size_t> read_at(std::uint64_t offset, span<std::byte> buffer) const = 0;
  virtual std::uint64_t size() const = 0;
};

class writable_file {
 public:
  virtual ~writable_file() = default;  // closes; what was not synced may be lost
  virtual result<void> append(span<const std::byte> bytes) = 0;
  virtual result<void> sync() = 0;   // returns when the bytes survive a power cut
  virtual result<void> close() = 0;  // reports a late write error; no call after it
};

// Held while it lives; given up by its destructor or by the death of the process.
class file_lock {
 public:
  virtual ~file_lock() = default;
};

struct file_facts {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // since the epoch
  bool folder = false;
};

class file_system {
 public:
  virtual ~file_system() = default;
  virtual result<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  virtual result<std::unique_ptr<writable_file>> create(const std::string& path) = 0;  // truncates
  virtual result<void> rename(const std::string& from,
                              const std::string& to) = 0;    // atomic, replaces
  virtual result<void> remove(const std::string& path) = 0;  // a file, or a folder with all in it
  virtual result<void> create_folders(
      const std::string& path) = 0;                               // and its parents; fine if there
  virtual result<void> sync_folder(const std::string& path) = 0;  // makes renames in it durable
  virtual result<std::vector<std::string>> list(const std::string& path) = 0;  // names, sorted
  virtual result<file_facts> facts(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  // Waits until no other process or thread holds the lock on `path` (created if absent), for an
  // hour at most.
  virtual result<std::unique_ptr<file_lock>> lock(const std::string& path) = 0;
};

// The machine's own disk.
std::shared_ptr<file_system> posix_file_system();

// Standard input, to be read from front to back, in one thread: read_at() takes what comes, and
// needs the offset at which it stands. Its size is not known: 0.
std::unique_ptr<readable_file> standard_input();
// Standard output; sync() and close() do nothing.
std::unique_ptr<writable_file> standard_output();

// The whole of a file that must not exceed `limit` bytes.
result<std::string> read_text(file_system& files, const std::string& path, std::uint64_t limit);
// Writes beside, syncs, and renames: after a crash either the old or the new content is there.
result<void> write_text_atomically(file_system& files, const std::string& path,
                                   std::string_view text);

}  // namespace troupe
