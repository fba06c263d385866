#pragma once
// Requests of one kind to the holders of all shards, each of which must be answered: what has been,
// what is to be asked again, and whether an answer belongs to this round or to an earlier one.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace troupe {

class shard_round {
 public:
  using key = std::pair<std::uint32_t, std::uint32_t>;  // a shard, and a table or a server

  // What was asked before is forgotten: answers to it are told by their number.
  void begin(const std::vector<key>& keys, instant now) {
    ++number_;
    open_.clear();
    for (const auto& k : keys) open_[k] = now;
    moved_ = now;
  }
  void give_up() {
    ++number_;
    open_.clear();
  }
  bool complete() const { return open_.empty(); }
  std::uint64_t number() const { return number_; }
  // Since when nothing was answered.
  instant moved() const { return moved_; }

  // What is to be asked now.
  std::vector<key> take_due(instant now) {
    std::vector<key> due;
    for (auto& [k, when] : open_)
      if (when && *when <= now) {
        due.push_back(k);
        when.reset();
      }
    return due;
  }
  // True if that was waited for.
  bool answered(std::uint64_t number, key k, instant now) {
    if (number != number_ || open_.erase(k) == 0) return false;
    moved_ = now;
    return true;
  }
  bool failed(std::uint64_t number, key k, instant now) {
    const auto found = open_.find(k);
    if (number != number_ || found == open_.end()) return false;
    found->second = now + std::chrono::milliseconds(100);
    return true;
  }

 private:
  std::uint64_t number_ = 0;
  std::map<key, std::optional<instant>> open_;  // when to ask; none: asked
  instant moved_;
};

}  // namespace troupe
