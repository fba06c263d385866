#pragma once
// Frames: what goes over a connection, once it is a stream of plain bytes. A header of 32 bytes and
// a payload; docs/formats.md has the layout. A message that is larger than a chunk goes in several
// frames, between which others may come; the reader puts it together in one buffer, so that blobs
// can be views of it.
//
// The reader takes bytes from anybody: what it allocates is bounded before it is allocated, and it
// never reads past what it was given.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/blob.hpp"
#include "core/result.hpp"
#include "core/span.hpp"

namespace troupe {

enum class frame_type : std::uint8_t {
  hello = 1,    // pb::Hello: the first of either side
  refusal = 2,  // pb::Refusal: the last
  beat = 3,     // no payload: the sender lives
  book = 4,     // pb::AddressBook
  message = 5,  // a message, or its beginning
  more = 6,     // the next piece of the message that has begun
};

// As it stands on the wire; numbers are little-endian.
struct frame_header {
  static constexpr std::uint16_t the_magic = 0x5254;  // "TR"
  static constexpr std::uint8_t the_version = 1;
  static constexpr std::uint16_t answer = 1;  // a flag: the message answers one of the receiver's

  std::uint16_t magic = the_magic;
  std::uint8_t version = the_version;
  std::uint8_t type = 0;
  std::uint16_t what = 0;  // of a message: its kind (actors/links/message_kinds.hpp)
  std::uint16_t flags = 0;
  std::uint32_t size = 0;  // payload bytes of this frame
  std::uint32_t reserved = 0;
  std::uint64_t number = 0;  // of a request, or of the request that is answered; 0: neither
  std::uint64_t total = 0;   // payload bytes of the whole message
};
static_assert(sizeof(frame_header) == 32);

struct frame {
  frame_header header;
  blob payload;  // of a message: all of it
};

// The parts of a message's payload: a protobuf text and up to two blobs, each beginning at a
// multiple of 8.
struct message_parts {
  std::string_view text;
  blob first, second;
};

struct parts_prefix {
  std::uint32_t text = 0;
  std::uint32_t reserved = 0;
  std::uint64_t blobs[2] = {0, 0};
};
static_assert(sizeof(parts_prefix) == 24);

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}
inline std::size_t payload_size(const parts_prefix& p) {
  return sizeof p + padded(p.text) + padded(p.blobs[0]) + p.blobs[1];
}

// The parts of a payload, which they are views of. An error if they do not fill it exactly.
result<message_parts> parts_of(const blob& payload);

class frame_reader {
 public:
  // Payloads of at most so many bytes; of a peer that has not said who it is, `most` is small.
  explicit frame_reader(std::uint64_t most) : most_(most) {}
  void allow(std::uint64_t most) { most_ = most; }

  // Where the next bytes belong. Never empty.
  span<std::byte> space();
  // So many of them have been put there. A frame, if it was the last of one; an error ends the
  // connection.
  result<std::optional<frame>> filled(std::size_t bytes);

  std::uint64_t most() const { return most_; }
  // Payload bytes that are still to come of what has begun.
  std::uint64_t expected() const { return in_payload_ ? header_.size - at_ : 0; }

 private:
  struct buffer {
    blob bytes;
    std::byte* writable = nullptr;
    std::uint64_t filled = 0;
  };
  error no_frame_of_ours() const;
  result<std::optional<frame>> begin_payload();
  std::optional<frame> complete();

  std::uint64_t most_;
  frame_header header_;
  bool in_payload_ = false;
  bool to_large_ = false;             // where the payload goes
  std::size_t at_ = 0;                // within the header, or this frame's payload
  buffer small_;                      // of a frame that is complete in itself
  std::optional<frame_header> open_;  // a message of which more is to come
  buffer large_;
};

}  // namespace troupe
