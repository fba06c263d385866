#include "apps/chaos/workload/workload.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "actors/server/functions/function_registry.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "core/random.hpp"

namespace troupe::chaos {
namespace {

enum stream : std::uint64_t { of_keys = 201 };

template <class T>
class assign final : public server_function<T> {  // the last write stays
 public:
  explicit assign(const function_numbers&) {}
  void apply(const row_block<T>& b, const step&) override {
    std::copy_n(b.pushed, b.size(), b.values);
  }
};

std::vector<double> doubles_of(const blob& bytes) {
  const auto values = bytes.as<double>();
  return {values.begin(), values.end()};
}

class recorded_program final : public slot_program {
 public:
  recorded_program(std::shared_ptr<const table_workload> what, std::shared_ptr<ledger> seen,
                   std::uint32_t slot, std::uint64_t life, meter& work_done)
      : what_(std::move(what)),
        notes_(std::move(seen), slot, life),
        slot_(slot),
        meter_(work_done) {}

  std::uint64_t clocks() const override { return what_->settings().clocks; }
  std::uint64_t examples_before(std::uint64_t clock) const override { return clock; }

  void run(slot_session& session, std::uint64_t clock) override {
    std::vector<key_id> ids;
    for (const auto place : what_->places_of(slot_, clock)) ids.push_back(key_at(place));
    auto keys = session.kv().keys(0, ids);
    if (!keys) return session.fail(keys.failure());
    notes_.note(ledger_entry::kind::pull_begins, clock);
    session.kv().pull(0, *keys, {}, [this, &session, keys = *keys, clock](result<pulled> got) {
      if (!got) return session.fail(got.failure());
      meter_.add(work::examples, 1);
      const auto values = doubles_of(got->values);
      notes_.note(ledger_entry::kind::pull_ends, clock, values);
      const auto pushed = what_->push_of(slot_, clock, values);
      notes_.note(ledger_entry::kind::push_begins, clock, pushed);
      session.push(0, keys, blob::copy_of(span<const double>(pushed)), 0.01);
      session.end_clock({1, 0, 1});
    });
  }

  void on_pushed(std::uint64_t clock, std::size_t, bool rejected) override {
    notes_.note(ledger_entry::kind::push_ends, clock, {}, rejected);
  }

 private:
  const std::shared_ptr<const table_workload> what_;
  const slot_notes notes_;
  const std::uint32_t slot_;
  meter& meter_;
};

// Reads every key once.
class reading_program final : public evaluation_program {
 public:
  reading_program(std::shared_ptr<const table_workload> what, pb::EvaluateTask task)
      : what_(std::move(what)), task_(std::move(task)) {}

  void run(session& session, on_scored done) override {
    std::vector<key_id> ids;
    for (std::uint64_t place = 0; place < what_->settings().key_space; ++place)
      ids.push_back(key_at(place));
    auto keys = session.kv().keys(0, ids);
    if (!keys) return session.fail(keys.failure());
    session.kv().pull(0, *keys, {}, [this, &session, done](result<pulled> got) {
      if (!got) return session.fail(got.failure());
      pb::EvaluatedPart part;
      part.set_done(true);
      part.set_data_set(task_.data_set());
      part.set_part(task_.part());
      part.set_rows(what_->settings().key_space);
      done(part, got->values);
    });
  }

 private:
  const std::shared_ptr<const table_workload> what_;
  const pb::EvaluateTask task_;
};

class workload_application final : public application {
 public:
  workload_application(std::shared_ptr<const table_workload> what, std::shared_ptr<ledger> seen,
                       std::uint64_t first_life)
      : what_(std::move(what)), seen_(std::move(seen)), lives_(first_life) {}
  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) override {
    return std::make_unique<recorded_program>(what_, seen_, slot, ++lives_, work_done);
  }
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                         meter&) override {
    return std::unique_ptr<evaluation_program>(std::make_unique<reading_program>(what_, task));
  }

 private:
  const std::shared_ptr<const table_workload> what_;
  const std::shared_ptr<ledger> seen_;
  std::atomic<std::uint64_t> lives_;
};

class final_values final : public evaluation {
 public:
  explicit final_values(std::shared_ptr<ledger> seen) : seen_(std::move(seen)) {}
  void clear() override {}
  void add(const pb::EvaluatedPart&, const blob& values) override {
    ledger_entry e;
    e.what = ledger_entry::kind::final_values;
    e.values = doubles_of(values);
    seen_->add(std::move(e));
  }
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>&) const override {
    return {};
  }

 private:
  const std::shared_ptr<ledger> seen_;
};

}  // namespace

key_id key_at(std::uint64_t place) {
  return splitmix64(place);
}

std::vector<std::uint64_t> table_workload::places_of(std::uint32_t slot,
                                                     std::uint64_t clock) const {
  if (s_.key_sets > 0) clock %= s_.key_sets;
  random_source random(seed_of(s_.seed, of_keys, slot, clock));
  std::vector<std::uint64_t> places;
  for (std::uint32_t i = 0; i < s_.keys; ++i) places.push_back(random.below(s_.key_space));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

workload_settings settings_of(const config::Scenario& s) {
  const auto& w = s.workload();
  workload_settings settings;
  settings.slots = s.cluster().slots();
  settings.clocks = w.clocks();
  settings.keys = w.keys();
  settings.key_space = w.key_space();
  settings.seed = s.scenario().seed();
  settings.staleness.reset();
  if (w.staleness() >= 0) settings.staleness = static_cast<std::uint64_t>(w.staleness());
  settings.combine = w.combine();
  settings.updater = w.updater();
  settings.key_sets = w.key_sets();
  settings.same_bits = same_bits_under_faults(s);
  for (const auto& f : s.faults())
    if (f.kind() == "not_a_number") settings.spoiled.emplace(f.slot(), f.clock());
  settings.loss = s.expect().loss();
  return settings;
}

std::unique_ptr<table_workload> table_workload_of(const config::Scenario& scenario) {
  auto settings = settings_of(scenario);
  const auto& kind = scenario.workload().kind();
  if (kind == "registers") return registers(std::move(settings));
  if (kind == "counters") return counters(std::move(settings));
  return training(std::move(settings));
}

result<std::unique_ptr<workload>> make_workload(const config::Scenario& scenario) {
  if (scenario.workload().kind() == "job") return job_workload(scenario);
  return std::unique_ptr<workload>(table_workload_of(scenario));
}

workload_parts table_workload::parts(const config::Scenario& scenario, std::shared_ptr<ledger> seen,
                                     std::uint64_t first_life) const {
  workload_parts p;
  auto& plan = p.job.plan;
  plan.set_bounded(s_.staleness.has_value());
  plan.set_staleness(s_.staleness.value_or(0));
  *plan.add_tables() = table_of(scenario, *this);
  p.job.evaluate = {{"train", 1}};
  p.scores = std::make_shared<final_values>(seen);
  p.app = std::make_shared<workload_application>(
      std::static_pointer_cast<const table_workload>(shared_from_this()), std::move(seen),
      first_life);
  return p;
}

void register_functions() {
  auto entry = entry_of<assign>("assign");
  entry.additive = false;
  (void)function_registry::global().add(std::move(entry)).ok();  // an error: it is there already
}

}  // namespace troupe::chaos
