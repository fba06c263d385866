#pragma once
// A coordinator whose nodes are played by hand.

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "actors/scheduler/coordinator.hpp"
#include "messages/version.hpp"

namespace troupe::testing {

using namespace std::chrono_literals;

struct no_scores final : evaluation {
  std::vector<std::string> added;
  void add(const pb::EvaluatedPart& part, const blob&) override {
    added.push_back(part.data_set() + " " + std::to_string(part.part()));
  }
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>& tables) const override {
    pb::Metric rows;
    rows.set_name("rows");
    rows.set_known(true);
    rows.set_value(static_cast<double>(tables.at(0).rows()));
    pb::Metric loss;
    loss.set_name("validation_loss");
    loss.set_known(true);
    loss.set_value(next_loss);
    return {rows, loss};
  }
  double next_loss = 0;
  void clear() override { added.clear(); }
};

struct played_nodes {
  no_scores scores;
  coordinator c;
  instant now;

  explicit played_nodes(job_settings s = settings()) : c(std::move(s), scores, {}) {}

  static job_settings settings() {
    job_settings s;
    s.plan.set_slots(4);
    s.plan.add_tables()->set_name("weights");
    s.plan.mutable_timings()->set_request_timeout(duration(1s).count());
    s.servers = 2;
    s.workers = 2;
    s.evaluate = {{"train", 0}};
    return s;
  }
  pb::JoinReply join(pb::Role role, std::uint32_t index, std::uint64_t incarnation = 1,
                     std::uint32_t protocol = protocol_version) {
    pb::Join j;
    j.set_role(role);
    j.set_index(index);
    j.set_incarnation(incarnation);
    j.set_protocol(protocol);
    j.set_build(build_version());
    return c.on_join(j, now);
  }
  template <class Command>
  std::vector<Command> take() {
    std::vector<Command> wanted;
    for (auto& each : c.take_commands())
      if (auto* found = std::get_if<Command>(&each)) wanted.push_back(*found);
    return wanted;
  }
  std::vector<send_assignment> train() {
    train_by_hand();
    return take<send_assignment>();
  }
  // Until the view is installed everywhere.
  void train_by_hand() {
    for (std::uint32_t i = 0; i < 2; ++i) join(pb::SERVER, i), join(pb::WORKER, i);
    take<send_view>();
    pb::ViewReply installed;
    installed.set_installed(true);
    const auto number = c.status(true).view().number();
    c.on_view(0, number, installed, now);
    c.on_view(1, number, installed, now);
  }
  void report(std::uint32_t worker, std::uint32_t slot, std::uint64_t epoch, bool finished,
              double loss = 0) {
    pb::Progress p;
    p.set_worker(worker);
    auto* s = p.add_slots();
    s->set_slot(slot);
    s->set_epoch(epoch);
    s->set_finished(finished);
    s->set_loss(loss);
    c.on_progress(p, now);
  }
  void down(pb::Role role, std::uint32_t index, bool final = false) {
    pb::NodeDown d;
    d.set_role(role);
    d.set_index(index);
    d.set_incarnation(1);
    d.set_reason("it threw");
    d.set_final(final);
    d.set_restarts(final ? 3 : 1);
    c.on_down(d, now);
  }
  // Answers for those who hold the shards.
  void summarised(const send_summarise& asked, const pb::TableSummary& part = {}) {
    c.on_summarise(asked, part, now);
  }
  // All nodes live.
  void beat() {
    for (const auto role : {pb::SERVER, pb::WORKER})
      for (std::uint32_t i = 0; i < 2; ++i) {
        pb::Beat b;
        b.set_role(role);
        b.set_index(i);
        b.set_incarnation(1);
        c.on_beat(b, now);
      }
  }
  pb::JobStatus::Phase phase() const { return c.status().phase(); }
};

}  // namespace troupe::testing
