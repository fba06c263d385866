#pragma once
// The carrier of virtual time: what an actor sends to another node goes through a proxy into its
// node's outbox, leaves when the node's turn is over, crosses the pipes and the link between, and
// arrives at the other node's inbox. Replies go back through a proxy of the sender; that an actor
// has ended travels as a message.
//
// Between two nodes with an ordered link there is a connection, as of TCP. A cut that is shorter
// than the detection time only delays; a longer one, or a crash, breaks the connection: what is on
// the way is lost, whoever waits for an answer is told that none will come, and the proxies of
// either side die. After that, and while the cut lasts, the
// other node is not found; then there is a new connection.

#include <caf/actor_control_block.hpp>
#include <caf/error.hpp>
#include <caf/mailbox_element.hpp>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/links/proxy_actor.hpp"
#include "core/random.hpp"
#include "messages/roles.hpp"
#include "sim/engine/message_facts.hpp"
#include "sim/engine/virtual_system.hpp"
#include "sim/network/topology.hpp"
#include "sim/record/recorder.hpp"

namespace troupe::sim {

// All that is known of one direction between two nodes.
struct lane {
  node_number from = 0, to = 0;
  link_settings settings;
  link wire;
  traffic moved;
  std::uint32_t cuts = 0;        // that hold now
  std::uint64_t cut_number = 0;  // of the latest
  std::uint32_t connection = 0;  // how often it has broken
  bool broken = false;           // and not yet healed
  bool into_the_void = false;    // the other end has forgotten the connection
  std::uint64_t next_number = 0;
  std::vector<std::unique_ptr<struct parcel>> stalled;  // by a cut, until it is healed or breaks
  std::vector<std::uint64_t> proxies;                   // keys of the proxies that lead along it
  // Requests sent along it and not answered yet, by who asked and what the answer will be called.
  std::map<std::pair<caf::actor_id, std::uint64_t>, caf::strong_actor_ptr> asked;
};

// A proxy looked up before. It is good while none has been killed since, which counts tell.
struct found_proxy {
  caf::actor_id of = 0;
  std::uint64_t kills = 0;
  caf::strong_actor_ptr proxy;
};

struct route;

// A message between its departure and its arrival.
struct parcel {
  lane* along = nullptr;
  route* way = nullptr;      // null: `target` has ended
  std::uint64_t number = 0;  // of the lane's
  std::uint32_t connection = 0;
  std::uint32_t life = 0;  // of the receiver, when its proxy was made
  message_kind kind = 0;
  std::uint64_t bytes = 0;
  instant first_byte;    // when it comes in at the receiver
  bool through = false;  // the receiver's pipe: it is there when it arrives
  caf::strong_actor_ptr target;
  caf::mailbox_element_ptr what;
  caf::error reason;  // why it has ended
};
using parcel_ptr = std::unique_ptr<parcel>;

class network {
 public:
  // Where the engine comes in. `now` is its time.
  struct hooks {
    std::function<instant()> now;
    std::function<void(instant, parcel_ptr)> arrives_at;  // call on_arrival() then
    std::function<void(parcel_ptr)> deliver;  // to the inbox of its node: what on_delivery() takes
    std::function<void(instant, std::function<void()>)> call_at;
    std::function<void(node_number, std::function<void()>)> in_turn_of;  // as a turn of the node
  };
  // What becomes of a message beside what its way does to it.
  struct fate {
    bool lost = false;
    duration later{};  // others may overtake it
  };
  using meddling = std::function<fate(node_number from, node_number to, message_kind)>;

  network(virtual_system& system, const cast_of_nodes& cast, topology map, recorder& log,
          std::uint64_t seed, bool serialise, hooks h);
  ~network();

  // Actors and where they live. Null withdraws a role.
  void place(node_number n, const caf::strong_actor_ptr& actor);
  void publish(node_number n, caf::strong_actor_ptr actor);
  node_number home_of(const caf::strong_actor_ptr& actor) const {  // nowhere of observers
    return home_of(actor->id());
  }
  node_number home_of(caf::actor_id actor) const;
  // The actor of a role as those on `from` see it; itself for observers.
  caf::strong_actor_ptr find(node_number from, role_id id);

  // What the node sent in its turn leaves; returns how many messages that is.
  std::size_t waiting_in_outbox(node_number n) const { return outboxes_[n].size(); }
  void leave(node_number n);
  void on_arrival(parcel_ptr p);
  void on_delivery(parcel& p);  // in the receiver's turn
  // Fetches what on_arrival(), or on_delivery(), will look at: first the parcel itself, and when
  // it is the next one, what that points to.
  static void prefetch(const parcel& p, bool next, bool delivery);

  // Faults.
  void cut(node_number from, node_number to);  // one way
  void heal(node_number from, node_number to);
  void crash(node_number n);  // its actors are killed; their peers notice after the detection time
  void restart(node_number n);  // a new life may begin
  // The connection breaks, and both know it at once; what is on the way is lost.
  void reset(node_number a, node_number b);
  // `b` has forgotten the connection; `a` notices after the detection time, and what it sends until
  // then is lost.
  void half_open(node_number a, node_number b);
  // What holds one way from now on; at first it is what the topology says.
  const link_settings& link_of(node_number from, node_number to) {
    return lane_between(from, to).settings;
  }
  void set_link(node_number from, node_number to, const link_settings& settings) {
    lane_between(from, to).settings = settings;
  }
  void meddle(meddling with) { meddling_ = std::move(with); }  // empty: nobody does
  std::uint32_t life(node_number n) const { return nodes_[n].life; }
  std::size_t proxies() const { return proxies_.size(); }
  bool down(node_number n) const { return nodes_[n].down; }

  // Ends all actors that were placed, and all proxies.
  void close();
  void add_to(run_record& record) const;
  const topology& map() const { return map_; }

 private:
  friend struct route;
  struct known_proxy {
    caf::strong_actor_ptr proxy;
    std::unique_ptr<route> way;
  };
  struct node_state {
    std::uint32_t life = 1;
    bool down = false;
    caf::strong_actor_ptr published;
    std::vector<caf::strong_actor_ptr> actors;
    pipe out, in;
    std::vector<lane*> lanes;        // that begin or end here, in the order they were first used
    std::vector<found_proxy> found;  // by the node of the role; what find() said last
  };
  struct zone_pipes {
    pipe out, in;
  };

  static std::uint64_t key_of(node_number from, caf::actor_id target) {
    return (static_cast<std::uint64_t>(from) << 40) | target;
  }
  lane& lane_between(node_number from, node_number to);
  caf::strong_actor_ptr proxy_for(node_number from, const caf::strong_actor_ptr& target);
  void carry(route& way, caf::mailbox_element_ptr what);
  caf::mailbox_element_ptr round_trip(caf::mailbox_element_ptr what);
  void on_end_of(const caf::strong_actor_ptr& target, node_number home, std::uint32_t life,
                 const caf::error& reason);
  void depart(parcel_ptr p);
  void kill_proxy(std::uint64_t key, caf::error reason);
  caf::strong_actor_ptr take_out_proxy(std::uint64_t key);
  void break_connection(lane& l);
  void forget_peers(lane& way);
  void break_if_still_cut(lane& l, std::uint32_t connection, std::uint64_t cut_number);
  lane& way_back(const lane& l) { return lane_between(l.to, l.from); }

  virtual_system& system_;
  const cast_of_nodes cast_;
  const topology map_;
  recorder& log_;
  const bool serialise_;
  const hooks hooks_;
  meddling meddling_;
  message_facts facts_;
  random_source random_;
  std::vector<node_state> nodes_;
  std::vector<std::vector<parcel_ptr>> outboxes_;
  std::vector<zone_pipes> zones_;
  // Looked up, never walked.
  std::unordered_map<std::uint64_t, std::unique_ptr<lane>> lanes_;  // by from << 32 | to
  std::unordered_map<std::uint64_t, known_proxy> proxies_;
  std::vector<std::unique_ptr<route>> retired_;  // of killed proxies: parcels may still be on them
  std::unordered_map<caf::actor_id, node_number> home_;
  std::unordered_map<caf::actor_id, std::vector<node_number>> known_by_;  // who has a proxy of it
  std::uint64_t kills_ = 1;
  bool closed_ = false;
};

}  // namespace troupe::sim
