#pragma once
// One direction between two nodes, and the pipes a message squeezes through on its way: what leaves
// when, and what arrives when. Plain arithmetic on times; the network actor-side is in
// sim/engine/network.hpp.
//
// A pipe passes one byte after the other, first come first served, so a big message delays the
// small one behind it. A message runs through several pipes at once (cut-through): it is as fast as
// the slowest, and begins at each when it has begun at the one before and that one is free.
//
// An ordered link is as TCP is: what is lost is sent again after a wait that doubles (RFC 6298,
// section 5.5), and nothing arrives before what was sent earlier. An unordered one loses, doubles
// and reorders.

#include <cstdint>
#include <optional>

#include "core/random.hpp"
#include "core/time.hpp"

namespace troupe::sim {

struct link_settings {
  duration latency{};      // from the last byte's departure to its arrival
  duration jitter{};       // up to so much more, evenly drawn
  double bandwidth = 0;    // bytes a second; 0: no limit
  double loss = 0;         // of a transmission, below 1
  double duplication = 0;  // of a message on an unordered link
  bool ordered = true;
  duration retransmit_after{std::chrono::milliseconds(200)};
};

class pipe {
 public:
  struct passage {
    instant begun;  // when the first byte went in
    instant ended;  // when the last came out
  };
  // A message that is there at `ready`. `rate` in bytes a second; 0 passes everything at once.
  passage pass(instant ready, std::uint64_t bytes, double rate);
  // The same at the receiver's end: a message whose bytes come in between these times. Who would be
  // through first goes first. Returns when the last byte is through.
  instant pass_until(instant first_byte, instant last_byte, std::uint64_t bytes, double rate);

 private:
  instant free_{INT64_MIN};
};

class link {
 public:
  struct arrivals {
    bool lost = false;
    instant first_byte, last_byte;
    std::optional<instant> again;       // a duplicate's last byte
    std::uint32_t retransmissions = 0;  // of an ordered link
  };
  // A message whose bytes come out of the sender's own pipes between `before.begun` and
  // `before.ended`.
  arrivals send(pipe::passage before, std::uint64_t bytes, const link_settings& settings,
                random_source& random);

 private:
  pipe wire_;
  instant last_{INT64_MIN};  // the latest arrival so far
};

}  // namespace troupe::sim
