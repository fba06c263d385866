#include "actors/links/frame.hpp"

#include <cstring>
#include <string_view>

#include "core/text.hpp"

namespace troupe {
namespace {

error broken(std::string text) {
  return {errc::bad_request, std::move(text)};
}

}  // namespace

result<message_parts> parts_of(const blob& payload) {
  parts_prefix prefix;
  if (payload.size() < sizeof prefix) return broken("a message is shorter than its prefix");
  std::memcpy(&prefix, payload.data(), sizeof prefix);
  for (const auto size : prefix.blobs)
    if (size > payload.size()) return broken("a part is longer than its message");
  if (prefix.text > payload.size() || payload_size(prefix) != payload.size())
    return broken("the parts of a message do not fill it");
  message_parts parts;
  auto at = sizeof prefix;
  parts.text = {reinterpret_cast<const char*>(payload.data()) + at, prefix.text};
  at += padded(prefix.text);
  parts.first = payload.part(at, prefix.blobs[0]);
  at += padded(prefix.blobs[0]);
  parts.second = payload.part(at, prefix.blobs[1]);
  return parts;
}

span<std::byte> frame_reader::space() {
  if (!in_payload_) return {reinterpret_cast<std::byte*>(&header_) + at_, sizeof header_ - at_};
  const auto& into = to_large_ ? large_ : small_;
  return {into.writable + into.filled, header_.size - at_};
}

result<std::optional<frame>> frame_reader::filled(std::size_t bytes) {
  at_ += bytes;
  if (!in_payload_) {
    // At its first bytes already: a stranger may send no more, and wait.
    if (at_ >= 2 && header_.magic != frame_header::the_magic) return no_frame_of_ours();
    if (at_ < sizeof header_) return std::optional<frame>{};
    return begin_payload();
  }
  (to_large_ ? large_ : small_).filled += bytes;
  if (at_ < header_.size) return std::optional<frame>{};
  return complete();
}

error frame_reader::no_frame_of_ours() const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header_);
  if (bytes[0] == 0x16 && bytes[1] == 0x03) return broken("it speaks TLS, and this node plain TCP");
  if (bytes[0] == 0x15 && bytes[1] == 0x03)
    return broken("it refused this node's plain TCP: it speaks TLS");
  return broken("what it sends are no frames of Troupe");
}

result<std::optional<frame>> frame_reader::begin_payload() {
  const auto& h = header_;
  if (h.version != frame_header::the_version)
    return broken(format("it sends frames of version %u, this node of version %u", h.version,
                         frame_header::the_version));
  const auto type = static_cast<frame_type>(h.type);
  if (type < frame_type::hello || type > frame_type::more)
    return broken(format("a frame of the unknown type %u", h.type));
  if (type != frame_type::message && type != frame_type::more && h.total != 0)
    return broken("a frame that is no message says how large its message is");
  to_large_ = type == frame_type::more || (type == frame_type::message && h.size < h.total);
  const std::uint64_t whole = type == frame_type::message ? h.total : h.size;
  if (whole > most_)
    return broken(format("a message of %llu bytes, where %llu are allowed",
                         static_cast<unsigned long long>(whole),
                         static_cast<unsigned long long>(most_)));
  if (type == frame_type::more) {
    if (!open_ || h.number != open_->number || h.size == 0 || h.size > open_->total - large_.filled)
      return broken("a piece that belongs to no message");
  } else if (to_large_) {
    if (open_) return broken("two messages in pieces at once");
    if (h.size == 0) return broken("a message that begins with nothing");
    open_ = h;
    auto [bytes, writable] = blob::uninitialised(h.total);
    large_ = {std::move(bytes), writable, 0};
  } else {
    if (type == frame_type::message && h.size > h.total)
      return broken("a message that is larger than itself");
    auto [bytes, writable] = blob::uninitialised(h.size);
    small_ = {std::move(bytes), writable, 0};
  }
  in_payload_ = true;
  at_ = 0;
  if (h.size == 0) return complete();
  return std::optional<frame>{};
}

std::optional<frame> frame_reader::complete() {
  const auto h = header_;
  in_payload_ = false;
  at_ = 0;
  if (!to_large_) return frame{h, std::exchange(small_, {}).bytes};
  if (large_.filled < open_->total) return std::nullopt;
  frame whole{*std::exchange(open_, std::nullopt), std::exchange(large_, {}).bytes};
  return whole;
}

}  // namespace troupe
