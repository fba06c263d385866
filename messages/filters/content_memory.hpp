#pragma once
// What is remembered of keys or values that travelled, by their hash: as many bytes as is allowed,
// or only the hashes, where that a peer knows them is all that matters. The least recently used go
// first.

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/blob.hpp"
#include "core/hash.hpp"

namespace troupe {

class content_memory {
 public:
  explicit content_memory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // What has that hash, or null.
  const blob* find(const hash128& hash) {
    const auto found = by_hash_.find(hash);
    if (found == by_hash_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return &found->second->second;
  }
  // Keeps a copy: a blob may be a small part of a large message.
  void remember(const hash128& hash, const blob& content) {
    if (find(hash) != nullptr) return;
    by_use_.emplace_front(hash, blob::copy_of(content.as<std::byte>()));
    bytes_ += cost(by_use_.front().second);
    by_hash_[hash] = by_use_.begin();
    while (bytes_ > most_bytes_ && by_use_.size() > 1) forget(hash128(by_use_.back().first));
  }
  void forget(const hash128& hash) {
    const auto found = by_hash_.find(hash);
    if (found == by_hash_.end()) return;
    bytes_ -= cost(found->second->second);
    by_use_.erase(found->second);
    by_hash_.erase(found);
  }
  std::size_t size() const { return by_use_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct low_bits {
    std::size_t operator()(const hash128& h) const { return h.low; }
  };
  static constexpr std::size_t overhead = 96;
  static std::size_t cost(const blob& content) { return content.size() + overhead; }

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<std::pair<hash128, blob>> by_use_;  // the latest first
  std::unordered_map<hash128, std::list<std::pair<hash128, blob>>::iterator, low_bits> by_hash_;
};

// One end's: of the keys that a peer, or this node, knows, and of values, which may serve for many
// peers.
struct content_memories {
  content_memories(std::size_t keys_bytes, std::shared_ptr<content_memory> of_values)
      : keys(keys_bytes), values(std::move(of_values)) {}
  content_memories(std::size_t keys_bytes, std::size_t values_bytes)
      : content_memories(keys_bytes, std::make_shared<content_memory>(values_bytes)) {}

  content_memory keys;
  const std::shared_ptr<content_memory> values;
};

}  // namespace troupe
