// A libFuzzer target for what filters decode: any bytes as notes, keys and values. The first byte
// says which filter, the second what its table is, the third and fourth where the rest is cut.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "messages/filters/content_memory.hpp"
#include "messages/filters/filter_text.hpp"
#include "messages/filters/registry.hpp"

using namespace troupe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const texts[] = {
      "key_cache", "key_delta", "value_delta",   "zstd",           "lz4", "bf16", "f16",
      "fixed8",    "fixed16",   "fixed8 bits=5", "fixed16 bits=13"};
  if (size < 4) return 0;
  const auto spec = filter_of(texts[data[0] % std::size(texts)]);
  const auto entry = filter_registry::global().find(spec->name());
  if (!entry) std::abort();
  content_memories memories(std::size_t{1} << 16, std::size_t{1} << 16);
  // Something to differ from: its hash is the same in every run.
  const std::vector<float> before(64, 1);
  const auto known = blob::copy_of(span<const float>(before));
  memories.values->remember({xxh3_128(known.data(), known.size(), 0).low, 0}, known);
  filter_place place;
  place.doubles = data[1] & 1;
  place.period = place.numbers = 1 + (data[1] >> 1) % 4;
  place.pulled = data[1] & 16;
  place.packed = data[1] & 32;
  if (data[1] & 64) place.keys = partitioning::by_range({10, 5000});
  place.memories = &memories;
  const auto filter = entry->make_transmission(*numbers_of(*spec, *entry), place);
  const auto* rest = reinterpret_cast<const char*>(data + 4);
  const std::size_t left = size - 4, in_notes = std::min<std::size_t>(data[2] % 32, left);
  const std::size_t in_keys = data[3] * (left - in_notes) / 255;
  payload message{
      blob::copy_of(span<const char>(rest + in_notes, in_keys)),
      blob::copy_of(span<const char>(rest + in_notes + in_keys, left - in_notes - in_keys))};
  if (filter->decode(message, std::string(rest, in_notes)) != undone::done) return 0;
  // Every byte that came out is read.
  std::size_t sum = 0;
  for (const auto* b : {&message.keys, &message.values})
    for (std::size_t i = 0; i < b->size(); ++i) sum += static_cast<std::size_t>(b->data()[i]);
  if (sum == ~std::size_t{0}) std::abort();
  return 0;
}
