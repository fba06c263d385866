#pragma once
// What a node has worked: logic reports here what it did, in units that have a price. In the local
// and deployed stages the meter is a set of counters to look at; in virtual time the carrier turns
// what was added since the last message into a delay of what the node sends next.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe {

enum class work : std::size_t {
  examples,       // examples whose loss or gradient was computed
  features,       // features of those examples
  keys_pushed,    // keys added up or applied by a server, when it does
  keys_pulled,    // keys read by a server
  keys_prepared,  // keys that a client mixed, sorted or cut
  bytes_encoded,  // bytes of keys and values put into or taken out of messages
  bytes_read,     // from files
  bytes_written,  // to files
};
constexpr std::size_t kinds_of_work = 8;
const char* to_string(work kind);

class meter {
 public:
  void add(work kind, std::uint64_t amount) {
    counts_[static_cast<std::size_t>(kind)].fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t total(work kind) const {
    return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kinds_of_work> counts_{};
};

}  // namespace troupe
