// Values as differences from those that travelled last for the same keys: the gradients and models
// of an iterative method change little from one pass to the next.
//
// Both ends remember values by their content, as they do keys (key_cache.cpp), so nothing need be
// agreed on: a push names the hash of what it differs from, and a server that does not know it asks
// for the whole; a pull says which values its sender holds, and the reply differs from those, or is
// whole.
//
// Floats are taken as whole numbers, in the floats' order, so that a difference is how many floats
// lie between. Of each number of a row apart, eight after each other are one block: the bits that
// its largest takes, and all of them in as many.

#include <cstring>
#include <unordered_map>

#include "messages/filters/bits.hpp"
#include "messages/filters/content_memory.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

constexpr std::size_t per_block = 8;

// Whole numbers in the order of the floats that have these bits; bytes of other filters as they
// are.
template <class U>
U in_order(U bits) {
  if constexpr (sizeof(U) == 1) return bits;
  constexpr U sign = U(1) << (8 * sizeof(U) - 1);
  return static_cast<U>(bits & sign ? ~bits : bits | sign);
}
template <class U>
U from_order(U number) {
  if constexpr (sizeof(U) == 1) return number;
  constexpr U sign = U(1) << (8 * sizeof(U) - 1);
  return static_cast<U>(number & sign ? number & ~sign : ~number);
}

// Small for small differences of either sign.
template <class U>
U folded(U difference) {
  constexpr U sign = U(1) << (8 * sizeof(U) - 1);
  const U twice = static_cast<U>(difference << 1);
  return static_cast<U>(difference & sign ? ~twice : twice);
}
template <class U>
U unfolded(U number) {
  const U half = static_cast<U>(number >> 1);
  return static_cast<U>(number & 1 ? ~half : half);
}

template <class U>
constexpr int width_bits = sizeof(U) == 1   ? 4
                           : sizeof(U) == 4 ? 6
                                            : 7;

template <class U>
void pack(span<const U> now, span<const U> before, std::size_t columns, byte_writer& out) {
  bit_writer bits(out);
  U block[per_block];
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t i = c; i < now.size();) {
      std::size_t count = 0;
      U all = 0;
      for (; count < per_block && i < now.size(); i += columns) {
        const U one = folded<U>(static_cast<U>(in_order<U>(now[i]) - in_order<U>(before[i])));
        block[count++] = one;
        all = static_cast<U>(all | one);
      }
      const int width = bits_of(all);
      bits.put(static_cast<std::uint64_t>(width), width_bits<U>);
      for (std::size_t k = 0; k < count; ++k) bits.put(block[k], width);
    }
  bits.finish();
}

// As many numbers as there were before. False when the bytes are something else.
template <class U>
bool unpack(span<const std::byte> bytes, span<const U> before, std::size_t columns, U* out) {
  bit_reader bits(bytes);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t i = c; i < before.size();) {
      const auto width = static_cast<int>(bits.get(width_bits<U>));
      if (width > static_cast<int>(8 * sizeof(U)) || !bits.ok()) return false;
      for (std::size_t count = 0; count < per_block && i < before.size(); ++count, i += columns)
        out[i] = from_order<U>(
            static_cast<U>(in_order<U>(before[i]) + unfolded<U>(static_cast<U>(bits.get(width)))));
    }
  return bits.finished();
}

class value_delta final : public transmission_filter {
 public:
  explicit value_delta(const filter_place& place)
      : place_(place),
        unit_(place.packed ? 1 : place.number_bytes()),
        columns_(place.packed || place.numbers > 4 ? 1 : place.numbers) {}

  // Notes: the hash of what the values differ from; empty: they are whole.
  bool encode(payload& message, std::string& notes) override {
    if (place_.memories == nullptr) return false;
    if (message.values.empty()) {  // a pull's request
      if (const auto* last = stream_of(message.keys)) message.held = last->now;
      return false;
    }
    auto base = message.held;  // of a reply
    const auto now = hash_of(message.values);
    if (!place_.pulled) {
      auto& last = stream_from(message.keys);
      // The same push again: its receiver may not have had it yet.
      if (last.now != now) last = {now, last.now};
      base = last.before;
    }
    const auto whole = message.values;
    if (const auto* before = base == 0 ? nullptr : find(base);
        before != nullptr && before->size() == whole.size() && whole.size() % unit_ == 0) {
      byte_writer packed;
      if (unit_ == 1)
        pack(whole.as<std::uint8_t>(), before->as<std::uint8_t>(), columns_, packed);
      else if (unit_ == 4)
        pack(whole.as<std::uint32_t>(), before->as<std::uint32_t>(), columns_, packed);
      else
        pack(whole.as<std::uint64_t>(), before->as<std::uint64_t>(), columns_, packed);
      if (packed.size() + sizeof base < whole.size()) {
        message.values = blob::copy_of(span<const std::byte>(packed.bytes()));
        notes.assign(reinterpret_cast<const char*>(&base), sizeof base);
      }
    }
    place_.memories->values->remember({now, 0}, whole);
    return true;
  }

  undone decode(payload& message, const std::string& notes) override {
    if (place_.memories == nullptr) return undone::damaged;
    if (!notes.empty()) {
      std::uint64_t base = 0;
      if (notes.size() != sizeof base) return undone::damaged;
      std::memcpy(&base, notes.data(), sizeof base);
      const auto* before = find(base);
      if (before == nullptr) return undone::content_unknown;
      if (before->size() % (unit_ * columns_) != 0) return undone::damaged;
      auto [bytes, out] = blob::uninitialised(before->size());
      const span<const std::byte> in{message.values.data(), message.values.size()};
      const bool fits = unit_ == 1   ? unpack(in, before->as<std::uint8_t>(), columns_,
                                              reinterpret_cast<std::uint8_t*>(out))
                        : unit_ == 4 ? unpack(in, before->as<std::uint32_t>(), columns_,
                                              reinterpret_cast<std::uint32_t*>(out))
                                     : unpack(in, before->as<std::uint64_t>(), columns_,
                                              reinterpret_cast<std::uint64_t*>(out));
      if (!fits) return undone::damaged;
      message.values = std::move(bytes);
    }
    const auto now = hash_of(message.values);
    place_.memories->values->remember({now, 0}, message.values);
    if (place_.pulled && message.asked != nullptr) stream_from(*message.asked) = {now, 0};
    return undone::done;
  }

 private:
  // What travelled last for some keys, and before that; 0: nothing.
  struct stream {
    std::uint64_t now = 0, before = 0;
  };
  static std::uint64_t hash_of(const blob& bytes) {
    return xxh3_128(bytes.data(), bytes.size(), 0).low;
  }
  const blob* find(std::uint64_t hash) { return place_.memories->values->find({hash, 0}); }
  stream* stream_of(const blob& keys) {
    const auto found = streams_.find(hash_of(keys));
    return found == streams_.end() ? nullptr : &found->second;
  }
  stream& stream_from(const blob& keys) {
    // Keys that never come again are let go of all at once.
    if (streams_.size() >= most_streams) streams_.clear();
    return streams_[hash_of(keys)];
  }
  static constexpr std::size_t most_streams = 1 << 15;

  const filter_place place_;
  const std::size_t unit_, columns_;
  std::unordered_map<std::uint64_t, stream> streams_;
};

}  // namespace

filter_entry value_delta_entry() {
  filter_entry entry;
  entry.name = "value_delta";
  entry.reads_keys = true;
  entry.make_transmission = [](const filter_numbers&, const filter_place& p) {
    return std::make_unique<value_delta>(p);
  };
  return entry;
}

}  // namespace troupe
