// Connections come and go here: dialling, admitting, the address book, hanging up.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/links/links_actor.hpp"
#include "actors/supervision/environment.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

bool on_this_machine(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address.rfind("[::1]", 0) == 0 ||
         address.rfind("localhost:", 0) == 0;
}

bool is_node(pb::Role role) {
  return role == pb::SCHEDULER || role == pb::SERVER || role == pb::WORKER;
}

}  // namespace

// ---- connecting

void links_state::dial_what_is_due() {
  for (std::size_t i = 0; i < dials_.size(); ++i) {
    auto& d = dials_[i];
    if (d.connected || d.under_way || d.peer.at.port == 0 || now() < d.next) continue;
    d.under_way = true;
    auto me = caf::actor_cast<caf::actor>(self_);
    dialler_->dial(d.peer.at, setup_.connect_within, [me, i](result<int> outcome) {
      caf::anon_send(me, dialled_atom::value, static_cast<std::uint64_t>(i),
                     static_cast<std::int64_t>(outcome ? *outcome : -1),
                     outcome ? std::string() : outcome.failure().text);
    });
  }
}

void links_state::on_dialled(std::size_t which, std::int64_t socket, const std::string& trouble) {
  auto& d = dials_[which];
  d.under_way = false;
  if (socket >= 0 && ends_) {
    ::close(static_cast<int>(socket));
    return;
  }
  if (socket < 0) {
    ++d.failures;
    const auto wait = setup_.backoff * (std::int64_t{1} << std::min(d.failures, 10u));
    d.next = now() + std::min(wait, setup_.backoff_limit);
    if (trouble != d.last_trouble)
      log("links", log_level::info,
          d.peer.name + " at " + to_string(d.peer.at) + ": " + trouble + "; trying on");
    d.last_trouble = trouble;
    return;
  }
  auto& c = add(self_->add_scribe(static_cast<int>(socket)), false, to_string(d.peer.at));
  c.dialled = which;
  d.connected = c.id;
  pump(c);
}

void links_state::on_accepted(caf::io::connection_handle handle) {
  const auto address = to_string(host_port{self_->remote_addr(handle), self_->remote_port(handle)});
  if (connections_.size() >= setup_.connections) {
    tell({link_news::kind::refused_by_us, {}, address, "there are too many connections", false});
    ::shutdown(static_cast<int>(handle.id()), SHUT_RDWR);
    self_->close(handle);
    return;
  }
  // Of strangers the oldest goes: one that is honest says at once who it is.
  std::uint32_t strangers = 0;
  connection* oldest = nullptr;
  for (auto& [id, c] : connections_)
    if (c.wire->present_state() == link::state::connecting && c.accepted) {
      ++strangers;
      if (oldest == nullptr) oldest = &c;  // by number, so by age
    }
  if (strangers >= setup_.strangers) {
    oldest->wire->lost("others wait to say who they are");
    hang_up(*oldest);
  }
  add(handle, true, address);
}

links_state::connection& links_state::add(caf::io::connection_handle handle, bool accepts,
                                          std::string address) {
  const auto id = next_connection_++;
  auto& c = connections_[id];
  c.id = id;
  c.handle = handle;
  c.accepted = accepts;
  c.address = std::move(address);
  link_settings settings;
  settings.limits = setup_.limits;
  settings.self = setup_.self;
  settings.accepts = accepts;
  settings.tls = setup_.tls;
  settings.admit = [this, id](const pb::Hello& said,
                              const std::optional<certificate_identity>& shown) {
    const auto& d = connections_.at(id).dialled;
    if (d && !(role_of(said) == dials_[*d].peer.role))
      return std::optional<refusal>(
          {"it is " + said.name() + ", and was taken for " + dials_[*d].peer.name, false});
    return admit(said, shown);
  };
  c.wire = std::make_unique<link>(std::move(settings), now());
  by_handle_[handle] = id;
  self_->ack_writes(handle, true);
  c.reads = c.wire->wants();
  self_->configure_read(handle, caf::io::receive_policy::at_most(c.reads));
  return c;
}

std::optional<refusal> links_state::admit(const pb::Hello& said,
                                          const std::optional<certificate_identity>& shown) {
  if (auto why = setup_.admit(said, shown)) return why;
  if (!is_node(said.role())) return std::nullopt;
  const auto role = role_of(said);
  if (role == role_of(setup_.self))
    return refusal{"a node of the name " + said.name() + " is here"};
  const auto life = lives_.find(role);
  if (life != lives_.end() && said.incarnation() < life->second)
    return refusal{format("%s has been replaced by a newer life (incarnation %llu, not %llu)",
                          said.name().c_str(), static_cast<unsigned long long>(life->second),
                          static_cast<unsigned long long>(said.incarnation()))};
  const auto present = by_role_.find(role);
  if (present == by_role_.end()) return std::nullopt;
  const auto& other = connections_.at(present->second);
  const bool lives = now() - other.heard < 4 * setup_.limits.beat_every;
  if (other.wire->peer().incarnation() < said.incarnation() && lives)
    return refusal{said.name() + " is connected already, from " + other.address, false};
  return std::nullopt;
}

void links_state::opened(connection& c) {
  c.announced = true;
  const auto& peer = c.wire->peer();
  const auto role = role_of(peer);
  caf::actor_config config;
  c.proxy = caf::make_actor<proxy_actor, caf::strong_actor_ptr>(
      self_->system().next_actor_id(), self_->system().node(), &self_->system(), config,
      std::make_shared<link_carrier>(gate_, c.id));
  if (c.dialled) {
    dials_[*c.dialled].failures = 0;
    dials_[*c.dialled].last_trouble.clear();
  }
  if (is_node(peer.role())) {
    if (const auto before = by_role_.find(role); before != by_role_.end()) {
      auto& old = connections_.at(before->second);
      old.wire->lost("it has connected anew");
      hang_up(old);
    }
    lives_[role] = peer.incarnation();
    by_role_[role] = c.id;
    setup_.directory->publish(role, c.proxy, on_this_machine(c.address));
    if (peer.port() > 0) {
      pb::Address a;
      a.set_name(peer.name());
      a.set_role(peer.role());
      a.set_index(peer.index());
      a.set_host(peer.host());
      a.set_port(peer.port());
      listens_[role] = a;
    }
  }
  if (peer.role() == pb::ADMIN) ++setup_.gauge->admins;
  listens_changed_ = true;  // it has to hear who listens where
  tell({link_news::kind::connected, peer, c.address, {}, false});
}

// ---- the address book

void links_state::send_books() {
  if (setup_.self.role() != pb::SCHEDULER || !std::exchange(listens_changed_, false)) return;
  pb::AddressBook book;
  for (const auto& [role, address] : listens_) *book.add_addresses() = address;
  for (auto& [id, c] : connections_)
    if (c.wire->present_state() == link::state::open) {
      c.wire->send_book(book);
      dirty_.insert(id);
    }
}

void links_state::learn(const pb::AddressBook& book) {
  const auto me = role_of(setup_.self);
  for (const auto& a : book.addresses()) {
    const role_id role{a.role(), a.index()};
    if (a.role() != pb::SERVER || a.port() == 0 || a.port() > 65535 || role == me) continue;
    if (me.role == pb::SCHEDULER || me.role == pb::ADMIN) continue;
    if (me.role == pb::SERVER && role.index > me.index) continue;
    const host_port at{a.host(), static_cast<std::uint16_t>(a.port())};
    const auto known = std::find_if(dials_.begin(), dials_.end(),
                                    [&](const dial& d) { return d.peer.role == role; });
    if (known == dials_.end()) {
      dials_.push_back({{role, a.name(), at}, {}, false, now(), 0, {}});
    } else if (known->peer.at.host != at.host || known->peer.at.port != at.port) {
      known->peer.at = at;
      known->next = now();
    }
  }
}

// ---- ending

void links_state::on_closed(caf::io::connection_handle handle) {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) return;
  auto& c = connections_.at(found->second);
  c.wire->lost("the connection was closed by the other side");
  hang_up(c);
}

// The only end of a connection. What waits for answers of it gets an error.
void links_state::hang_up(connection& c) {
  const auto id = c.id;
  by_handle_.erase(c.handle);
  // Both ways and at once, so that a peer that says nothing more holds no descriptor of ours.
  ::shutdown(static_cast<int>(c.handle.id()), SHUT_RDWR);
  self_->close(c.handle);
  forget(id);
}

void links_state::forget(connection_id id) {
  auto node = connections_.extract(id);
  auto& c = node.mapped();
  dirty_.erase(id);
  const auto& reason = c.wire->reason();
  const auto& peer = c.wire->peer();
  if (c.proxy) {
    const auto role = role_of(peer);
    if (const auto mine = by_role_.find(role); mine != by_role_.end() && mine->second == id) {
      by_role_.erase(mine);
      listens_.erase(role);
      setup_.directory->publish(role, nullptr);
    }
    static_cast<proxy_actor*>(caf::actor_cast<caf::abstract_actor*>(c.proxy))
        ->kill_proxy(nullptr, caf::exit_reason::remote_link_unreachable);
    if (peer.role() == pb::ADMIN) --setup_.gauge->admins;
  }
  std::vector<asker> waiting;
  for (auto i = askers_.begin(); i != askers_.end();)
    if (i->second.connection == id) {
      waiting.push_back(std::move(i->second));
      i = askers_.erase(i);
    } else {
      ++i;
    }
  for (const auto& a : waiting) bounce(a.who, a.mid, "the link is broken: " + reason);
  if (c.dialled) {
    auto& d = dials_[*c.dialled];
    d.connected.reset();
    ++d.failures;
    const auto wait = setup_.backoff * (std::int64_t{1} << std::min(d.failures, 10u));
    d.next = now() + (c.wire->refused_for_good() ? setup_.backoff_limit
                                                 : std::min(wait, setup_.backoff_limit));
  }
  if (ends_) return;
  if (c.announced)
    tell({link_news::kind::lost, peer, c.address, reason, false});
  else if (c.accepted)
    tell({link_news::kind::refused_by_us, peer, c.address, reason, c.wire->refused_for_good()});
  else
    tell({c.wire->was_judged() ? link_news::kind::refused_us : link_news::kind::silent, peer,
          c.address, dials_[*c.dialled].peer.name + " at " + c.address + ": " + reason,
          c.wire->refused_for_good()});
}

// Whoever is turned away again and again for the same reason is not logged each time.
void links_state::tell(link_news news) {
  using kind = link_news::kind;
  const auto who =
      news.peer.name().empty() ? news.address : news.peer.name() + " (" + news.address + ")";
  if (news.what == kind::connected) log("links", log_level::info, who + " is connected");
  if (news.what == kind::lost)
    log("links", log_level::warning, who + ": the link is broken: " + news.text);
  if (news.what == kind::refused_by_us) ++setup_.gauge->refused;
  if (news.what != kind::connected && news.what != kind::lost) {
    if (news.text != refused_last_ || now() - refused_at_ > std::chrono::seconds(5)) {
      refused_last_ = news.text;
      refused_at_ = now();
      log("links", log_level::warning,
          news.what != kind::refused_by_us ? news.text : "refused " + who + ": " + news.text);
    }
  }
  if (setup_.on_news) setup_.on_news(news);
}

std::string links_state::name_of(const connection& c) const {
  return c.wire->peer().name();
}

}  // namespace troupe
