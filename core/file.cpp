#include "core/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace troupe {
namespace {

error failed(const char* what, const std::string& path, int number) {
  return {errc::io, std::string("cannot ") + what + " " + path + ": " +
                        std::generic_category().message(number)};
}

// A descriptor that is closed when its owner goes.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { close(); }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

// A signal may interrupt any slow call; it is then made again.
template <class Call>
auto repeated(Call call) {
  auto outcome = call();
  while (outcome < 0 && errno == EINTR) outcome = call();
  return outcome;
}

descriptor opened(const std::string& path, int flags) {
  return descriptor(repeated([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); }));
}

class posix_readable final : public readable_file {
 public:
  posix_readable(std::string path, descriptor file, std::uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  result<std::size_t> read_at(std::uint64_t offset, span<std::byte> buffer) const override {
    std::size_t got = 0;
    while (got < buffer.size()) {
      const auto n = repeated([&] {
        return ::pread(file_.number(), buffer.data() + got, buffer.size() - got,
                       static_cast<off_t>(offset + got));
      });
      if (n < 0) return failed("read", path_, errno);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    return got;
  }
  std::uint64_t size() const override { return size_; }

 private:
  std::string path_;
  descriptor file_;
  std::uint64_t size_;
};

class standard_input_file final : public readable_file {
 public:
  result<std::size_t> read_at(std::uint64_t offset, span<std::byte> buffer) const override {
    if (offset != at_)
      return error{errc::internal, "standard input can be read from front to back only"};
    const auto n = repeated([&] { return ::read(STDIN_FILENO, buffer.data(), buffer.size()); });
    if (n < 0) return failed("read", "standard input", errno);
    at_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }
  std::uint64_t size() const override { return 0; }

 private:
  mutable std::uint64_t at_ = 0;
};

class posix_writable final : public writable_file {
 public:
  posix_writable(std::string path, descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  result<void> append(span<const std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto n = repeated(
          [&] { return ::write(file_.number(), bytes.data() + done, bytes.size() - done); });
      if (n < 0) return failed("write", path_, errno);
      done += static_cast<std::size_t>(n);
    }
    return {};
  }
  result<void> sync() override {
    if (repeated([&] { return ::fsync(file_.number()); }) < 0) return failed("sync", path_, errno);
    return {};
  }
  result<void> close() override {
    if (!file_.close()) return failed("close", path_, errno);
    return {};
  }

 private:
  std::string path_;
  descriptor file_;
};

// What is done under a lock, reading a large data set once, may take a while.
constexpr auto lock_patience = std::chrono::hours(1);

// flock() belongs to the open file, not to the process, so it also keeps threads of one process
// apart.
class standard_output_file final : public writable_file {
 public:
  result<void> append(span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto n = repeated([&] { return ::write(STDOUT_FILENO, bytes.data(), bytes.size()); });
      if (n < 0) return failed("write to", "standard output", errno);
      const auto written = static_cast<std::size_t>(n);
      bytes = bytes.subspan(written, bytes.size() - written);
    }
    return {};
  }
  result<void> sync() override { return {}; }
  result<void> close() override { return {}; }
};

class posix_lock final : public file_lock {
 public:
  explicit posix_lock(descriptor file) : file_(std::move(file)) {}

 private:
  descriptor file_;
};

class posix_files final : public file_system {
 public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    auto file = opened(path, O_RDONLY | O_NONBLOCK);
    if (!file.valid()) return failed("open", path, errno);
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0) return failed("examine", path, errno);
    if (S_ISDIR(facts.st_mode)) return failed("read", path, EISDIR);
    if (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode))
      return error{errc::io, "cannot read " + path + ": it is a pipe, and a file is needed"};
    return std::unique_ptr<readable_file>(std::make_unique<posix_readable>(
        path, std::move(file), static_cast<std::uint64_t>(facts.st_size)));
  }

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    auto file = opened(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.valid()) return failed("create", path, errno);
    return std::unique_ptr<writable_file>(std::make_unique<posix_writable>(path, std::move(file)));
  }

  result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename", from + " to " + to, errno);
    return {};
  }

  result<void> remove(const std::string& path) override {
    std::error_code code;
    const auto removed = std::filesystem::remove_all(path, code);
    if (code) return failed("remove", path, code.value());
    if (removed == 0) return failed("remove", path, ENOENT);
    return {};
  }

  result<void> create_folders(const std::string& path) override {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) return failed("create the folder", path, code.value());
    return {};
  }

  result<void> sync_folder(const std::string& path) override {
    auto folder = opened(path, O_RDONLY | O_DIRECTORY);
    if (!folder.valid()) return failed("open the folder", path, errno);
    if (repeated([&] { return ::fsync(folder.number()); }) < 0)
      return failed("sync the folder", path, errno);
    return {};
  }

  result<std::vector<std::string>> list(const std::string& path) override {
    std::error_code code;
    std::vector<std::string> names;
    std::filesystem::directory_iterator entry(path, code);
    for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code))
      names.push_back(entry->path().filename().string());
    if (code) return failed("list", path, code.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  result<file_facts> facts(const std::string& path) override {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return failed("find", path, errno);
    file_facts facts;
    facts.size = static_cast<std::uint64_t>(found.st_size);
    facts.modified_ns =
        std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + std::int64_t{found.st_mtim.tv_nsec};
    facts.folder = S_ISDIR(found.st_mode);
    return facts;
  }

  bool exists(const std::string& path) override {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0;
  }

  result<std::unique_ptr<file_lock>> lock(const std::string& path) override {
    auto file = opened(path, O_RDWR | O_CREAT);
    if (!file.valid()) return failed("open the lock", path, errno);
    // Asked again and again rather than waited for in the kernel, which knows no deadline.
    const auto deadline = std::chrono::steady_clock::now() + lock_patience;
    while (repeated([&] { return ::flock(file.number(), LOCK_EX | LOCK_NB); }) < 0) {
      if (errno != EWOULDBLOCK) return failed("lock", path, errno);
      if (std::chrono::steady_clock::now() >= deadline)
        return error{errc::timeout, path + " is locked by another process for too long"};
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::unique_ptr<file_lock>(std::make_unique<posix_lock>(std::move(file)));
  }
};

}  // namespace

std::shared_ptr<file_system> posix_file_system() {
  static const auto files = std::make_shared<posix_files>();
  return files;
}

std::unique_ptr<writable_file> standard_output() {
  return std::make_unique<standard_output_file>();
}

std::unique_ptr<readable_file> standard_input() {
  return std::make_unique<standard_input_file>();
}

result<std::string> read_text(file_system& files, const std::string& path, std::uint64_t limit) {
  auto file = files.open(path);
  if (!file) return file.failure();
  const error too_large{errc::bad_data,
                        path + " is larger than the " + std::to_string(limit) + " bytes allowed"};
  if ((*file)->size() > limit) return too_large;
  // A file may have grown since, so its size is only a guess; one byte more shows its end.
  std::string text;
  std::uint64_t step = (*file)->size() + 1;
  for (;;) {
    const auto before = text.size();
    text.resize(before + step);
    const span<char> rest(text.data() + before, step);
    auto got = (*file)->read_at(before, {reinterpret_cast<std::byte*>(rest.data()), rest.size()});
    if (!got) return got.failure();
    text.resize(before + *got);
    if (text.size() > limit) return too_large;
    if (*got < step) return text;
    step = std::min<std::uint64_t>(limit + 1 - text.size(), std::uint64_t{1} << 20);
  }
}

namespace {

// One fixed name, so that what a crash leaves behind is overwritten by the next attempt.
result<void> write_synced(file_system& files, const std::string& path, std::string_view text) {
  auto file = files.create(path);
  if (!file) return file.failure();
  auto written = (*file)->append({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  if (!written) return written;
  auto synced = (*file)->sync();
  if (!synced) return synced;
  return (*file)->close();
}

}  // namespace

result<void> write_text_atomically(file_system& files, const std::string& path,
                                   std::string_view text) {
  const auto part = path + ".part";
  auto written = write_synced(files, part, text);
  if (written) written = files.rename(part, path);
  if (!written) {
    (void)files.remove(part);
    return written;
  }
  const auto slash = path.rfind('/');
  return files.sync_folder(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

}  // namespace troupe
