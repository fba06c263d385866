#pragma once
// Looks once at the objective of the model as it is: scores all training rows through observer
// pulls, sums the tables up, and says the figure. Belongs to no node, so it sees the servers
// directly and costs nothing; all of it happens at one instant. If the servers are not ready to
// answer it gives up.

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "actors/scheduler/coordinator.hpp"
#include "actors/scheduler/evaluation.hpp"
#include "actors/worker/evaluation_loop.hpp"
#include "actors/worker/program.hpp"
#include "messages/resolver.hpp"

namespace troupe {

struct probe_settings {
  std::shared_ptr<const resolver> find;
  std::shared_ptr<application> app;
  pb::JobPlan plan;
  std::shared_ptr<evaluation> scores;  // empty
  std::function<void(double)> on_objective;
};

struct probe_state {
  static constexpr const char* name = "probe";

  void start(caf::event_based_actor* me, probe_settings with);

 private:
  void score(const pb::View& now_in_force);
  void flush();
  void send(outgoing message);
  void summarise();
  void on_summary(const pb::TableSummary& part);

  caf::event_based_actor* self_ = nullptr;
  probe_settings settings_;
  meter unpaid_;
  std::unique_ptr<evaluation_loop> loop_;
  std::vector<shard_entry> shards_;
  std::vector<pb::TableSummary> tables_;
  std::size_t open_ = 0;
};

caf::behavior probe(caf::stateful_actor<probe_state>* self, probe_settings settings);

}  // namespace troupe
