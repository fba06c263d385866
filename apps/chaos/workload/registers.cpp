// Every push writes, to each of its keys, a value that nobody else ever writes.
#include <algorithm>
#include <limits>
#include <map>

#include "apps/chaos/workload/workload.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

using ull = unsigned long long;

class registers_workload final : public table_workload {
 public:
  using table_workload::table_workload;
  pb::TableSpec table() const override {
    pb::TableSpec t;
    t.set_name("registers");
    t.set_kind("sparse");
    t.set_value_type("f64");
    t.set_width(1);
    t.set_combine("each");
    t.set_function("assign");
    t.set_schedule("constant");
    t.set_clip("none");
    t.set_initialiser("zero");
    return t;
  }
  double value_of(std::uint32_t slot, std::uint64_t clock) const {
    return static_cast<double>(1 + slot + clock * s_.slots);
  }
  std::vector<double> push_of(std::uint32_t slot, std::uint64_t clock,
                              const std::vector<double>& pulled) const override {
    return std::vector<double>(pulled.size(), value_of(slot, clock));
  }
  std::optional<double> largest_whole_number(direction) const override {
    return static_cast<double>(s_.slots * s_.clocks);
  }
  std::unique_ptr<history_check> check() const override;
};

// What must hold of a value that is read:
//   - somebody had begun to write it;
//   - it was not overwritten for sure: no other write to the key was begun after it had been
//     acknowledged, or by the same slot in a later clock, and was itself acknowledged before the
//     read was asked for, or is of a clock that staleness demands;
//   - bulk-synchronous: it is the last of all earlier clocks, by clock and then by slot.
class registers_check final : public history_check {
 public:
  explicit registers_check(const registers_workload& w) : w_(w), s_(w.settings()) {
    for (std::uint32_t slot = 0; slot < s_.slots; ++slot)
      for (std::uint64_t clock = 0; clock < s_.clocks; ++clock)
        if (s_.spoiled.count({slot, clock}) == 0)
          for (const auto k : w_.places_of(slot, clock)) writes_to_[k].push_back({slot, clock});
    for (auto& [key, all] : writes_to_)
      std::sort(all.begin(), all.end(), [](const write& a, const write& b) {
        return std::tie(a.clock, a.slot) < std::tie(b.clock, b.slot);
      });
    history_.resize(s_.slots, std::vector<times>(s_.clocks));
  }

  void on(const ledger_entry& e) override {
    ++now_;
    if (e.what == ledger_entry::kind::final_values) {
      final_ = e.values;
      final_at_ = e.at;
      return;
    }
    auto& t = history_[e.slot][e.clock];
    switch (e.what) {
      case ledger_entry::kind::pull_begins:
        asked_[{e.slot, e.life}] = now_;
        return;
      case ledger_entry::kind::push_begins:
        t.begun = std::min(t.begun, now_);
        return;
      case ledger_entry::kind::push_ends:
        if (!e.refused) t.acknowledged = std::min(t.acknowledged, now_);
        return;
      default: {
        const auto places = w_.places_of(e.slot, e.clock);
        const auto asked = asked_.find({e.slot, e.life});
        for (std::size_t i = 0; i < places.size() && i < e.values.size(); ++i)
          judge(places[i], e.values[i], asked == asked_.end() ? 0 : asked->second, e.clock,
                format("slot %u at clock %llu", e.slot, ull(e.clock)), e.at);
      }
    }
  }
  void on_restored() override {
    asked_.clear();
    for (auto& slot : history_)
      for (auto& t : slot) t.acknowledged = never;
  }
  void on_finished(const pb::JobStatus&) override {
    if (final_.size() != s_.key_space)
      return report("order of writes", "nobody could read the registers at the end", final_at_);
    for (std::uint64_t k = 0; k < s_.key_space; ++k)
      judge(k, final_[k], s_.loss ? 0 : now_, s_.clocks, "whoever reads at the end", final_at_);
  }

 private:
  using moment = std::uint64_t;  // counted in entries
  static constexpr moment never = std::numeric_limits<moment>::max();
  struct write {
    std::uint32_t slot = 0;
    std::uint64_t clock = 0;
  };
  struct times {
    moment begun = never, acknowledged = never;
  };

  void judge(std::uint64_t key, double value, moment asked, std::uint64_t clock,
             const std::string& who, instant at) {
    const auto& all = writes_to_[key];
    const auto what = who + format(" read %s of key %llu", name(value).c_str(), ull(key));
    const write* seen = nullptr;
    for (const auto& w : all)
      if (w_.value_of(w.slot, w.clock) == value) seen = &w;
    if (value != 0 && (seen == nullptr || history_[seen->slot][seen->clock].begun == never))
      return report("order of writes", what + ", which nobody wrote to it", at);
    if (s_.bulk_synchronous()) {
      const write* right = nullptr;
      for (const auto& w : all)
        if (w.clock < clock) right = &w;
      const auto expected = right == nullptr ? 0 : w_.value_of(right->slot, right->clock);
      if (value != expected)
        report("bulk-synchronous versions",
               what + "; the last of all earlier clocks is " + name(expected), at);
      return;
    }
    for (const auto& w : all) {
      const auto& t = history_[w.slot][w.clock];
      const bool there = (t.acknowledged < asked && !s_.loss) || demanded(w, clock);
      const bool later =
          seen == nullptr || (w.slot == seen->slot && w.clock > seen->clock) ||
          (w.slot != seen->slot && t.begun > history_[seen->slot][seen->clock].acknowledged);
      if (there && later && t.begun != never)
        return report(t.acknowledged < asked ? "an acknowledged push is seen" : "staleness",
                      what + "; it had been overwritten by " + name(w_.value_of(w.slot, w.clock)),
                      at);
    }
  }
  // Whether a reader at that clock must see the write.
  bool demanded(const write& w, std::uint64_t clock) const {
    return s_.staleness && !s_.loss && w.clock + *s_.staleness < clock;
  }
  std::string name(double value) const {
    if (value == 0) return "the initial value";
    const auto n = static_cast<std::uint64_t>(value) - 1;
    return format("the write of slot %llu at clock %llu", ull(n % s_.slots), ull(n / s_.slots));
  }

  const registers_workload& w_;
  const workload_settings& s_;
  std::map<std::uint64_t, std::vector<write>> writes_to_;  // by (clock, slot)
  std::vector<std::vector<times>> history_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, moment> asked_;
  std::vector<double> final_;
  instant final_at_;
  moment now_ = 0;
};

std::unique_ptr<history_check> registers_workload::check() const {
  return std::make_unique<registers_check>(*this);
}

}  // namespace

std::unique_ptr<table_workload> registers(workload_settings settings) {
  return std::make_unique<registers_workload>(std::move(settings));
}

}  // namespace troupe::chaos
