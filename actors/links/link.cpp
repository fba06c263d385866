#include "actors/links/link.hpp"

#include <algorithm>
#include <cstring>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t largest_hello = 4 << 10;
constexpr std::uint64_t largest_book = 16 << 20;

span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

template <class T>
span<const std::byte> bytes_of_object(const T& object) {
  return {reinterpret_cast<const std::byte*>(&object), sizeof object};
}

}  // namespace

link::link(link_settings settings, instant now)
    : settings_(std::move(settings)),
      reader_(largest_hello),
      begun_(now),
      heard_(now),
      said_(now),
      ticked_(now) {
  if (settings_.tls) tls_ = std::make_unique<tls_channel>(settings_.tls, settings_.accepts);
  if (!settings_.accepts)
    first_.emplace_back(frame_type::hello, settings_.self.SerializeAsString());
}

// ---- what comes

void link::received(span<const std::byte> bytes, instant now) {
  if (state_ == state::closing || state_ == state::closed) return;
  heard_ = now;
  const bool first = !std::exchange(something_came_, true);
  if (tls_ && settings_.accepts && first && bytes.size() >= 2 &&
      std::memcmp(bytes.data(), &frame_header::the_magic, 2) == 0) {
    tls_.reset();  // so that it can be told
    return refuse({"this cluster speaks TLS, and it plain TCP", true});
  }
  if (!tls_) return take_plain(bytes);
  tls_->received(bytes);
  take_frames();
  if (tls_->failure().empty()) return;
  if (state_ == state::connecting) judged_ = final_ = tls_->judged();
  fail(tls_->failure());
}

void link::take_plain(span<const std::byte> bytes) {
  while (!bytes.empty() && state_ != state::closing) {
    const auto space = reader_.space();
    const auto size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    bytes = bytes.subspan(size, bytes.size() - size);
    auto complete = reader_.filled(size);
    // It is told in plain, which a TLS client understands as well.
    if (!complete && state_ == state::connecting) return refuse({complete.failure().text, true});
    if (!complete) return fail(complete.failure().text);
    if (*complete && !take(*std::move(*complete))) return;
  }
}

void link::take_frames() {
  while (state_ != state::closing) {
    const auto size = tls_->read(reader_.space());
    if (size == 0) return;
    auto complete = reader_.filled(size);
    if (!complete) return fail(complete.failure().text);
    if (*complete && !take(*std::move(*complete))) return;
  }
}

// False: nothing further is read.
bool link::take(frame f) {
  const auto type = static_cast<frame_type>(f.header.type);
  if (type == frame_type::refusal) {
    pb::Refusal said;
    (void)said.ParseFromArray(f.payload.data(), static_cast<int>(f.payload.size()));
    final_ = said.final();
    judged_ = true;
    reason_ = "it refuses this node: " + said.text().substr(0, 500);
    state_ = state::closing;
    return false;
  }
  if (state_ == state::connecting) {
    if (type == frame_type::hello)
      on_hello(f);
    else
      fail("it did not say who it is");
    return state_ == state::open;
  }
  switch (type) {
    case frame_type::beat:
      return true;
    case frame_type::book: {
      pb::AddressBook book;
      if (peer_.role() != pb::SCHEDULER || f.payload.size() > largest_book ||
          !book.ParseFromArray(f.payload.data(), static_cast<int>(f.payload.size()))) {
        fail("an address book that is not its to send");
        return false;
      }
      book_ = std::move(book);
      return true;
    }
    case frame_type::message:
      messages_.push_back(std::move(f));
      return true;
    default:
      fail(format("a frame of type %u that does not belong here", f.header.type));
      return false;
  }
}

void link::on_hello(const frame& f) {
  pb::Hello said;
  if (!said.ParseFromArray(f.payload.data(), static_cast<int>(f.payload.size())))
    return fail("its first words cannot be read");
  const auto shown = tls_ ? tls_->peer() : std::nullopt;
  if (const auto why = settings_.admit(said, shown)) return refuse(*why);
  peer_ = std::move(said);
  if (settings_.accepts) first_.emplace_back(frame_type::hello, settings_.self.SerializeAsString());
  reader_.allow(settings_.limits.message);
  state_ = state::open;
}

void link::lost(const std::string& why) {
  if (reason_.empty()) {
    reason_ = why;
    if (state_ == state::connecting && !settings_.accepts) reason_ += " before it said who it is";
  }
  state_ = state::closed;
}

void link::fail(std::string why) {
  reason_ = std::move(why);
  state_ = state::closing;
}

void link::refuse(const refusal& why) {
  pb::Refusal said;
  said.set_text(why.text);
  said.set_final(why.final);
  first_.emplace_back(frame_type::refusal, said.SerializeAsString());
  reason_ = why.text;
  final_ = why.final;
  judged_ = true;
  state_ = state::closing;
}

void link::on_time(instant now) {
  // What this node missed by its own lateness is not held against the peer.
  const auto late = now - ticked_ - settings_.limits.beat_every;
  if (late > duration::zero()) heard_ = std::min(now, heard_ + late);
  ticked_ = now;
  if (state_ == state::connecting && now - begun_ > settings_.limits.handshake)
    return fail(tls_ && !tls_->established() ? "it did not finish the TLS handshake in time"
                                             : "it did not say in time who it is");
  if (state_ != state::open) return;
  if (now - heard_ > settings_.limits.silence)
    return fail(format("nothing was heard of it for %.1f s", seconds_of(now - heard_)));
  if (now - said_ >= settings_.limits.beat_every) first_.emplace_back(frame_type::beat, "");
}

// ---- what goes

bool link::send(link_message message) {
  if (state_ != state::open) return false;
  const auto size = payload_size(message.prefix());
  if (size > settings_.limits.message) return false;
  // What tells a peer that an answer did not fit must fit itself.
  constexpr std::uint64_t for_errors = 64 << 10;
  const bool is_error = message.answer && message.what == 0;
  const auto most = settings_.limits.queue + (is_error ? for_errors : 0);
  if (queued_ > 0 && queued_ + size > most) return false;
  queued_ += size;
  (message.urgent ? urgent_ : ordinary_).push_back(std::move(message));
  return true;
}

void link::send_book(const pb::AddressBook& book) {
  if (state_ == state::open) first_.emplace_back(frame_type::book, book.SerializeAsString());
}

void link::sent(std::uint64_t left, instant) {
  unsent_ = left;
}

void link::put(span<const std::byte> bytes, outgoing_bytes& to, const blob* owner) {
  if (tls_) return tls_->write(bytes);
  if (owner != nullptr)
    to.add(*owner, bytes);
  else
    to.add(bytes);
}

void link::put_frame(frame_type type, const std::string& payload, outgoing_bytes& to) {
  frame_header h;
  h.type = static_cast<std::uint8_t>(type);
  h.size = static_cast<std::uint32_t>(payload.size());
  put(bytes_of_object(h), to);
  put(bytes_of(payload), to);
}

// Bytes from..to_here of a message's payload.
void link::put_parts(const link_message& m, std::uint64_t from, std::uint64_t to_here,
                     outgoing_bytes& to) {
  const auto prefix = m.prefix();
  static constexpr std::byte zeros[8] = {};
  std::uint64_t at = 0;
  const auto piece = [&](span<const std::byte> bytes, const blob* owner = nullptr) {
    const auto begin = std::max(from, at), end = std::min(to_here, at + bytes.size());
    if (begin < end) put(bytes.subspan(begin - at, end - begin), to, owner);
    at += bytes.size();
  };
  const auto pad = [&] { piece(span<const std::byte>(zeros, padded(at) - at)); };
  piece(bytes_of_object(prefix));
  piece(bytes_of(m.text));
  pad();
  piece({m.first.data(), m.first.size()}, &m.first);
  pad();
  piece({m.second.data(), m.second.size()}, &m.second);
}

// The front's next chunk; what is small enough goes whole.
void link::put_chunk(outgoing_bytes& to) {
  auto& lane = urgent_.empty() ? ordinary_ : urgent_;
  const bool whole = &lane == &urgent_;
  const auto& m = lane.front();
  const auto total = payload_size(m.prefix());
  const auto from = whole ? 0 : put_of_front_;
  const auto end = whole ? total : std::min<std::uint64_t>(total, from + settings_.limits.chunk);
  frame_header h;
  h.type = static_cast<std::uint8_t>(from == 0 ? frame_type::message : frame_type::more);
  h.what = m.what;
  h.flags = m.answer ? frame_header::answer : 0;
  h.size = static_cast<std::uint32_t>(end - from);
  h.number = m.number;
  h.total = total;
  put(bytes_of_object(h), to);
  put_parts(m, from, end, to);
  queued_ -= end - from;
  if (end < total) {
    put_of_front_ = end;
    return;
  }
  if (!whole) put_of_front_ = 0;
  lane.pop_front();
}

void link::take_bytes(outgoing_bytes& to, token_bucket& allowance, instant now) {
  const auto before = to.size();
  std::uint64_t of_messages = 0;
  waits_for_allowance_ = false;
  const auto written = [&] { return to.size() - before; };
  if (!tls_ || (tls_->established() && tls_->failure().empty())) {
    for (const auto& [type, payload] : std::exchange(first_, {})) put_frame(type, payload, to);
    if (tls_) tls_->take_bytes(to);
    while (state_ == state::open && unsent_ + written() < settings_.limits.window &&
           of_messages < settings_.limits.chunk && !(urgent_.empty() && ordinary_.empty())) {
      if (urgent_.empty() && !allowance.may_take(now)) {
        waits_for_allowance_ = true;
        break;
      }
      const auto chunk_begins = written();
      put_chunk(to);
      if (tls_) tls_->take_bytes(to);
      of_messages += written() - chunk_begins;
      allowance.take(written() - chunk_begins);
    }
  }
  if (tls_) tls_->take_bytes(to);
  if (written() == 0) return;
  unsent_ += written();
  said_ = now;
}

std::uint64_t link::wants() const {
  constexpr std::uint64_t little = 16 << 10, much = 256 << 10;
  return std::clamp(reader_.expected(), little, much);
}

}  // namespace troupe
