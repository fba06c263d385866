#pragma once
// What is remembered of keys that travelled, by their 128-bit hash: at a server the keys
// themselves, as many bytes as it is allowed; at a worker, for each server, which hashes that one
// should know. The least recently used go first.

#include <cstddef>
#include <list>
#include <unordered_map>

#include "core/blob.hpp"
#include "core/hash.hpp"

namespace troupe {

class key_memory {
 public:
  // `most_bytes` of keys; each costs some bytes more.
  explicit key_memory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Keys of that hash, or null. `weight` of remembering: the keys, or nothing but that they exist.
  const blob* find(const hash128& signature) {
    const auto found = by_hash_.find(signature);
    if (found == by_hash_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return &found->second->second;
  }
  void remember(const hash128& signature, blob keys) {
    if (find(signature) != nullptr) return;
    bytes_ += cost(keys);
    by_use_.emplace_front(signature, std::move(keys));
    by_hash_[signature] = by_use_.begin();
    while (bytes_ > most_bytes_ && by_use_.size() > 1) forget(by_use_.back().first);
  }
  void forget(const hash128& signature) {
    const auto found = by_hash_.find(signature);
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
  static std::size_t cost(const blob& keys) { return keys.size() + overhead; }

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<std::pair<hash128, blob>> by_use_;  // the latest first
  std::unordered_map<hash128, std::list<std::pair<hash128, blob>>::iterator, low_bits> by_hash_;
};

}  // namespace troupe
