#pragma once
// A small job whose outcome shows every fault of the protocol: each push depends on what was
// pulled, so a push that is lost, doubled, out of order, or computed from another version changes
// all that comes after it. Its keys spread over all segments.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/scheduler/coordinator.hpp"
#include "actors/worker/faults.hpp"
#include "actors/worker/program.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"
#include "messages/version.hpp"

namespace troupe::testing {

struct toy_settings {
  std::uint32_t slots = 4;
  std::uint64_t clocks =
      12;  // of slot 0; each further slot does one less, so that they end at different times
  std::size_t keys = 300;          // of one push
  std::uint64_t key_space = 1000;  // keys are hashes of 0..key_space-1
  std::uint64_t seed = 1;
  std::string function = "sgd";
  std::string combine = "each";
  std::string value_type = "f32";
  bool two_tables = false;  // then two pushes a clock
  double l1 = 0, l2 = 0;
};

inline pb::JobPlan plan_of(const toy_settings& s, bool bounded = true,
                           std::uint64_t staleness = 0) {
  using namespace std::chrono_literals;
  pb::JobPlan plan;
  plan.set_name("toy");
  plan.set_seed(s.seed);
  plan.set_slots(s.slots);
  plan.set_bounded(bounded);
  plan.set_staleness(staleness);
  for (int i = 0; i < (s.two_tables ? 2 : 1); ++i) {
    auto* t = plan.add_tables();
    t->set_name(i == 0 ? "weights" : "second");
    t->set_kind("sparse");
    t->set_value_type(s.value_type);
    t->set_width(i == 0 ? 1 : 3);
    t->set_combine(s.combine);
    t->set_function(s.function);
    auto* rate = t->add_schedule_parameters();
    rate->set_name("rate");
    rate->set_value(0.05);
    t->set_l1(s.l1);
    t->set_l2(s.l2);
    t->set_schedule("constant");
    t->set_clip("none");
    t->set_initialiser("normal");
    t->set_initialiser_a(0);
    t->set_initialiser_b(0.1);
  }
  auto* timings = plan.mutable_timings();
  timings->set_request_timeout(duration(2s).count());
  timings->set_hold(duration(500ms).count());
  timings->set_patience(duration(30s).count());
  timings->set_backoff(duration(5ms).count());
  timings->set_backoff_limit(duration(100ms).count());
  timings->set_pull_retries(20);
  timings->set_window(4);
  timings->set_report_every(duration(20ms).count());
  return plan;
}

class toy_program final : public slot_program {
 public:
  toy_program(toy_settings settings, std::uint32_t slot) : s_(std::move(settings)), slot_(slot) {}

  std::uint64_t clocks() const override { return s_.clocks > slot_ ? s_.clocks - slot_ : 0; }
  std::uint64_t examples_before(std::uint64_t clock) const override { return clock * 10; }

  void run(slot_session& session, std::uint64_t clock) override {
    std::vector<key_id> ids;
    random_source random(seed_of(s_.seed, slot_, clock));
    for (std::size_t i = 0; i < s_.keys; ++i) ids.push_back(splitmix64(random.below(s_.key_space)));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    pull_table(session, std::move(ids), 0, clock);
  }

 private:
  void pull_table(slot_session& session, std::vector<key_id> ids, std::size_t table,
                  std::uint64_t clock) {
    auto keys = session.kv().keys(table, ids);
    if (!keys) return session.fail(keys.failure());
    session.kv().pull(table, *keys, {},
                      [this, &session, ids, keys = *keys, table, clock](result<pulled> got) {
                        if (!got) return session.fail(got.failure());
                        session.push(table, keys,
                                     s_.value_type == "f64" ? change<double>(got->values, clock)
                                                            : change<float>(got->values, clock),
                                     0.01);
                        if (table == 0 && s_.two_tables) return pull_table(session, ids, 1, clock);
                        clock_report report;
                        report.examples = 10;
                        report.loss = 1;
                        report.weight = 10;
                        session.end_clock(report);
                      });
  }

  template <class T>
  blob change(const blob& values, std::uint64_t clock) const {
    const auto in = values.as<T>();
    std::vector<T> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] =
          in[i] * T(0.3) + static_cast<T>(unit_interval(seed_of(s_.seed, slot_, clock, i)) - 0.4);
    return blob::copy_of(span<const T>(out));
  }

  const toy_settings s_;
  const std::uint32_t slot_;
};

class toy_application final : public application {
 public:
  explicit toy_application(toy_settings settings) : s_(std::move(settings)) {}
  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter&) override {
    return std::make_unique<toy_program>(s_, slot);
  }
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask&, meter&) override {
    return error{errc::bad_request, "the toy job has no data to score"};
  }

 private:
  const toy_settings s_;
};

struct no_evaluation final : evaluation {
  void clear() override {}
  void add(const pb::EvaluatedPart&, const blob&) override {}
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>&) const override {
    return {};
  }
};

// The digests of all tables, as one text.
inline std::string digest_of(const pb::JobStatus& status) {
  std::string text;
  for (const auto& t : status.tables()) text += to_hex({t.digest_low(), t.digest_high()}) + " ";
  return text;
}

}  // namespace troupe::testing
