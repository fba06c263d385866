// Every push adds one to each of its keys.
#include <algorithm>
#include <map>

#include "apps/chaos/workload/workload.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

using ull = unsigned long long;

class counters_workload final : public table_workload {
 public:
  using table_workload::table_workload;
  pb::TableSpec table() const override {
    pb::TableSpec t;
    t.set_name("counters");
    t.set_kind("sparse");
    t.set_value_type("f64");
    t.set_width(1);
    t.set_combine(s_.combine);
    t.set_function("add");
    t.set_schedule("constant");
    t.set_clip("none");
    t.set_initialiser("zero");
    return t;
  }
  std::vector<double> push_of(std::uint32_t, std::uint64_t,
                              const std::vector<double>& pulled) const override {
    return std::vector<double>(pulled.size(), 1.0);
  }
  std::optional<double> largest_whole_number(direction way) const override {
    return way == direction::push ? 1.0 : static_cast<double>(s_.slots * s_.clocks);
  }
  std::unique_ptr<history_check> check() const override;
};

// What must hold of a value that is read:
//   - at least: the pushes that were acknowledged before the read was asked for, and those of the
//     clocks that staleness demands;
//   - at most: the pushes that somebody had begun when the answer came;
//   - bulk-synchronous: exactly those of all earlier clocks.
class counters_check final : public history_check {
 public:
  explicit counters_check(const counters_workload& w)
      : w_(w),
        s_(w.settings()),
        begun_(s_.slots),
        ended_(s_.slots, std::vector<bool>(s_.clocks)),
        begun_of_(s_.key_space),
        acknowledged_(s_.key_space) {}

  void on(const ledger_entry& e) override {
    switch (e.what) {
      case ledger_entry::kind::pull_begins:
        return on_asked(e);
      case ledger_entry::kind::pull_ends:
        return on_read(e);
      case ledger_entry::kind::push_begins:
        return on_push(e);
      case ledger_entry::kind::push_ends:
        return on_acknowledged(e);
      case ledger_entry::kind::final_values:
        final_ = e.values;
        final_at_ = e.at;
        return;
    }
  }
  void on_restored() override {
    // What was acknowledged may be gone; the pushes are done again, under their numbers.
    asked_.clear();
    std::fill(acknowledged_.begin(), acknowledged_.end(), 0);
    restored_ = true;
  }
  void on_finished(const pb::JobStatus&) override {
    if (final_.size() != s_.key_space)
      return report("exactly once", "nobody could read the counters at the end", final_at_);
    for (std::uint64_t k = 0; k < s_.key_space; ++k) {
      const auto right = count_below(k, s_.clocks);
      const bool fits = s_.loss && !s_.bulk_synchronous() ? final_[k] <= right : final_[k] == right;
      if (!fits)
        report("exactly once",
               format("at the end key %llu counts %.17g; %.17g pushes were made to it%s", ull(k),
                      final_[k], right, ever_acknowledged(k, right).c_str()),
               final_at_);
    }
  }

 private:
  std::string ever_acknowledged(std::uint64_t k, double right) const {
    return acknowledged_[k] == right ? ", and all of them were acknowledged" : "";
  }
  bool counts(std::uint32_t slot, std::uint64_t clock) const {
    return s_.spoiled.count({slot, clock}) == 0;
  }
  // Pushes to a key by clocks below one.
  double count_below(std::uint64_t place, std::uint64_t clock) {
    auto& sums = below_[place];
    if (sums.empty()) {
      sums.resize(s_.clocks + 1);
      for (const auto& [slot, at] : pushes_to(place))
        if (counts(slot, at)) ++sums[at + 1];
      for (std::uint64_t c = 0; c < s_.clocks; ++c) sums[c + 1] += sums[c];
    }
    return sums[std::min(clock, s_.clocks)];
  }
  using pushes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  const pushes& pushes_to(std::uint64_t place) {
    if (by_key_.empty()) {
      by_key_.resize(s_.key_space);
      for (std::uint32_t slot = 0; slot < s_.slots; ++slot)
        for (std::uint64_t clock = 0; clock < s_.clocks; ++clock)
          for (const auto k : w_.places_of(slot, clock)) by_key_[k].emplace_back(slot, clock);
    }
    return by_key_[place];
  }

  void on_asked(const ledger_entry& e) {
    std::vector<double> least;
    for (const auto k : w_.places_of(e.slot, e.clock)) least.push_back(acknowledged_[k]);
    asked_[{e.slot, e.life}] = std::move(least);
  }

  void on_push(const ledger_entry& e) {
    if (e.clock < begun_[e.slot]) return;  // again, under its old number
    begun_[e.slot] = e.clock + 1;
    if (!counts(e.slot, e.clock)) return;
    for (const auto k : w_.places_of(e.slot, e.clock)) ++begun_of_[k];
  }

  void on_acknowledged(const ledger_entry& e) {
    if (e.refused) {
      if (counts(e.slot, e.clock))
        report("exactly once",
               format("a push of slot %u at clock %llu was refused", e.slot, ull(e.clock)), e.at);
      return;
    }
    if (ended_[e.slot][e.clock] && !restored_) return;
    ended_[e.slot][e.clock] = true;
    if (!counts(e.slot, e.clock) || s_.loss) return;
    for (const auto k : w_.places_of(e.slot, e.clock)) ++acknowledged_[k];
  }

  void on_read(const ledger_entry& e) {
    const auto places = w_.places_of(e.slot, e.clock);
    const auto least = asked_.find({e.slot, e.life});
    if (e.values.size() != places.size())
      return report(
          "exactly once",
          format("slot %u asked for %zu keys and got %zu", e.slot, places.size(), e.values.size()),
          e.at);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto k = places[i];
      const auto v = e.values[i];
      const auto who =
          format("slot %u at clock %llu read %.17g of key %llu", e.slot, ull(e.clock), v, ull(k));
      if (s_.bulk_synchronous()) {
        const auto right = count_below(k, e.clock);
        if (v != right)
          report("bulk-synchronous versions",
                 who + format("; %.17g pushes of earlier clocks were made to it", right), e.at);
        continue;
      }
      if (v > begun_of_[k])
        report("exactly once", who + format("; only %.17g pushes had been begun", begun_of_[k]),
               e.at);
      if (least != asked_.end() && v < least->second[i])
        report("an acknowledged push is seen",
               who + format("; %.17g had been acknowledged before it asked", least->second[i]),
               e.at);
      if (s_.staleness && !s_.loss) {
        const auto needed = count_below(k, e.clock - std::min(e.clock, *s_.staleness));
        if (v < needed)
          report("staleness",
                 who + format("; a staleness of %llu demands %.17g", ull(*s_.staleness), needed),
                 e.at);
      }
    }
  }

  const counters_workload& w_;
  const workload_settings& s_;
  std::vector<std::uint64_t> begun_;             // by slot: clocks below were begun
  std::vector<std::vector<bool>> ended_;         // by slot and clock: acknowledged
  std::vector<double> begun_of_, acknowledged_;  // by key
  std::map<std::uint64_t, std::vector<double>> below_;
  std::vector<pushes> by_key_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<double>> asked_;
  std::vector<double> final_;
  instant final_at_;
  bool restored_ = false;
};

std::unique_ptr<history_check> counters_workload::check() const {
  return std::make_unique<counters_check>(*this);
}

}  // namespace

std::unique_ptr<table_workload> counters(workload_settings settings) {
  return std::make_unique<counters_workload>(std::move(settings));
}

}  // namespace troupe::chaos
