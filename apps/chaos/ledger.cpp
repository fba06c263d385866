#include "apps/chaos/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace troupe::chaos {
namespace {

class live final : public ledger {
 public:
  live(std::function<instant()> now, std::function<void(const ledger_entry&)> to)
      : now_(std::move(now)), to_(std::move(to)) {}
  void add(ledger_entry entry) override {
    std::lock_guard guard(mutex_);
    entry.at = now_();
    to_(entry);
  }

 private:
  std::mutex mutex_;
  const std::function<instant()> now_;
  const std::function<void(const ledger_entry&)> to_;
};

// A record: its size in bytes, then these, then the values.
struct fixed_part {
  std::int64_t at;
  std::uint64_t life, clock;
  std::uint32_t slot;
  std::uint8_t what, refused;
  std::uint16_t unused;
};

class in_file final : public ledger {
 public:
  explicit in_file(std::unique_ptr<writable_file> file) : file_(std::move(file)) {}
  void add(ledger_entry e) override {
    std::lock_guard guard(mutex_);
    e.at.ns =
        std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    const fixed_part fixed{e.at.ns,   e.life, e.clock, e.slot, static_cast<std::uint8_t>(e.what),
                           e.refused, 0};
    const auto size = static_cast<std::uint32_t>(sizeof fixed + e.values.size() * sizeof(double));
    std::string record(reinterpret_cast<const char*>(&size), sizeof size);
    record.append(reinterpret_cast<const char*>(&fixed), sizeof fixed);
    record.append(reinterpret_cast<const char*>(e.values.data()), e.values.size() * sizeof(double));
    // One write: a process that is killed leaves a whole record, or a part at the end.
    (void)file_->append({reinterpret_cast<const std::byte*>(record.data()), record.size()}).ok();
  }

 private:
  std::mutex mutex_;
  const std::unique_ptr<writable_file> file_;
};

}  // namespace

std::shared_ptr<ledger> live_ledger(std::function<instant()> now,
                                    std::function<void(const ledger_entry&)> to) {
  return std::make_shared<live>(std::move(now), std::move(to));
}

result<std::shared_ptr<ledger>> file_ledger(file_system& files, const std::string& path) {
  auto file = files.create(path);
  if (!file) return file.failure();
  return std::shared_ptr<ledger>(std::make_shared<in_file>(std::move(*file)));
}

result<std::vector<ledger_entry>> read_ledgers(file_system& files,
                                               const std::vector<std::string>& paths) {
  std::vector<ledger_entry> all;
  for (const auto& path : paths) {
    constexpr std::uint64_t most = std::uint64_t{4} << 30;
    const auto text = read_text(files, path, most);
    if (!text) return text.failure();
    std::size_t at = 0;
    std::uint32_t size = 0;
    while (at + sizeof size <= text->size()) {
      std::memcpy(&size, text->data() + at, sizeof size);
      at += sizeof size;
      if (size < sizeof(fixed_part) || size > text->size() - at) break;
      fixed_part fixed{};
      std::memcpy(&fixed, text->data() + at, sizeof fixed);
      ledger_entry e;
      e.what = static_cast<ledger_entry::kind>(fixed.what);
      e.at = {fixed.at};
      e.slot = fixed.slot;
      e.life = fixed.life;
      e.clock = fixed.clock;
      e.refused = fixed.refused != 0;
      e.values.resize((size - sizeof fixed) / sizeof(double));
      std::memcpy(e.values.data(), text->data() + at + sizeof fixed,
                  e.values.size() * sizeof(double));
      at += size;
      all.push_back(std::move(e));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ledger_entry& a, const ledger_entry& b) { return a.at < b.at; });
  return all;
}

}  // namespace troupe::chaos
