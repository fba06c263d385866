// Keys in as few bits as they need, in blocks of 128: each block is the bits of a number, the least
// number (8 bytes), and what the numbers are beyond it. The numbers are
//
//   of a range-partitioned table   the distances of ascending keys
//   of a hash-partitioned one      the keys themselves, which are small where features are counted;
//                                  or the distances of positions, where keys are hashes
//
// whichever takes fewer bytes.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/bytes.hpp"
#include "messages/filters/bits.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

constexpr std::size_t per_block = 128;
enum class form : char { keys = 'k', distances_of_keys = 'd', distances_of_positions = 'p' };

void pack(const std::vector<std::uint64_t>& numbers, byte_writer& out) {
  for (std::size_t from = 0; from < numbers.size(); from += per_block) {
    const auto count = std::min(per_block, numbers.size() - from);
    const auto [least, most] =
        std::minmax_element(numbers.begin() + static_cast<std::ptrdiff_t>(from),
                            numbers.begin() + static_cast<std::ptrdiff_t>(from + count));
    const int bits = bits_of(*most - *least);
    out.put(static_cast<std::uint8_t>(bits));
    out.put(*least);
    bit_writer bits_out(out);
    for (std::size_t i = from; i < from + count; ++i) bits_out.put(numbers[i] - *least, bits);
    bits_out.finish();
  }
}

// False when the bytes are no such blocks.
bool unpack(span<const std::byte> bytes, std::size_t count, std::vector<std::uint64_t>& numbers) {
  std::size_t at = 0;
  for (std::size_t from = 0; from < count; from += per_block) {
    const auto here = std::min(per_block, count - from);
    if (bytes.size() - at < 9) return false;
    const int bits = static_cast<int>(bytes[at]);
    std::uint64_t least;
    std::memcpy(&least, bytes.data() + at + 1, sizeof least);
    at += 9;
    const auto size = (here * static_cast<std::size_t>(bits) + 7) / 8;
    if (bits > 64 || bytes.size() - at < size) return false;
    bit_reader packed(bytes.subspan(at, size));
    for (std::size_t i = 0; i < here; ++i) numbers.push_back(least + packed.get(bits));
    at += size;
  }
  return at == bytes.size();
}

class key_delta final : public transmission_filter {
 public:
  explicit key_delta(const filter_place& place) : place_(place) {}

  bool encode(payload& message, std::string& notes) override {
    const auto positions = message.keys.as<position>();
    if (positions.size() < 2) return false;
    std::vector<std::uint64_t> numbers(positions.size());
    byte_writer packed, other;
    form how = form::keys;
    if (place_.keys.hashes()) {
      std::transform(positions.begin(), positions.end(), numbers.begin(),
                     [&](position p) { return place_.keys.key_at(p); });
      pack(numbers, packed);
      distances(positions, numbers);
      pack(numbers, other);
      if (other.size() < packed.size()) {
        how = form::distances_of_positions;
        std::swap(packed, other);
      }
    } else {
      how = form::distances_of_keys;
      std::uint64_t before = 0;
      for (std::size_t i = 0; i < positions.size(); ++i) {
        const auto key = place_.keys.key_at(positions[i]);
        numbers[i] = key - before;
        before = key;
      }
      pack(numbers, packed);
    }
    if (packed.size() + 8 >= message.keys.size()) return false;
    byte_writer note;
    note.put(static_cast<char>(how));
    note.put(static_cast<std::uint32_t>(positions.size()));
    notes.assign(reinterpret_cast<const char*>(note.bytes().data()), note.size());
    message.keys = blob::copy_of(span<const std::byte>(packed.bytes()));
    return true;
  }

  undone decode(payload& message, const std::string& notes) override {
    byte_reader note({reinterpret_cast<const std::byte*>(notes.data()), notes.size()});
    const auto how = static_cast<form>(note.get<char>());
    const auto count = note.get<std::uint32_t>();
    // A block of 128 has 9 bytes at least.
    if (!note.finished() || count / per_block > message.keys.size() / 9 ||
        count > blob::max_size / sizeof(position))
      return undone::damaged;
    std::vector<std::uint64_t> numbers;
    numbers.reserve(count);
    if (!unpack({message.keys.data(), message.keys.size()}, count, numbers)) return undone::damaged;
    if (how != form::keys)
      for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] += numbers[i - 1];
    if (how == form::keys || how == form::distances_of_keys) {
      for (auto& number : numbers) {
        if (!place_.keys.contains(number)) return undone::damaged;
        number = place_.keys.position_of(number);
      }
    } else if (how != form::distances_of_positions) {
      return undone::damaged;
    }
    message.keys = blob::copy_of(span<const std::uint64_t>(numbers));
    return undone::done;
  }

 private:
  static void distances(span<const position> positions, std::vector<std::uint64_t>& numbers) {
    position before = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      numbers[i] = positions[i] - before;
      before = positions[i];
    }
  }

  const filter_place place_;
};

}  // namespace

filter_entry key_delta_entry() {
  filter_entry entry;
  entry.name = "key_delta";
  entry.hides_keys = true;
  entry.make_transmission = [](const filter_numbers&, const filter_place& p) {
    return std::make_unique<key_delta>(p);
  };
  return entry;
}

}  // namespace troupe
