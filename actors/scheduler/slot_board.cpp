#include "actors/scheduler/slot_board.hpp"

#include <algorithm>

namespace troupe {
namespace {

template <class Counts>
void add_each(Counts& sum, const Counts& more) {
  while (sum.size() < more.size()) sum.Add(0);
  for (int i = 0; i < more.size(); ++i) sum.Set(i, sum.Get(i) + more.Get(i));
}

void add_traffic(pb::SlotProgress& sum, const pb::TableTraffic& more) {
  const auto same = [&](const pb::TableTraffic& t) {
    return t.table() == more.table() && t.pulls() == more.pulls() && t.server() == more.server();
  };
  auto& all = *sum.mutable_traffic();
  const auto found = std::find_if(all.begin(), all.end(), same);
  if (found == all.end()) {
    *all.Add() = more;
    return;
  }
  found->set_messages(found->messages() + more.messages());
  add_each(*found->mutable_sent(), more.sent());
  add_each(*found->mutable_received(), more.received());
}

// Adds the counts of a life that has ended. Clocks and examples are positions, not counts: the
// later life's hold.
void add_counts(pb::SlotProgress& sum, const pb::SlotProgress& life) {
  sum.set_loss(sum.loss() + life.loss());
  sum.set_weight(sum.weight() + life.weight());
  sum.set_bytes_pushed(sum.bytes_pushed() + life.bytes_pushed());
  sum.set_bytes_pulled(sum.bytes_pulled() + life.bytes_pulled());
  sum.set_waited_ns(sum.waited_ns() + life.waited_ns());
  sum.set_rejected(sum.rejected() + life.rejected());
  sum.set_max_staleness(std::max(sum.max_staleness(), life.max_staleness()));
  for (int i = 0; i < life.staleness_size(); ++i) {
    if (sum.staleness_size() <= i) sum.add_staleness(0);
    sum.set_staleness(i, sum.staleness(i) + life.staleness(i));
  }
  for (const auto& t : life.traffic()) add_traffic(sum, t);
}

}  // namespace

bool slot_board::all_finished() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const entry& e) { return e.present.finished(); });
}

bool slot_board::all_wait_at(std::uint64_t clock) const {
  for (std::uint32_t slot = 0; slot < slots(); ++slot)
    if (!finished(slot) && !waits_at(slot, clock)) return false;
  return true;
}

std::uint64_t slot_board::largest_clock() const {
  std::uint64_t largest = 0;
  for (const auto& e : entries_) largest = std::max(largest, e.present.clock());
  return largest;
}

std::uint64_t slot_board::smallest_clock() const {
  auto smallest = ~std::uint64_t{0};
  for (const auto& e : entries_)
    if (!e.present.finished()) smallest = std::min(smallest, e.present.clock());
  return smallest;
}

void slot_board::go_back_to(std::uint64_t clock) {
  for (auto& e : entries_) {
    add_counts(e.earlier, e.present);
    pb::SlotProgress position;
    position.set_clock(clock);
    position.set_clocks(e.present.clocks());
    e.present = position;
  }
}

void slot_board::outlive(std::uint32_t slot, std::uint64_t epoch) {
  if (slot < entries_.size()) entries_[slot].outlived = std::max(entries_[slot].outlived, epoch);
}

void slot_board::take_up(std::uint32_t slot, std::uint32_t worker, std::uint64_t epoch,
                         const pb::SlotProgress& total, instant now) {
  auto& e = entries_[slot];
  e.worker = worker;
  e.epoch = epoch;
  e.heard = now;
  e.present = {};
  e.present.set_clock(total.clock());
  e.present.set_clocks(total.clocks());
  e.present.set_examples(total.examples());
  e.present.set_finished(total.finished());
}

std::uint64_t slot_board::assign(std::uint32_t slot, std::uint32_t worker, instant now) {
  auto& e = entries_[slot];
  add_counts(e.earlier, e.present);
  auto position = pb::SlotProgress{};
  position.set_clock(e.present.clock());
  position.set_clocks(e.present.clocks());
  position.set_examples(e.present.examples());
  e.present = position;
  e.worker = worker;
  e.heard = now;
  return e.epoch = std::max(e.epoch, e.outlived) + 1;
}

bool slot_board::report(const pb::SlotProgress& progress, instant now) {
  if (progress.slot() >= entries_.size()) return false;
  auto& e = entries_[progress.slot()];
  if (progress.epoch() != e.epoch) return false;
  e.present = progress;
  e.heard = now;
  return true;
}

pb::SlotProgress slot_board::total(std::uint32_t slot) const {
  const auto& e = entries_[slot];
  auto sum = e.earlier;
  add_counts(sum, e.present);
  sum.set_slot(slot);
  sum.set_epoch(e.epoch);
  sum.set_clock(e.present.clock());
  sum.set_clocks(e.present.clocks());
  sum.set_examples(e.present.examples());
  sum.set_finished(e.present.finished());
  sum.set_waiting_for(e.present.waiting_for());
  return sum;
}

}  // namespace troupe
