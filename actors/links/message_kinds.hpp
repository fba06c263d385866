#pragma once
// The messages that links carry, each under a number: who may send it to whom, and how it is
// written. Nothing else is read off a connection: there are no type names on the wire, and no type
// is made because a peer asks for it.

#include <caf/message.hpp>
#include <cstdint>
#include <optional>

#include "actors/links/frame.hpp"
#include "actors/links/link.hpp"
#include "core/result.hpp"
#include "messages/roles.hpp"

namespace troupe {

// The answer that is an error: CAF's, as text.
constexpr std::uint16_t error_answer = 0;

struct message_kind {
  std::uint16_t what = 0;
  const char* name = "";
  bool urgent = false;       // passes what is not
  std::uint16_t answer = 0;  // the kind of its answer; 0: it has none, or is one itself
  bool is_answer = false;
  bool bulk = false;  // may be handled in the thread that reads the connection
};

// What a message from an actor is; null: nothing that may leave the process.
const message_kind* kind_of_request(const caf::message& content);
const message_kind* kind_by_number(std::uint16_t what);

// False: it holds something else.
bool encode(const message_kind& kind, const caf::message& content, link_message& out);
// An error: the parts are not those of the kind.
result<caf::message> decode(const message_kind& kind, const message_parts& parts);

// Why this peer may not send this request or word to a node of the role `to`; nothing: it may. A
// node speaks for itself alone.
std::optional<std::string> objection_to(const message_kind& kind, const caf::message& content,
                                        role_id from, pb::Role to);

// An error as it travels, and back.
void encode_error(const std::string& text, link_message& out);
caf::message decode_error(const message_parts& parts);

}  // namespace troupe
