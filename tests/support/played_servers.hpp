#pragma once
// Servers played by hand: one map of numbers to a table, answered at once. A pushed value moves its
// number by -rate * value, as plain gradient descent does; what was pushed is remembered.

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "actors/worker/evaluation_loop.hpp"
#include "actors/worker/slot_loop.hpp"
#include "tests/support/views.hpp"

namespace troupe::testing {

class played_servers {
 public:
  struct push {
    std::uint32_t slot = 0;
    std::uint64_t clock = 0;
    std::uint32_t table = 0;
    double share = 0;
  };

  played_servers(std::vector<table_shape> tables, double rate, std::uint32_t servers = 2)
      : tables_(std::move(tables)), rate_(rate), values_(tables_.size()) {
    view_ = view_of_servers(servers);
  }

  std::map<key_id, double>& table(std::size_t number) { return values_[number]; }
  const std::vector<push>& pushes() const { return pushes_; }
  const std::vector<table_shape>& shapes() const { return tables_; }

  // The whole life of a slot; the loop is returned for its progress and failure.
  std::unique_ptr<slot_loop> run(std::unique_ptr<slot_program> program, std::uint32_t slot = 0) {
    slot_settings settings;
    settings.slot = {slot, 1};
    auto loop =
        std::make_unique<slot_loop>(settings, tables_, view_, std::move(program), faults_, work_);
    loop->start({});
    for (const auto& a : loop->take_adoptions()) {
      pb::SlotNumbers numbers;
      numbers.set_outcome(pb::DONE);
      loop->on_numbers(a.request.shard(), numbers, {});
    }
    converse(*loop);
    return loop;
  }

  std::pair<pb::EvaluatedPart, blob> run(std::unique_ptr<evaluation_program> program) {
    evaluation_loop loop({}, tables_, view_, std::move(program), work_);
    loop.start({});
    converse(loop);
    REQUIRE(loop.outcome().has_value());
    return *loop.outcome();
  }

 private:
  void converse(conversation& with) {
    for (;;) {
      const auto reads = with.take_reads();
      const auto messages = with.take_outgoing();
      if (reads.empty() && messages.empty()) return;
      for (const auto& read : reads) with.on_read(read.number, read.job(), {});
      for (const auto& message : messages) answer(with, message);
    }
  }

  void answer(conversation& with, const outgoing& message) {
    if (const auto* pull = std::get_if<outgoing_pull>(&message.message)) {
      pb::PullReply reply;
      reply.set_outcome(pb::DONE);
      with.on_reply(message.number, {}, reply, blob{}, read(pull->header.table(), pull->keys));
      return;
    }
    const auto& sent = std::get<outgoing_push>(message.message);
    const auto& header = sent.header;
    if (!header.finish() && message.server == 0)
      pushes_.push_back({header.slot(), header.clock(), header.table(), header.share()});
    if (!header.finish()) apply(header.table(), sent.keys, sent.values);
    pb::PushReply reply;
    reply.set_outcome(pb::DONE);
    with.on_reply(message.number, {}, reply);
  }

  blob read(std::size_t table, const blob& keys) {
    std::vector<double> values;
    for (const auto p : keys.as<position>()) {
      const auto found = values_[table].find(tables_[table].keys.key_at(p));
      values.push_back(found == values_[table].end() ? 0 : found->second);
    }
    if (tables_[table].doubles) return blob::copy_of(span<const double>(values));
    const std::vector<float> narrow(values.begin(), values.end());
    return blob::copy_of(span<const float>(narrow));
  }

  void apply(std::size_t table, const blob& keys, const blob& values) {
    const auto positions = keys.as<position>();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const double pushed = tables_[table].doubles ? values.as<double>()[i]
                                                   : static_cast<double>(values.as<float>()[i]);
      values_[table][tables_[table].keys.key_at(positions[i])] -= rate_ * pushed;
    }
  }

  const std::vector<table_shape> tables_;
  const double rate_;
  view view_;
  fault_switches faults_;
  meter work_;
  std::vector<std::map<key_id, double>> values_;
  std::vector<push> pushes_;
};

inline std::vector<table_shape> linear_tables(bool doubles = true, bool bias = true) {
  table_shape weights, constant;
  weights.name = "weights";
  constant.name = "bias";
  weights.doubles = constant.doubles = doubles;
  return bias ? std::vector<table_shape>{weights, constant} : std::vector<table_shape>{weights};
}

}  // namespace troupe::testing
