#pragma once
// The links of a node: one CAF broker that owns all its connections. What an actor sends to another
// node's goes through a proxy to a gate, which hands it to the broker; what comes is decoded and
// given to the node's own actor, with a proxy of the peer as its sender.
//
// Who dials whom is fixed, so that two nodes have one connection: everybody dials the scheduler,
// workers dial servers, and of two servers the one with the higher number dials. What
// is broken is dialled again, with backoff, for as long as the node lives.
//
// Sockets are read and written in one thread, CAF's multiplexer. An actor whose turns are short
// handles bulk messages in that thread too (quick_runner.hpp): from the socket to the table and
// back without a change of threads.

#include <atomic>
#include <caf/io/broker.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/links/link.hpp"
#include "actors/links/links_gate.hpp"
#include "actors/links/quick_runner.hpp"
#include "actors/supervision/directory.hpp"
#include "core/dialling.hpp"
#include "messages/roles.hpp"

namespace troupe {

// A node to dial. Its address may be learned later from the scheduler's address book: port 0.
struct dialled_peer {
  role_id role;
  std::string name;
  host_port at;
};

// What a node wants to know of its links; called in the thread of the sockets.
struct link_news {
  enum class kind { connected, lost, refused_us, refused_by_us, silent } what = kind::connected;
  pb::Hello peer;       // as far as it is known
  std::string address;  // "10.0.0.2:7000"
  std::string text;     // why
  bool final = false;   // of a refusal: it would come again
};

// Counters for others to look at.
struct links_gauge {
  std::atomic<std::uint32_t> connections{0}, admins{0};
  std::atomic<std::uint64_t> refused{0}, bytes_in{0}, bytes_out{0}, queued{0};
};

struct links_setup {
  pb::Hello self;  // its index, incarnation and address are in it
  link_limits limits;
  std::shared_ptr<const tls_context> tls;  // null: plain
  admission admit;
  std::vector<dialled_peer> dials;
  int listening = -1;           // a socket; the links close it
  std::uint64_t bandwidth = 0;  // bytes a second that leave the node; 0: no limit
  std::uint32_t connections = 4096;
  std::uint32_t strangers = 64;  // of which nothing is known yet
  duration connect_within = std::chrono::seconds(3);
  duration backoff = std::chrono::milliseconds(50);
  duration backoff_limit = std::chrono::seconds(2);
  std::shared_ptr<local_directory> directory;
  std::function<void(const link_news&)> on_news;
  std::shared_ptr<links_gauge> gauge = std::make_shared<links_gauge>();
};

using dialled_atom = caf::atom_constant<caf::atom("dialled")>;

inline role_id role_of(const pb::Hello& h) {
  return {h.role(), h.index()};
}

class links_state {
 public:
  using pointer = caf::stateful_actor<links_state, caf::io::broker>*;
  static constexpr const char* name = "links";

  links_state();
  ~links_state();
  caf::behavior start(pointer self, links_setup setup);
  // In the thread of the sockets.
  void go(parcel p);

 private:
  using connection_id = std::uint64_t;
  struct connection {
    connection_id id = 0;
    caf::io::connection_handle handle;
    std::unique_ptr<link> wire;
    caf::strong_actor_ptr proxy;         // of the peer's actor, while open
    std::optional<std::size_t> dialled;  // which of dials_
    std::string address;
    bool accepted = false, announced = false;
    std::uint64_t reads = 0;  // what the socket was told to read at most
    std::optional<instant> closing_since;
    instant heard;
  };
  struct dial {
    dialled_peer peer;
    std::optional<connection_id> connected;
    bool under_way = false;
    instant next;
    std::uint32_t failures = 0;
    std::string last_trouble;
  };
  struct asker {
    caf::strong_actor_ptr who;
    caf::message_id mid;
    connection_id connection = 0;
    std::uint16_t answer = 0;
    instant since;
  };

  void on_tick();
  void on_dialled(std::size_t which, std::int64_t socket, const std::string& trouble);
  void on_accepted(caf::io::connection_handle handle);
  void on_bytes(const caf::io::new_data_msg& m);
  void on_written(const caf::io::data_transferred_msg& m);
  void on_closed(caf::io::connection_handle handle);
  connection& add(caf::io::connection_handle handle, bool accepts, std::string address);
  std::optional<refusal> admit(const pb::Hello& said,
                               const std::optional<certificate_identity>& shown);
  void opened(connection& c);
  void look_at(connection& c);
  void deliver(connection& c, frame f);
  void deliver_answer(connection& c, const frame& f);
  void refuse_request(connection& c, std::uint64_t number, const std::string& why);
  void pump(connection& c);
  void pump_dirty();
  void write(connection& c);
  void write_what_is_ready();
  std::size_t send_at_once(int socket);
  void hand_to_scribe(caf::io::connection_handle handle, std::size_t from);
  void hang_up(connection& c);
  void forget(connection_id id);
  void dial_what_is_due();
  void learn(const pb::AddressBook& book);
  void send_books();
  void drop_old_askers();
  void bounce(const caf::strong_actor_ptr& who, caf::message_id mid, const std::string& why);
  void tell(link_news news);
  std::string name_of(const connection& c) const;
  instant now() const;

  pointer self_ = nullptr;
  links_setup setup_;
  std::shared_ptr<links_gate> gate_;
  std::unique_ptr<dialler> dialler_;
  std::unique_ptr<quick_runner> here_;
  token_bucket allowance_;
  std::map<connection_id, connection> connections_;
  std::map<caf::io::connection_handle, connection_id> by_handle_;
  std::map<role_id, connection_id> by_role_;
  std::map<role_id, std::uint64_t> lives_;  // the highest incarnation that was admitted
  std::map<role_id, pb::Address> listens_;  // the scheduler's: who listens where
  bool listens_changed_ = false;
  std::vector<dial> dials_;
  std::unordered_map<std::uint64_t, asker> askers_;
  std::set<connection_id> dirty_;  // have something to send
  outgoing_bytes out_;             // of the one that is being served
  connection_id next_connection_ = 1;
  std::uint64_t next_number_ = 1;
  std::string refused_last_;
  instant refused_at_, askers_seen_;
  bool ends_ = false;
};

caf::behavior links(links_state::pointer self, links_setup setup);

}  // namespace troupe
