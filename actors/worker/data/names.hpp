#pragma once
// Names become keys by hashing: the key of a name in a namespace is
//
//   XXH64(name, seed = XXH64(namespace, seed))
//
// or its low `bits` bits. A number's key is that of the empty name in its column's namespace.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct name_hashing {
  std::uint64_t seed = 0;
  std::uint32_t bits = 0;  // 1 to 63; 0: all 64
  key_id cut(std::uint64_t hash) const {
    return bits == 0 ? hash : hash & ((std::uint64_t{1} << bits) - 1);
  }
};

// The names that were hashed, for people who read the model later: one line "key TAB name" to a
// key, the first name that had it. Holds at most `most` of them, and half a GiB of text, and
// forgets later ones.
class name_list {
 public:
  explicit name_list(std::uint64_t most) : most_(most) {}
  // The name is `space`, or "space=name".
  void add(key_id key, std::string_view space, std::string_view name);
  std::uint64_t size() const { return size_; }
  const std::string& lines() const { return lines_; }

 private:
  void grow();
  std::uint64_t most_, size_ = 0;
  std::vector<std::uint64_t> seen_;  // mix(key) + 1, open addressing; 0: vacant
  std::string lines_;
};

class namespace_of_names {
 public:
  namespace_of_names(std::string name, const name_hashing& hashing, name_list* names)
      : name_(std::move(name)),
        hashing_(hashing),
        seed_(xxh64(name_, hashing.seed)),
        names_(names) {}

  key_id key_of(std::string_view name) const {
    const auto key = hashing_.cut(xxh64(name, seed_));
    if (names_ != nullptr) names_->add(key, name_, name);
    return key;
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  name_hashing hashing_;
  std::uint64_t seed_;
  name_list* names_;
};

}  // namespace troupe
