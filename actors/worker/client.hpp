#pragma once
// The key-value client of a worker: push, pull, wait. A plain class: calls and replies go in,
// messages to send come out.
//
//   auto keys = client.keys("weights", ids);                     // sorted once, used twice
//   client.pull(0, *keys, {}, [&](result<pulled> got) {          // values in the order of `ids`
//     ...
//     client.push(0, *keys, gradient, {}, [](result<pushed>) {});  // acknowledged: applied at
//     every server
//   });
//
// Every call returns a ticket at once. A ticket can be asked for, waited for with others, or named
// as what a later request comes after (`after`); that request leaves when the named ones have been
// answered by all servers. Every request has a deadline, the patience of the job; its error names
// the server, the table, the clock and, for a request that was held, the slots waited for. A pull
// tries `pull_retries` times with backoff when a server does not answer; a push tries until the
// patience ends.
//
// A client that belongs to a slot numbers its pushes (clock, index) and sends every shard every
// number, possibly with no keys. What is under way when a shard moves or is split is sent again to
// where it is now, under its old number. A client without a slot is an observer: it only pulls,
// reads the latest values, and holds nothing back.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/worker/key_set.hpp"
#include "core/blob.hpp"
#include "core/meter.hpp"
#include "core/random.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "messages/data.pb.h"
#include "messages/filters/chain.hpp"
#include "messages/view.hpp"

namespace troupe {

using ticket = std::uint64_t;

// What a client must know of a table.
struct table_shape {
  std::string name;
  partitioning keys = partitioning::by_hash();
  std::uint32_t width = 1;
  bool doubles = false;      // f64, else f32
  bool additive = true;      // values of a repeated key may be added up
  std::uint32_t pushes = 1;  // numbers that are pushed for each value, side by side
  std::uint32_t shows = 0;  // numbers of its state that a slot's pull gets behind each row's values

  std::size_t row_bytes() const { return width * number_bytes(); }
  std::size_t pushed_bytes() const { return row_bytes() * pushes; }
  std::size_t number_bytes() const { return doubles ? sizeof(double) : sizeof(float); }
};

struct client_settings {
  duration request_timeout =
      std::chrono::seconds(2);  // for an answer, beyond what the server may hold
  duration hold = std::chrono::seconds(1);
  duration patience = std::chrono::minutes(2);
  duration backoff = std::chrono::milliseconds(20);
  duration backoff_limit = std::chrono::seconds(1);
  std::uint32_t pull_retries = 10;
  bool bulk_synchronous = false;  // a clock's pushes leave when all earlier ones are acknowledged
};

// Which slot the client speaks for.
struct slot_identity {
  std::uint32_t slot = 0;
  std::uint64_t epoch = 0;
};

struct pulled {
  blob values;  // rows in the caller's order; of a range: in ascending position
  blob keys;    // of a range pull: the keys (u64) of the rows
  std::uint64_t staleness = 0;
};
struct pushed {
  bool rejected = false;  // by the table's function, or by the client because a value is not finite
};

struct request_options {
  std::vector<ticket> after;
};
struct push_options {
  std::vector<ticket> after;
  bool last = true;               // of its clock
  double share = 0;               // fraction of the data that the push stands for
  std::vector<double> told = {};  // numbers for the table's function, beside the values
};

// A message for the shell to send to a server, under a number that its reply is handed back with.
struct outgoing_push {
  pb::PushHeader header;
  blob keys, values;
};
struct outgoing_pull {
  pb::PullHeader header;
  blob keys;
};
struct outgoing {
  std::uint64_t number = 0;
  std::uint32_t server = 0;
  std::variant<outgoing_push, outgoing_pull> message;
};

struct traffic {
  std::uint64_t bytes_pushed = 0,
                bytes_pulled = 0;  // headers, keys and values, requests and replies
};

// How stale the slot's pulls were, and how long at least one of them was under way.
struct pull_record {
  static constexpr std::size_t buckets = 64;
  std::vector<std::uint64_t>
      staleness;  // pulls answered with staleness 0, 1, ...; the last bucket holds the rest
  std::uint64_t max_staleness = 0;
  duration waited{};
};

class kv_client {
 public:
  using on_pulled = std::function<void(result<pulled>)>;
  using on_pushed = std::function<void(result<pushed>)>;
  using on_all = std::function<void()>;

  kv_client(client_settings settings, std::vector<table_shape> tables,
            std::optional<slot_identity> slot, meter& work_done);

  // Lossy filters of pushes, by table, which a push goes through once, before it is cut. None:
  // there are none. `seed` is the job's; from clock `clocks` on the slot pushes no more.
  void filter_pushes(std::vector<value_chain> filters, std::uint64_t seed, std::uint64_t clocks) {
    push_filters_ = std::move(filters);
    seed_ = seed;
    clocks_ = clocks;
  }
  // Before any other call, and whenever the scheduler publishes a new one. A slot's requests fail
  // with errc::stale when their shards are no more: the job has gone back without them.
  void use(view next);
  // The time of what follows.
  void at(instant now) { now_ = now; }

  // Where a slot taken over goes on.
  void resume_at(std::uint64_t clock);
  std::uint64_t clock() const { return clock_; }

  result<key_set> keys(std::size_t table, span<const key_id> ids) const;
  ticket pull(std::size_t table, key_set keys, request_options options, on_pulled done);
  // All existing rows with keys in `range` (of a sparse table; a dense one has all), for
  // range-partitioned tables; for a hash-partitioned table only all_keys makes sense, and rows come
  // in ascending position.
  ticket pull_range(std::size_t table, closed_range range, request_options options, on_pulled done);
  // `values`: one row to each of the caller's keys, in the caller's order. Keys repeated within one
  // push need an additive table. With no keys: an empty push, which still is a number.
  ticket push(std::size_t table, key_set keys, blob values, push_options options, on_pushed done);
  // The slot's last push of all.
  ticket finish(on_pushed done);

  bool done(ticket t) const { return requests_.count(t) == 0; }
  void wait(const std::vector<ticket>& tickets, on_all then);
  // The lowest clock with a push not yet acknowledged; clock() when all are.
  std::uint64_t oldest_clock_under_way() const;

  // What to send now; each is followed by at most one of the calls below. Without any, the client
  // itself takes the request for lost when its time is up: whoever sends it needs no timer for it.
  std::vector<outgoing> take_outgoing();
  bool has_outgoing() const { return !to_send_.empty() || !answered_at_once_.empty(); }
  void on_reply(std::uint64_t number, const pb::PushReply& reply);
  void on_reply(std::uint64_t number, const pb::PullReply& reply, const blob& keys,
                const blob& values);
  void on_failure(std::uint64_t number, const std::string& reason);
  // When on_time() is due next, if ever; it may find then that nothing is, because a reply came.
  std::optional<instant> next_wake() const;
  void on_time();

  const traffic& moved() const { return traffic_; }
  const pull_record& pulls() const { return pulls_; }
  const view& present_view() const { return view_; }
  // "server 1 (pull of 'weights' at clock 7, since 2.1 s, waits for slot 3 at clock 5)"; empty when
  // nothing is awaited.
  std::string waiting_for() const;

 private:
  enum class kind { pull, pull_range, push };
  struct request {
    kind what = kind::pull;
    std::size_t table = 0;
    key_set keys;
    blob values;  // of a push, in position order
    pb::PushHeader number;
    std::uint64_t clock = 0;  // of a pull
    closed_range range;       // of positions
    std::set<ticket> waits_for;
    std::vector<ticket> holds_up;
    std::vector<std::uint64_t> waits;  // numbers of wait() calls
    std::size_t parts_left = 0;
    instant begun, deadline;
    bool rejected = false;
    std::uint64_t staleness = 0;
    blob answer;  // of a pull, in position order
    std::byte* answer_bytes = nullptr;
    std::map<position, std::pair<blob, blob>>
        range_answers;  // by first position: positions, values
    on_pulled pulled_done;
    on_pushed pushed_done;
  };
  struct part {
    ticket of = 0;
    std::uint32_t shard = 0;
    std::vector<slice> slices;
    closed_range range;
    std::uint64_t view = 0;             // that it was cut by
    std::uint64_t epoch = 0;            // of the shard, when it was sent last
    bool with_base = false;             // the shard does not know where the slot stands
    std::uint64_t transmission = 0;     // which of all the client's, the last time
    std::optional<instant> answer_due;  // while it is in flight
    std::uint32_t failures = 0;
    std::uint32_t untried = 0;  // of those, that met nobody
    std::optional<instant> retry_at;
    std::string trouble;  // what the last try met
  };

  ticket begin(request r, std::vector<ticket> after);
  void launch(ticket t);
  void add_part(ticket t, std::uint32_t shard, std::vector<slice> slices, closed_range range);
  outgoing message_of(std::uint64_t number);
  void retry_later(std::uint64_t number, std::string trouble);
  void resend_missing(std::uint64_t number, std::uint64_t clock, std::uint32_t index);
  void learn(std::uint64_t number, const pb::View& theirs);
  void route_all_again();
  void cut_again(std::uint64_t number, const std::vector<std::uint32_t>& heirs);
  void set_base(std::uint32_t shard, pb::PushHeader& header) const;
  std::string server_of(const part& p) const;
  // Of a row that is pulled; slots see state that observers do not.
  std::size_t pulled_bytes(const request& r) const {
    const auto& t = tables_[r.table];
    const bool shown = slot_ && r.what == kind::pull;
    return t.row_bytes() + (shown ? t.width * t.shows * t.number_bytes() : 0);
  }
  void part_done(std::uint64_t number);
  void wake_by(instant when);
  void complete(ticket t, std::optional<error> failure);
  void record_pull(const request& r);
  void fail(std::uint64_t number, errc code, const std::string& why);
  template <class Reply>
  bool settle(std::uint64_t number, const Reply& reply);
  std::optional<error> unfit(std::size_t table, const key_set& keys, const blob& values) const;
  std::string describe(const part& p) const;
  pulled joined_range(const request& r) const;

  const client_settings settings_;
  const std::vector<table_shape> tables_;
  const std::optional<slot_identity> slot_;
  meter& meter_;
  std::vector<value_chain> push_filters_;
  std::uint64_t clocks_ = 0;
  std::uint64_t seed_ = 0;
  view view_;
  instant now_;
  std::uint64_t clock_ = 0;
  std::uint32_t index_ = 0;
  ticket next_ticket_ = 1;
  std::uint64_t next_part_ = 1;
  std::uint64_t next_wait_ = 1;
  std::uint64_t transmissions_ = 0;
  // No part is due before; asked for after every message, so it is kept and not searched for.
  std::optional<instant> wake_bound_;
  std::map<ticket, request> requests_;
  std::map<std::uint64_t, part> parts_;
  std::map<ticket, std::uint64_t> unacknowledged_;  // pushes and their clocks
  std::map<std::uint64_t, std::pair<std::size_t, on_all>> waits_;
  std::vector<std::uint64_t> to_send_;
  std::vector<ticket> answered_at_once_;  // requests without parts, completed by take_outgoing()
  traffic traffic_;
  pull_record pulls_;
  std::size_t open_pulls_ = 0;
  instant pulls_open_since_;
};

}  // namespace troupe
