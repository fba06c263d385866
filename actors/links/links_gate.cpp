#include "actors/links/links_gate.hpp"

#include <caf/all.hpp>

#include "actors/links/links_actor.hpp"

namespace troupe {
namespace {

std::uint64_t number_of(caf::message_id mid) {
  return mid.integer_value() & largest_number;
}

std::uint16_t answer_of(caf::message_id mid) {
  const auto request = mid.integer_value() & caf::message_id::request_id_mask;
  return static_cast<std::uint16_t>(request >> 44);
}

// What one of our actors answers; anything that is not the answer goes as an error.
link_message answer_from(const caf::message& content, caf::message_id mid,
                         const caf::actor_system* system) {
  link_message m;
  m.number = number_of(mid);
  const auto* kind = kind_by_number(answer_of(mid));
  if (kind != nullptr && encode(*kind, content, m)) return m;
  if (content.match_elements<caf::error>())
    encode_error(system != nullptr ? system->render(content.get_as<caf::error>(0)) : "error", m);
  else
    encode_error("an answer that cannot travel", m);
  return m;
}

}  // namespace

caf::message_id mid_of_request(std::uint64_t number, std::uint16_t answer) {
  return caf::make_message_id((std::uint64_t{answer} << 44) | (number & largest_number));
}

void bounce_request(const caf::strong_actor_ptr& asker, caf::message_id mid,
                    const std::string& why) {
  if (!asker || !mid.is_request()) return;
  asker->enqueue(nullptr, mid.response_id(),
                 caf::make_message(caf::make_error(caf::sec::remote_linking_failed, why)), nullptr);
}

links_gate::links_gate(caf::actor broker, links_state* state)
    : home_(std::this_thread::get_id()), state_(state), broker_(std::move(broker)) {}

void links_gate::post(parcel p) {
  if (std::this_thread::get_id() == home_) {
    if (state_ == nullptr) return bounce_request(p.asker, p.mid, "this node's links have ended");
    // What the same actor has sent before, in another thread, goes first.
    for (auto& earlier : take()) state_->go(std::move(earlier));
    return state_->go(std::move(p));
  }
  caf::actor wake;
  {
    std::lock_guard guard(mutex_);
    if (!closed_) {
      if (!std::exchange(woken_, true)) wake = broker_;
      waiting_.push_back(std::move(p));
      p.asker = nullptr;
    }
  }
  if (wake)
    caf::anon_send(wake, wake_atom::value);
  else
    bounce_request(p.asker, p.mid, "this node's links have ended");
}

std::vector<parcel> links_gate::take() {
  std::lock_guard guard(mutex_);
  woken_ = false;
  return std::exchange(waiting_, {});
}

void links_gate::close() {
  std::vector<parcel> rest;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    rest.swap(waiting_);
    broker_ = nullptr;
  }
  state_ = nullptr;
  for (const auto& p : rest) bounce_request(p.asker, p.mid, "this node's links have ended");
}

void link_carrier::carry(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto mid = what->mid;
  auto sender = what->sender;
  const auto content = what->move_content_to_message();
  parcel p;
  p.connection = connection_;
  if (mid.is_response()) {
    const auto* system = context != nullptr ? &context->system()
                         : sender           ? sender->home_system
                                            : nullptr;
    p.message = answer_from(content, mid, system);
    return gate_->post(std::move(p));
  }
  const auto* kind = kind_of_request(content);
  if (kind == nullptr || !encode(*kind, content, p.message))
    return bounce_request(sender, mid, "a message that cannot leave the process");
  if (mid.is_request()) {
    p.asker = std::move(sender);
    p.mid = mid;
    p.answer = kind->answer;
  }
  gate_->post(std::move(p));
}

}  // namespace troupe
