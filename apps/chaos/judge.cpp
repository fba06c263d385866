#include "apps/chaos/judge.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"

namespace troupe::chaos {

std::size_t run_outcome::faults_struck() const {
  return static_cast<std::size_t>(std::count_if(
      faults.begin(), faults.end(), [](const struck& f) { return f.withheld.empty(); }));
}

judge::judge(const config::Scenario& scenario, std::shared_ptr<const workload> what,
             std::shared_ptr<const history_check> calm)
    : scenario_(scenario), what_(std::move(what)), check_(what_->check()) {
  if (calm) check_->compare_with(std::move(calm));
}

void judge::on(const ledger_entry& e) {
  check_->on(e);
  lives_of_slots_.emplace(e.slot, e.life);
  switch (e.what) {
    case ledger_entry::kind::pull_ends:
      ++reads_;
      break;
    case ledger_entry::kind::push_begins:
      ++pushes_;
      break;
    case ledger_entry::kind::push_ends:
      ++acknowledged_;
      progress_.emplace_back(e.at, e.slot);
      break;
    default:
      break;
  }
}

// What the scheduler says must make sense, whatever befell it.
void judge::on_status(const pb::JobStatus& status, instant at) {
  // While a shard moves, who takes it over is in sync before who gives it up has gone.
  const auto most = scenario_.cluster().copies() + 2;
  for (const auto& shard : status.view().shards()) {
    const std::set<std::uint32_t> chain(shard.chain().begin(), shard.chain().end());
    if (static_cast<int>(chain.size()) != shard.chain_size() || chain.size() > most)
      report({"a chain is of distinct servers, and hardly longer than asked for",
              format("shard %u has a chain of %d", shard.number(), shard.chain_size()), at});
  }
}

void judge::judge_end(const pb::JobStatus& status, bool in_time, instant at) {
  const auto& expect = scenario_.expect();
  const bool finished = status.phase() == pb::JobStatus::FINISHED;
  if (!in_time) {
    std::string waits;
    for (const auto& slot : status.slots())
      if (!slot.finished())
        waits +=
            format("; slot %u is at clock %llu%s%s", slot.slot(),
                   static_cast<unsigned long long>(slot.clock()),
                   slot.waiting_for().empty() ? "" : " and waits for ", slot.waiting_for().c_str());
    return report({"after the last fault every job ends", status.text() + waits, at});
  }
  if (finished) {
    check_->on_finished(status);
    if (expect.outcome() == "failed")
      report({"the outcome is the expected one", "the job finished, and should have failed", at});
    return;
  }
  if (expect.outcome() == "finished")
    return report(
        {"after the last fault every job finishes", "the job failed: " + status.text(), at});
  if (status.text().find(expect.text()) == std::string::npos)
    report({"the outcome is the expected one",
            "the job failed for another reason than '" + expect.text() + "': " + status.text(),
            at});
  const auto names = [&](const char* word) {
    return status.text().find(word) != std::string::npos;
  };
  if (!names("server ") && !names("worker ") && !names("scheduler") && !names("slot ") &&
      !names("checkpoint"))
    report({"an error names who it is of", "the job failed: " + status.text(), at});
}

// From each fault to when every slot that still had work had been acknowledged something.
void judge::add_recoveries(run_outcome& into) const {
  duration longest{}, sum{};
  std::size_t count = 0;
  for (const auto& f : into.faults) {
    if (!f.withheld.empty()) continue;
    std::map<std::uint32_t, instant> next;
    for (const auto& [at, slot] : progress_)
      if (f.from.count() < at.ns) next.emplace(slot, at);
    instant last{f.from.count()};
    for (const auto& [slot, at] : next) last = std::max(last, at);
    const auto took = duration(last.ns) - f.from;
    into.recoveries.push_back(took);
    longest = std::max(longest, took);
    sum += took;
    ++count;
  }
  into.metrics["longest_recovery_s"] = seconds_of(longest);
  if (count > 0) into.metrics["mean_recovery_s"] = seconds_of(sum) / static_cast<double>(count);
}

void judge::end(const pb::JobStatus& status, bool in_time, instant at, run_outcome& into) {
  if (!broken()) judge_end(status, in_time, at);
  if (!broken() && into.faults_struck() < scenario_.expect().least_faults())
    report({"the scenario shows something",
            format("%zu faults struck, of at least %u", into.faults_struck(),
                   scenario_.expect().least_faults()),
            at});
  into.finished = status.phase() == pb::JobStatus::FINISHED;
  into.text = status.text();
  into.took = duration(at.ns);
  into.violations = check_->found();
  into.violations.insert(into.violations.end(), others_.begin(), others_.end());
  std::stable_sort(into.violations.begin(), into.violations.end(),
                   [](const violation& a, const violation& b) { return a.at < b.at; });
  into.metrics["pushes"] = static_cast<double>(pushes_);
  into.metrics["acknowledged"] = static_cast<double>(acknowledged_);
  into.metrics["reads"] = static_cast<double>(reads_);
  into.metrics["lives_of_slots"] = static_cast<double>(lives_of_slots_.size());
  into.metrics["failovers"] = status.failovers();
  into.metrics["restarts"] = status.restarts();
  into.metrics["generations"] = status.generation();
  // Of slots' present lives, before and after filters.
  double raw = 0, filtered = 0;
  for (const auto& slot : status.slots())
    for (const auto& t : slot.traffic())
      for (const auto* counts : {&t.sent(), &t.received()})
        if (!counts->empty()) {
          raw += static_cast<double>(*counts->begin());
          filtered += static_cast<double>(*counts->rbegin());
        }
  into.metrics["bytes"] = raw;
  into.metrics["bytes_filtered"] = filtered;
  add_recoveries(into);
}

}  // namespace troupe::chaos
