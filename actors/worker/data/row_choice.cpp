#include "actors/worker/data/row_choice.hpp"

#include "core/hash.hpp"

namespace troupe {
namespace {

// As a number in [0, 1), of the hash's upper 53 bits.
double fraction_of(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// So that the two lots of a row have nothing to do with each other.
constexpr std::uint64_t of_validation = 0x76616C6964617465, of_sampling = 0x6E65676174697665;

}  // namespace

bool row_choice::on_this_side(std::string_view line, const example& row) const {
  if (which == part::all) return true;
  const auto hash = row.group ? xxh64(bytes_of(*row.group), seed ^ of_validation)
                              : xxh64(line, seed ^ of_validation);
  const bool held_out = fraction_of(hash) < validation_fraction;
  return held_out == (which == part::validation);
}

bool row_choice::drawn(std::uint64_t number, const example& row) const {
  if (negative_keep >= 1 || row.label == positive_label) return true;
  return fraction_of(xxh64(bytes_of(number), seed ^ of_sampling)) < negative_keep;
}

void encode(const row_choice& choice, byte_writer& out) {
  out.put(static_cast<std::uint8_t>(choice.which));
  out.put(choice.validation_fraction);
  out.put(choice.seed);
  out.put(choice.negative_keep);
  out.put(choice.positive_label);
}

}  // namespace troupe
