#include "actors/links/links_actor.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/supervision/environment.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr duration every_tick = std::chrono::milliseconds(50);
constexpr duration last_words = std::chrono::seconds(1);  // for a refusal to leave

}  // namespace

links_state::links_state() = default;

links_state::~links_state() {
  if (gate_) gate_->close();
}

caf::behavior links(links_state::pointer self, links_setup setup) {
  return self->state.start(self, std::move(setup));
}

instant links_state::now() const {
  return now_of(self_);
}

caf::behavior links_state::start(pointer self, links_setup setup) {
  self_ = self;
  setup_ = std::move(setup);
  gate_ = std::make_shared<links_gate>(caf::actor_cast<caf::actor>(self), this);
  dialler_ = socket_dialler();
  here_ = std::make_unique<quick_runner>(&self->system(), [self] { return now_of(self); });
  if (setup_.bandwidth > 0) allowance_ = token_bucket(setup_.bandwidth, now());
  for (const auto& peer : setup_.dials) dials_.push_back({peer, {}, false, now(), 0, {}});
  if (setup_.listening >= 0) self->add_doorman(setup_.listening);
  self->set_exit_handler([this](const caf::exit_msg& why) {
    ends_ = true;
    gate_->close();
    while (!connections_.empty()) {
      auto& c = connections_.begin()->second;
      c.wire->lost("this node ends");
      hang_up(c);
    }
    dialler_.reset();
    self_->quit(why.reason);
  });
  self->send(self, tick_atom::value);
  return {
      [this](tick_atom) { on_tick(); },
      [this](wake_atom) {
        for (auto& p : gate_->take()) go(std::move(p));
        pump_dirty();
      },
      [this](dialled_atom, std::uint64_t which, std::int64_t socket, const std::string& trouble) {
        on_dialled(which, socket, trouble);
      },
      [this](const caf::io::new_connection_msg& m) { on_accepted(m.handle); },
      [this](const caf::io::new_data_msg& m) { on_bytes(m); },
      [this](const caf::io::data_transferred_msg& m) { on_written(m); },
      [this](const caf::io::connection_closed_msg& m) { on_closed(m.handle); },
      [](const caf::io::acceptor_closed_msg&) {},
  };
}

// ---- time

void links_state::on_tick() {
  // Without a sender: the last one, which nobody takes, must not keep its sender alive.
  caf::delayed_anon_send(caf::actor_cast<caf::actor>(self_), every_tick, tick_atom::value);
  for (auto& p : gate_->take()) go(std::move(p));
  std::vector<connection_id> over;
  std::uint64_t queued = 0;
  for (auto& [id, c] : connections_) {
    c.wire->on_time(now());
    queued += c.wire->queued();
    dirty_.insert(id);
    if (c.closing_since && now() - *c.closing_since > last_words) over.push_back(id);
  }
  setup_.gauge->queued = queued;
  setup_.gauge->connections = static_cast<std::uint32_t>(connections_.size());
  for (const auto id : over) hang_up(connections_.at(id));
  drop_old_askers();
  send_books();
  dial_what_is_due();
  pump_dirty();
}

// ---- what comes

void links_state::on_bytes(const caf::io::new_data_msg& m) {
  const auto found = by_handle_.find(m.handle);
  if (found == by_handle_.end()) return;
  auto& c = connections_.at(found->second);
  c.heard = now();
  setup_.gauge->bytes_in += m.buf.size();
  c.wire->received({reinterpret_cast<const std::byte*>(m.buf.data()), m.buf.size()}, now());
  look_at(c);
  pump_dirty();
}

// What has become of a connection. Its actor may run meanwhile, and other connections be used; it
// stays itself, since only hang_up() ends one, and that not from here down.
void links_state::look_at(connection& c) {
  const auto id = c.id;
  dirty_.insert(id);
  if (!c.announced && c.wire->present_state() == link::state::open) opened(c);
  for (auto& f : c.wire->take_messages()) {
    deliver(c, std::move(f));
    write_what_is_ready();
  }
  if (auto book = c.wire->take_book()) learn(*book);
  const auto wants = c.wire->wants();
  if (wants != c.reads) {
    c.reads = wants;
    self_->configure_read(c.handle, caf::io::receive_policy::at_most(wants));
  }
}

void links_state::deliver(connection& c, frame f) {
  if (c.wire->present_state() != link::state::open) return;
  if ((f.header.flags & frame_header::answer) != 0) return deliver_answer(c, f);
  const auto violate = [&](const std::string& why) { c.wire->refuse({why, true}); };
  const auto* kind = kind_by_number(f.header.what);
  const auto parts = parts_of(f.payload);
  if (kind == nullptr || !parts) return violate("a message of an unknown kind");
  auto content = decode(*kind, *parts);
  if (!content) return violate(content.failure().text);
  const auto& peer = c.wire->peer();
  if (const auto why = objection_to(*kind, *content, role_of(peer), setup_.self.role()))
    return violate(*why);
  if (f.header.number > largest_number) return violate("a request of an impossible number");
  const auto target = setup_.directory->find(role_of(setup_.self));
  if (!target) return refuse_request(c, f.header.number, "its actor has not started");
  const auto mid =
      f.header.number == 0 ? caf::make_message_id() : mid_of_request(f.header.number, kind->answer);
  auto element = caf::make_mailbox_element(c.proxy, mid, {}, *std::move(content));
  if (kind->bulk)
    here_->deliver(target, std::move(element));
  else
    target->get()->enqueue(std::move(element), nullptr);
}

void links_state::deliver_answer(connection& c, const frame& f) {
  const auto found = askers_.find(f.header.number);
  if (found == askers_.end()) return;  // it was asked before the link broke, or waited too long
  if (found->second.connection != c.id)
    return c.wire->refuse({"an answer to what was asked of another", true});
  const auto node = askers_.extract(found);
  const auto& asked = node.mapped();
  const auto parts = parts_of(f.payload);
  const auto* kind = kind_by_number(f.header.what);
  if (!parts || (f.header.what != error_answer && f.header.what != asked.answer)) {
    bounce(asked.who, asked.mid, "an answer of another kind");
    return c.wire->refuse({"an answer of another kind than was asked for", true});
  }
  auto content = f.header.what == error_answer ? result<caf::message>(decode_error(*parts))
                                               : decode(*kind, *parts);
  if (!content) {
    bounce(asked.who, asked.mid, content.failure().text);
    return c.wire->refuse({content.failure().text, true});
  }
  auto element =
      caf::make_mailbox_element(c.proxy, asked.mid.response_id(), {}, *std::move(content));
  if (kind != nullptr && kind->bulk)
    here_->deliver(asked.who, std::move(element));
  else
    asked.who->get()->enqueue(std::move(element), nullptr);
}

void links_state::refuse_request(connection& c, std::uint64_t number, const std::string& why) {
  if (number == 0) return;
  link_message m;
  m.number = number;
  encode_error(why, m);
  (void)c.wire->send(std::move(m));
}

// A peer's actor that dies does not answer what it held. Whoever asked has given up long ago; only
// what walks whole tables may take as long as this.
void links_state::drop_old_askers() {
  constexpr duration every = std::chrono::seconds(30), most = std::chrono::minutes(65);
  if (now() - askers_seen_ < every) return;
  askers_seen_ = now();
  std::vector<asker> old;
  for (auto i = askers_.begin(); i != askers_.end();) {
    const bool gone = i->second.who->get()->getf(caf::abstract_actor::is_terminated_flag);
    if (gone || now() - i->second.since > most) {
      old.push_back(std::move(i->second));
      i = askers_.erase(i);
    } else {
      ++i;
    }
  }
  for (const auto& a : old) bounce(a.who, a.mid, "no answer came");
}

void links_state::bounce(const caf::strong_actor_ptr& who, caf::message_id mid,
                         const std::string& why) {
  bounce_request(who, mid, why);
}

// ---- what goes

void links_state::go(parcel p) {
  const auto found = connections_.find(p.connection);
  if (found == connections_.end() || found->second.wire->present_state() != link::state::open)
    return bounce(p.asker, p.mid, "the link is broken");
  auto& c = found->second;
  if (p.asker) p.message.number = next_number_++;
  const auto number = p.message.number;
  const bool is_answer = p.message.answer;
  if (!c.wire->send(std::move(p.message))) {
    if (is_answer) refuse_request(c, number, "the answer does not fit into what waits to be sent");
    return bounce(p.asker, p.mid,
                  "too much waits to be sent to " + name_of(c) + " at " + c.address);
  }
  if (p.asker) askers_.emplace(number, asker{std::move(p.asker), p.mid, c.id, p.answer, now()});
  dirty_.insert(c.id);
}

void links_state::pump_dirty() {
  while (!dirty_.empty()) {
    const auto id = *dirty_.begin();
    dirty_.erase(dirty_.begin());
    const auto found = connections_.find(id);
    if (found != connections_.end()) pump(found->second);
  }
}

// Of those that are open: none ends here.
void links_state::write_what_is_ready() {
  for (auto i = dirty_.begin(); i != dirty_.end();) {
    auto& c = connections_.at(*i);
    const bool open = c.wire->present_state() == link::state::open;
    if (open) write(c);
    i = open ? dirty_.erase(i) : std::next(i);
  }
}

void links_state::write(connection& c) {
  for (;;) {
    out_.clear();
    c.wire->take_bytes(out_, allowance_, now());
    if (out_.size() == 0) break;
    setup_.gauge->bytes_out += out_.size();
    const auto idle = c.wire->unsent() == out_.size();
    const auto taken = idle ? send_at_once(static_cast<int>(c.handle.id())) : 0;
    if (taken < out_.size()) {
      hand_to_scribe(c.handle, taken);
      if (idle) c.wire->sent(out_.size() - taken, now());
    } else {
      c.wire->sent(0, now());
    }
  }
}

void links_state::pump(connection& c) {
  if (c.wire->present_state() == link::state::closed) return hang_up(c);
  write(c);
  if (c.wire->present_state() == link::state::closing && !c.closing_since) {
    c.closing_since = now();
    if (c.wire->unsent() == 0) hang_up(c);
  }
}

void links_state::on_written(const caf::io::data_transferred_msg& m) {
  const auto found = by_handle_.find(m.handle);
  if (found == by_handle_.end()) return;
  auto& c = connections_.at(found->second);
  c.wire->sent(m.remaining, now());
  if (c.closing_since && m.remaining == 0) return hang_up(c);
  pump(c);
}

// What the socket takes without waiting, before the loop comes round to it again: an answer is then
// on its way while the next request is read.
std::size_t links_state::send_at_once(int socket) {
  constexpr std::size_t most = 64;
  iovec pieces[most];
  std::size_t count = 0;
  out_.each([&](span<const std::byte> p) {
    if (count < most) pieces[count++] = {const_cast<std::byte*>(p.data()), p.size()};
  });
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  const auto sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;  // errors are met when it is read
}

// The rest goes when the socket is ready.
void links_state::hand_to_scribe(caf::io::connection_handle handle, std::size_t from) {
  auto& buffer = self_->wr_buf(handle);
  std::size_t at = 0;
  out_.each([&](span<const std::byte> p) {
    const auto skipped = from > at ? std::min(from - at, p.size()) : 0;
    const auto* data = reinterpret_cast<const char*>(p.data());
    buffer.insert(buffer.end(), data + skipped, data + p.size());
    at += p.size();
  });
  self_->flush(handle);
}

}  // namespace troupe
