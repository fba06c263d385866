#pragma once
// Where messages for other nodes wait for the thread of the sockets. Any actor's thread may post;
// one that is the sockets' own goes straight through.

#include <caf/actor.hpp>
#include <caf/message_id.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "actors/links/link.hpp"
#include "actors/links/message_kinds.hpp"
#include "actors/links/proxy_actor.hpp"

namespace troupe {

class links_state;

// A message for a connection, and who waits for its answer.
struct parcel {
  std::uint64_t connection = 0;
  link_message message;
  caf::strong_actor_ptr asker;  // null: nobody
  caf::message_id mid;
  std::uint16_t answer = 0;  // the kind that is waited for
};

class links_gate {
 public:
  links_gate(caf::actor broker, links_state* state);

  void post(parcel p);
  // In the thread of the sockets: what was posted meanwhile.
  std::vector<parcel> take();
  // The links are gone: what is posted is answered with an error.
  void close();

 private:
  const std::thread::id home_;
  std::mutex mutex_;
  links_state* state_;
  caf::actor broker_;
  std::vector<parcel> waiting_;
  bool woken_ = false;
  bool closed_ = false;
};

// The way to the actor at the other end of a connection.
class link_carrier final : public carrier {
 public:
  link_carrier(std::shared_ptr<links_gate> gate, std::uint64_t connection)
      : gate_(std::move(gate)), connection_(connection) {}
  void carry(caf::mailbox_element_ptr what, caf::execution_unit* context) override;

 private:
  const std::shared_ptr<links_gate> gate_;
  const std::uint64_t connection_;
};

// A request of a peer is known to our actor by its number on the wire and the kind of its answer.
caf::message_id mid_of_request(std::uint64_t number, std::uint16_t answer);
constexpr std::uint64_t largest_number = (std::uint64_t{1} << 44) - 1;

// Answers a request with an error of this node's own (remote_linking_failed; what the peer answers
// with is a runtime_error).
void bounce_request(const caf::strong_actor_ptr& asker, caf::message_id mid,
                    const std::string& why);

}  // namespace troupe
