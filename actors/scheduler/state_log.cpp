#include "actors/scheduler/state_log.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "core/parent_folder.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::string_view magic = "TRPSLOG1";
constexpr std::uint64_t most_of_a_file = std::uint64_t{4} << 20;  // then the next is begun
constexpr std::uint64_t most_read = std::uint64_t{1} << 30;
constexpr std::size_t head_size = sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::uint64_t hash_of(std::string_view bytes) {
  running_hash hash;
  hash.add(bytes);
  return hash.digest();
}

// The number in "scheduler-N.log"; nothing for other names.
std::optional<std::uint64_t> number_in(const std::string& name) {
  constexpr std::string_view front = "scheduler-", back = ".log";
  if (name.size() <= front.size() + back.size() || name.rfind(front, 0) != 0 ||
      name.substr(name.size() - back.size()) != back)
    return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : name.substr(front.size(), name.size() - front.size() - back.size())) {
    if (c < '0' || c > '9' || number > 1'000'000'000'000) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

std::optional<pb::SchedulerState> last_record(std::string_view bytes) {
  std::optional<pb::SchedulerState> last;
  if (bytes.substr(0, magic.size()) != magic) return last;
  bytes.remove_prefix(magic.size());
  while (bytes.size() >= head_size) {
    std::uint32_t size = 0;
    std::uint64_t hash = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    std::memcpy(&hash, bytes.data() + sizeof size, sizeof hash);
    bytes.remove_prefix(head_size);
    if (size > bytes.size()) break;
    const auto state = bytes.substr(0, size);
    bytes.remove_prefix(size);
    pb::SchedulerState read;
    if (hash_of(state) == hash && read.ParseFromArray(state.data(), static_cast<int>(size)))
      last = std::move(read);
  }
  return last;
}

}  // namespace

std::string state_log::path_of(std::uint64_t number) const {
  return folder_ + format("/scheduler-%llu.log", static_cast<unsigned long long>(number));
}

result<std::optional<pb::SchedulerState>> state_log::peek(std::shared_ptr<file_system> files,
                                                          const std::string& folder) {
  if (!files->exists(folder)) return std::optional<pb::SchedulerState>{};
  state_log log(std::move(files), folder);
  if (auto read = log.read_all(); !read) return read.failure();
  return log.before_;
}

result<std::unique_ptr<state_log>> state_log::open(std::shared_ptr<file_system> files,
                                                   const std::string& folder) {
  std::unique_ptr<state_log> log(new state_log(std::move(files), folder));
  if (auto made = log->files_->create_folders(folder); !made) return made.failure();
  // The folder's own name must survive too.
  if (auto done = log->files_->sync_folder(parent_folder(folder)); !done) return done.failure();
  auto lock = log->files_->lock(folder + "/scheduler.lock");
  if (!lock) return lock.failure();
  log->lock_ = *std::move(lock);
  if (auto read = log->read_all(); !read) return read.failure();
  if (auto begun = log->begin_file(); !begun) return begun.failure();
  return log;
}

result<void> state_log::read_all() {
  const auto names = files_->list(folder_);
  if (!names) return names.failure();
  for (const auto& name : *names)
    if (const auto number = number_in(name)) older_.push_back(*number);
  std::sort(older_.begin(), older_.end());
  for (auto number = older_.rbegin(); number != older_.rend() && !before_; ++number) {
    const auto text = read_text(*files_, path_of(*number), most_read);
    if (!text) return text.failure();
    before_ = last_record(*text);
  }
  if (!older_.empty()) number_ = older_.back();
  // Views are numbered by incarnations, so each opening has one of its own, whatever it wrote.
  incarnation_ = number_ + 1;
  if (before_) incarnation_ = std::max(incarnation_, (before_->view().number() >> 32) + 1);
  return {};
}

result<void> state_log::begin_file() {
  if (file_) older_.push_back(number_);
  auto made = files_->create(path_of(++number_));
  if (!made) return made.failure();
  file_ = *std::move(made);
  size_ = 0;
  if (auto done = file_->append({reinterpret_cast<const std::byte*>(magic.data()), magic.size()});
      !done)
    return done;
  if (auto done = file_->sync(); !done) return done;
  return files_->sync_folder(folder_);
}

result<void> state_log::append(const pb::SchedulerState& state) {
  if (size_ > most_of_a_file)
    if (auto begun = begin_file(); !begun) return begun;
  std::string bytes;
  if (!state.SerializeToString(&bytes))
    return error{errc::internal, "the scheduler's state cannot be written down"};
  byte_writer record;
  record.put(static_cast<std::uint32_t>(bytes.size()));
  record.put(hash_of(bytes));
  record.append(bytes.data(), bytes.size());
  if (auto done = file_->append(record.bytes()); !done) return done;
  const bool unsynced = planted("view-before-log");
  if (auto done = unsynced ? result<void>() : file_->sync(); !done) return done;
  size_ += record.size();
  // This one has all that the older ones had.
  for (const auto number : std::exchange(older_, {})) (void)files_->remove(path_of(number));
  return {};
}

}  // namespace troupe
