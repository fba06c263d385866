// A libFuzzer target for what a stranger and an admitted peer may send over a connection: the frame
// reader, the parts of messages, and a link in plain. The first byte says how the rest is cut.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "actors/links/link.hpp"

namespace {

using namespace troupe;

void read_frames(span<const std::byte> all, std::size_t step) {
  frame_reader reader(std::uint64_t{1} << 16);
  while (!all.empty()) {
    const auto space = reader.space();
    if (space.empty()) std::abort();
    const auto size = std::min({space.size(), all.size(), step});
    std::memcpy(space.data(), all.data(), size);
    all = all.subspan(size, all.size() - size);
    const auto complete = reader.filled(size);
    if (!complete) return;
    if (!*complete) continue;
    if ((*complete)->payload.size() > (std::uint64_t{1} << 16)) std::abort();
    if (const auto parts = parts_of((*complete)->payload); parts) {
      // Every byte of the parts is read, so that one beyond the payload is found.
      std::size_t sum = parts->text.size();
      for (const char c : parts->text) sum += static_cast<unsigned char>(c);
      for (const auto* b : {&parts->first, &parts->second})
        for (std::size_t i = 0; i < b->size(); ++i) sum += static_cast<std::size_t>(b->data()[i]);
      if (sum == ~std::size_t{0}) std::abort();
    }
  }
}

void speak_to_link(span<const std::byte> all, std::size_t step) {
  link_settings settings;
  settings.accepts = true;
  settings.limits.message = 1 << 16;
  settings.admit = [](const pb::Hello& said, const std::optional<certificate_identity>&) {
    return said.name().size() % 2 == 0 ? std::optional<refusal>()
                                       : std::optional<refusal>({"no", true});
  };
  link wire(settings, instant{0});
  token_bucket no_limit;
  outgoing_bytes out;
  for (std::int64_t now = 1; !all.empty(); ++now) {
    const auto size = std::min(all.size(), step);
    wire.received(all.subspan(0, size), instant{now});
    all = all.subspan(size, all.size() - size);
    wire.on_time(instant{now});
    wire.take_bytes(out, no_limit, instant{now});
    wire.sent(0, instant{now});
    out.clear();
    for (const auto& f : wire.take_messages())
      if (f.payload.size() > (1 << 16)) std::abort();
    (void)wire.take_book();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const span<const std::byte> rest(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  const std::size_t step = 1 + data[0];
  read_frames(rest, step);
  speak_to_link(rest, step);
  return 0;
}
