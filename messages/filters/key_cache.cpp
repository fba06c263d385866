// Key caching (Li et al., OSDI 2014, section 3.4): keys that have been sent are not sent again, but
// a hash of them is.
//
// Both ends of a message see the keys, and remember them by content: so nothing need be agreed on,
// nothing goes wrong when one end has lost its memory (the answer is CONTENT_UNKNOWN, and the keys
// are sent), and what one slot has sent is known when another sends it. A server hashes what it is
// to remember itself; a peer cannot make it take one set of keys for another.

#include <cstring>

#include "messages/filters/content_memory.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

class key_cache final : public transmission_filter {
 public:
  key_cache(const filter_numbers& numbers, const filter_place& place)
      : memory_(place.memories == nullptr ? nullptr : &place.memories->keys),
        least_bytes_(static_cast<std::size_t>(numbers.at("least_keys")) * 8) {}

  // Empty notes: here are keys to remember.
  bool encode(payload& message, std::string& notes) override {
    if (message.keys.size() < least_bytes_ || memory_ == nullptr) return false;
    const auto signature = signature_of(message.keys);
    if (memory_->find(signature) == nullptr) {
      memory_->remember(signature, {});
      return true;
    }
    notes.assign(reinterpret_cast<const char*>(&signature), sizeof signature);
    message.keys = {};
    return true;
  }

  undone decode(payload& message, const std::string& notes) override {
    if (memory_ == nullptr) return undone::damaged;
    if (notes.empty()) {
      memory_->remember(signature_of(message.keys), message.keys);
      return undone::done;
    }
    hash128 signature;
    if (notes.size() != sizeof signature || !message.keys.empty()) return undone::damaged;
    std::memcpy(&signature, notes.data(), sizeof signature);
    const auto* known = memory_->find(signature);
    if (known == nullptr) return undone::content_unknown;
    message.keys = *known;
    return undone::done;
  }

 private:
  static hash128 signature_of(const blob& keys) { return xxh3_128(keys.data(), keys.size(), 0); }

  content_memory* const memory_;
  const std::size_t least_bytes_;
};

}  // namespace

filter_entry key_cache_entry() {
  filter_entry entry;
  entry.name = "key_cache";
  entry.hides_keys = true;
  entry.parameters = {{"least_keys", 8, 3, 1e9}};
  entry.make_transmission = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<key_cache>(n, p);
  };
  return entry;
}

}  // namespace troupe
