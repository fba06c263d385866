#pragma once
// Somebody inside a worker who talks to servers: a slot, or an evaluation. It owns a client, file
// reads under way and a notion of now; the worker actor carries what it wants sent and brings back
// what comes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/worker/client.hpp"
#include "actors/worker/program.hpp"

namespace troupe {

// Work for the background, whose outcome comes back through on_read().
struct read_order {
  std::uint64_t number = 0;
  session::work_item job;
};

class conversation : public virtual session {
 public:
  conversation(client_settings settings, std::vector<table_shape> tables,
               std::optional<slot_identity> slot, view present, meter& work_done);

  // Inputs. Each may produce outputs.
  void use(view next, instant now);
  template <class... Reply>
  void on_reply(std::uint64_t number, instant now, const Reply&... reply) {
    at(now);
    client_.on_reply(number, reply...);
    go_on();
  }
  void on_failure(std::uint64_t number, const std::string& reason, instant now);
  void on_read(std::uint64_t number, result<void> outcome, instant now);
  void on_time(instant now);

  // Outputs.
  std::vector<outgoing> take_outgoing();
  std::vector<read_order> take_reads();
  virtual std::optional<instant> next_wake() const { return client_.next_wake(); }

  // session
  kv_client& kv() override { return client_; }
  void read(work_item job, on_read_done then) override;

 protected:
  void at(instant now);
  instant now() const { return now_; }
  // Whatever can be done now that something has come.
  virtual void go_on() = 0;
  virtual void due(instant) {}  // timers of its own
  virtual void view_changed() {}

  kv_client client_;

 private:
  instant now_;
  std::uint64_t next_read_ = 1;
  std::map<std::uint64_t, on_read_done> readers_;
  std::vector<read_order> reads_;
};

}  // namespace troupe
