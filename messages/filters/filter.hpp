#pragma once
// Filters make fewer bytes of what travels between workers and servers. A filter may have two
// sides:
//
//   value_filter         lossy: runs once for each push, before it is cut into messages (or once
//                        for each reply to a pull). What it leaves is what is numbered, applied,
//                        copied and counted; nobody sees what it hid.
//   transmission_filter  lossless: encodes one message for one peer, and decodes it there. It may
//                        keep state at both ends, and must get by if the other end has lost its
//                        own.
//
// A filter that sends fewer bits to a number has both: the one rounds to what the fewer bits can
// say, the other says it. Filters are found by name (registry.hpp); docs/filters.md has what each
// does.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/blob.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct content_memories;

// What a filter knows of its place: a table in one direction.
struct filter_place {
  partitioning keys = partitioning::by_hash();
  bool doubles = false;       // f64, else f32
  std::uint32_t numbers = 1;  // of a row
  // Of every `period` numbers of a row the first `plain` may be rounded either way; the others are
  // lengths or bounds, not negative, which may be rounded up but never down.
  std::uint32_t period = 1, plain = 1;
  bool pulled = false;  // values are those of replies to pulls
  bool packed = false;  // a filter before this one has made other bytes of the numbers
  // What the peer, or this node, has seen; outlives filters.
  content_memories* memories = nullptr;

  std::size_t number_bytes() const { return doubles ? sizeof(double) : sizeof(float); }
  std::size_t row_bytes() const { return numbers * number_bytes(); }
  bool bound(std::size_t number) const { return number % period >= plain; }
};

// Rows by position: ascending u64, and `numbers` f32 or f64 to each.
struct payload {
  blob keys, values;
  // Of a pull: the hash of values that its sender holds for these keys (value_delta.cpp), 0: none.
  std::uint64_t held = 0;
  const blob* asked = nullptr;  // of a reply, where it is decoded: the request's keys
};

// Random numbers of a filter follow from the job's seed and what the message is about alone.
struct filter_moment {
  std::uint64_t seed = 0;
  std::uint32_t slot = 0;
  std::uint64_t clock = 0;
  std::uint32_t index = 0;  // of the push within its clock
  bool final = false;       // the slot pushes no more after this clock
};

class value_filter {
 public:
  virtual ~value_filter() = default;
  // May change values, and take rows out. Values are finite, and stay so.
  virtual void apply(payload& rows, const filter_moment& when) = 0;
};

enum class undone { done, content_unknown, damaged };

class transmission_filter {
 public:
  virtual ~transmission_filter() = default;
  // False: it does not pay, and keys and values have not been changed. `notes` is for decode().
  virtual bool encode(payload& message, std::string& notes) = 0;
  // Nothing that comes is trusted: no size is believed before it is bounded.
  virtual undone decode(payload& message, const std::string& notes) = 0;
};

}  // namespace troupe
