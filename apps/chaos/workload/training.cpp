// Logistic regression on rows that a seed makes. Each step depends on all before it, so that a
// lost, doubled or reordered one changes all that follow.
#include <cmath>
#include <map>

#include "apps/chaos/workload/workload.hpp"
#include "core/hash.hpp"
#include "core/math.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

using ull = unsigned long long;
constexpr std::size_t rows_of_clock = 4;

class training_workload final : public table_workload {
 public:
  using table_workload::table_workload;
  pb::TableSpec table() const override {
    pb::TableSpec t;
    t.set_name("weights");
    t.set_kind("sparse");
    t.set_value_type("f64");
    t.set_width(1);
    t.set_combine(s_.combine);
    t.set_function(s_.updater);
    auto* rate = t.add_schedule_parameters();
    rate->set_name("rate");
    rate->set_value(0.1);
    t.set_schedule("constant");
    t.set_clip("none");
    t.set_initialiser("normal");
    t.set_initialiser_b(0.01);
    return t;
  }

  // A row has every second of the clock's keys, by chance; its label follows from a true model.
  struct row {
    std::vector<bool> has;
    double label = 0;
  };
  row row_of(std::uint32_t slot, std::uint64_t clock, std::size_t i,
             const std::vector<std::uint64_t>& places) const {
    random_source random(seed_of(s_.seed, slot, clock, i));
    row r;
    double score = 0;
    for (const auto p : places) {
      const bool has = random.below(2) == 0;
      r.has.push_back(has);
      if (has) score += unit_interval(seed_of(s_.seed, 7, p)) * 4 - 2;
    }
    r.label = random.unit() < sigmoid(score) ? 1 : 0;
    return r;
  }
  static double sigmoid(double x) { return 1 / (1 + math::exp(-x)); }
  // Mean loss of the clock's rows under these weights, one to each place.
  double loss_of(std::uint32_t slot, std::uint64_t clock,
                 const std::vector<double>& weights) const {
    const auto places = places_of(slot, clock);
    double sum = 0;
    for (std::size_t i = 0; i < rows_of_clock; ++i) {
      const auto r = row_of(slot, clock, i, places);
      double score = 0;
      for (std::size_t k = 0; k < places.size(); ++k) score += r.has[k] ? weights[k] : 0;
      const auto p = sigmoid(score);
      sum -= math::log(r.label > 0 ? p : 1 - p);
    }
    return sum / rows_of_clock;
  }

  std::vector<double> push_of(std::uint32_t slot, std::uint64_t clock,
                              const std::vector<double>& pulled) const override {
    const auto places = places_of(slot, clock);
    std::vector<double> gradient(places.size());
    for (std::size_t i = 0; i < rows_of_clock; ++i) {
      const auto r = row_of(slot, clock, i, places);
      double score = 0;
      for (std::size_t k = 0; k < places.size(); ++k) score += r.has[k] ? pulled[k] : 0;
      const auto slope = (sigmoid(score) - r.label) / rows_of_clock;
      for (std::size_t k = 0; k < places.size(); ++k) gradient[k] += r.has[k] ? slope : 0;
    }
    return gradient;
  }
  bool wants_calm_run() const override { return s_.bulk_synchronous() && s_.same_bits; }
  std::unique_ptr<history_check> check() const override;
};

// A bulk-synchronous job must read the very weights that it reads without faults, at every slot and
// clock, unless it has filters that do not promise that. Any other must end with finite weights
// that have learned something.
class training_check final : public history_check {
 public:
  explicit training_check(const training_workload& w) : w_(w), s_(w.settings()) {}

  void on(const ledger_entry& e) override {
    if (e.what == ledger_entry::kind::final_values) {
      final_ = e.values;
      final_at_ = e.at;
    } else if (e.what == ledger_entry::kind::pull_ends) {
      const auto hash = hash_of(e.values);
      if (!w_.wants_calm_run()) return;
      const auto [seen, first] = read_.emplace(std::pair(e.slot, e.clock), hash);
      if (!first && seen->second != hash)
        report(
            "bulk-synchronous runs are bit-identical",
            format("slot %u read other weights when it did clock %llu again", e.slot, ull(e.clock)),
            e.at);
      if (!calm_) return;
      const auto expected = calm_->read_.find({e.slot, e.clock});
      if (expected != calm_->read_.end() && expected->second != hash)
        report("bulk-synchronous runs are bit-identical",
               format("slot %u at clock %llu read other weights than without faults", e.slot,
                      ull(e.clock)),
               e.at);
    }
  }
  void on_restored() override {}
  void on_finished(const pb::JobStatus&) override {
    if (final_.size() != s_.key_space)
      return report("the model", "nobody could read the weights at the end", final_at_);
    if (calm_ && calm_->final_ != final_)
      report("bulk-synchronous runs are bit-identical",
             "the weights at the end are not those of the run without faults", final_at_);
    double with = 0, without = 0;
    for (std::uint32_t slot = 0; slot < s_.slots; ++slot)
      for (std::uint64_t clock = 0; clock < s_.clocks; ++clock) {
        std::vector<double> weights;
        for (const auto p : w_.places_of(slot, clock)) weights.push_back(final_[p]);
        with += w_.loss_of(slot, clock, weights);
        without += math::log(2);
      }
    if (!std::isfinite(with) || with > without)
      report("the model",
             format("its loss is %.6g; that of a model of zeros is %.6g", with, without),
             final_at_);
  }

  void compare_with(std::shared_ptr<const history_check> calm) override {
    calm_ = std::dynamic_pointer_cast<const training_check>(calm);
  }

 private:
  static std::uint64_t hash_of(const std::vector<double>& values) {
    return xxh3(
        {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(double)});
  }

  const training_workload& w_;
  const workload_settings& s_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> read_;  // hashes
  std::shared_ptr<const training_check> calm_;
  std::vector<double> final_;
  instant final_at_;
};

std::unique_ptr<history_check> training_workload::check() const {
  return std::make_unique<training_check>(*this);
}

}  // namespace

std::unique_ptr<table_workload> training(workload_settings settings) {
  return std::make_unique<training_workload>(std::move(settings));
}

}  // namespace troupe::chaos
