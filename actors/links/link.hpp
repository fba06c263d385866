#pragma once
// One connection between two nodes, without its socket: TLS, the first words of either side,
// frames, beats, and the order in which bytes leave. Bytes go in and out; whoever owns the socket
// carries them. A plain class.
//
// Invariants
// - Nothing but a Hello of at most 4 KiB is read of a peer before it is known and admitted.
// - What is urgent (beats, and messages that say so) leaves before what is not, between two chunks.
// - At most `window` bytes are given to the socket and not yet taken by it, and at most `queue`
//   bytes wait behind them; a message beyond is refused at once. An answer that does not fit goes
//   as an error.
// - A peer of which nothing is heard for `silence` is gone. A link that was late itself (paused,
//   starved) counts that against itself, not against the peer.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/links/frame.hpp"
#include "actors/links/outgoing_bytes.hpp"
#include "actors/links/tls.hpp"
#include "actors/links/token_bucket.hpp"
#include "core/time.hpp"
#include "messages/link.pb.h"

namespace troupe {

struct link_limits {
  std::uint64_t message = std::uint64_t{1} << 30;  // bytes of one message
  std::uint64_t window = std::uint64_t{4} << 20;
  std::uint64_t queue = std::uint64_t{256} << 20;
  std::uint32_t chunk = 1 << 20;
  duration handshake = std::chrono::seconds(5);
  duration beat_every = std::chrono::milliseconds(250);
  duration silence = std::chrono::seconds(5);
};

// A peer that may not talk to us, and why.
struct refusal {
  std::string text;
  bool final = true;  // it would be refused again
};

// Judges a peer's first words; `shown` is the identity of its certificate, if there is TLS.
using admission = std::function<std::optional<refusal>(
    const pb::Hello& said, const std::optional<certificate_identity>& shown)>;

struct link_settings {
  link_limits limits;
  pb::Hello self;
  bool accepts = false;                    // the other side has connected, and speaks first
  std::shared_ptr<const tls_context> tls;  // null: plain
  admission admit;
};

// A message on its way, with the parts of its payload.
struct link_message {
  std::uint16_t what = 0;
  bool answer = false;
  bool urgent = false;
  std::uint64_t number = 0;
  std::string text;
  blob first, second;

  parts_prefix prefix() const {
    return {static_cast<std::uint32_t>(text.size()), 0, {first.size(), second.size()}};
  }
};

class link {
 public:
  enum class state { connecting, open, closing, closed };

  link(link_settings settings, instant now);

  // Inputs.
  void received(span<const std::byte> bytes, instant now);
  void sent(std::uint64_t left, instant now);  // of what take_bytes() gave the socket
  void lost(const std::string& why);           // the socket is gone
  // False: it would not fit, or nobody is there.
  bool send(link_message message);
  void send_book(const pb::AddressBook& book);
  void refuse(const refusal& why);  // says it to the peer, and closes
  void on_time(instant now);

  // Outputs.
  std::vector<frame> take_messages() { return std::exchange(messages_, {}); }
  std::optional<pb::AddressBook> take_book() { return std::exchange(book_, std::nullopt); }
  // Appends what the socket is to take now, of messages no more than one chunk.
  void take_bytes(outgoing_bytes& to, token_bucket& allowance, instant now);
  bool waits_for_allowance() const { return waits_for_allowance_; }
  state present_state() const { return state_; }
  const pb::Hello& peer() const { return peer_; }        // once open
  const std::string& reason() const { return reason_; }  // why it is closing or closed
  bool refused_for_good() const { return final_; }       // the peer said so, or we said so of it
  // One of the two will have nothing to do with the other; else the connection just ended.
  bool was_judged() const { return judged_; }
  // How much is best read of the socket at once.
  std::uint64_t wants() const;
  std::uint64_t queued() const { return queued_; }
  std::uint64_t unsent() const { return unsent_; }
  instant begun() const { return begun_; }

 private:
  void take_plain(span<const std::byte> bytes);
  void take_frames();
  bool take(frame f);
  void on_hello(const frame& f);
  void fail(std::string why);
  void put(span<const std::byte> bytes, outgoing_bytes& to, const blob* owner = nullptr);
  void put_frame(frame_type type, const std::string& payload, outgoing_bytes& to);
  void put_chunk(outgoing_bytes& to);
  void put_parts(const link_message& m, std::uint64_t from, std::uint64_t to_here,
                 outgoing_bytes& to);

  const link_settings settings_;
  state state_ = state::connecting;
  std::unique_ptr<tls_channel> tls_;
  frame_reader reader_;
  pb::Hello peer_;
  std::string reason_;
  bool final_ = false, judged_ = false;

  std::vector<std::pair<frame_type, std::string>> first_;  // frames of the link's own
  std::deque<link_message> urgent_, ordinary_;
  std::uint64_t put_of_front_ = 0;  // payload bytes of ordinary_.front() that have left
  std::uint64_t queued_ = 0;        // payload bytes of all that waits
  std::uint64_t unsent_ = 0;        // given to the socket, and not taken by it
  bool waits_for_allowance_ = false;
  bool something_came_ = false;

  std::vector<frame> messages_;
  std::optional<pb::AddressBook> book_;
  instant begun_, heard_, said_, ticked_;
};

}  // namespace troupe
