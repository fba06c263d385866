#include "actors/server/slot_ledger.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

arrival slot_ledger::classify(std::uint32_t slot, std::uint64_t epoch, push_number number) const {
  const auto& r = records_[slot];
  if (epoch < r.epoch) return arrival::fenced;
  if (r.unknown) return arrival::unknown;
  if (r.finished || number < r.next) return arrival::repeated;
  return number == r.next ? arrival::next : arrival::too_early;
}

void slot_ledger::take(std::uint32_t slot, push_number number, bool last) {
  auto& r = records_[slot];
  assert(number == r.next && !r.finished);
  if (!last) {
    ++r.next.index;
    return;
  }
  const auto left = r.next.clock;
  r.next = {left + 1, 0};
  update_slowest(left);
}

void slot_ledger::finish(std::uint32_t slot) {
  auto& r = records_[slot];
  assert(!r.finished);
  r.finished = true;
  update_slowest(r.next.clock);
}

bool slot_ledger::adopt(std::uint32_t slot, std::uint64_t epoch) {
  auto& r = records_[slot];
  if (epoch < r.epoch) return false;
  r.epoch = epoch;
  return true;
}

std::uint32_t slot_ledger::beyond(std::uint64_t clock) const {
  std::uint32_t count = 0;
  for (const auto& r : records_) count += r.next.clock > clock ? 1 : 0;
  return count;
}

std::vector<std::uint32_t> slot_ledger::below(std::uint64_t clock, std::size_t limit) const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < records_.size() && slots.size() < limit; ++slot)
    if (!records_[slot].finished && records_[slot].next.clock < clock) slots.push_back(slot);
  return slots;
}

void slot_ledger::set(std::uint32_t slot, slot_record r) {
  r.epoch = std::max(r.epoch, records_[slot].epoch);
  records_[slot] = r;
  recount();
}

void slot_ledger::set_base(std::uint32_t slot, push_number next) {
  auto& r = records_[slot];
  r.unknown = false;
  r.next = next;
  recount();
}

void slot_ledger::raise_unknown(std::uint32_t slot, std::uint64_t clock) {
  auto& r = records_[slot];
  if (!r.unknown || clock <= r.next.clock) return;
  r.next = {clock, 0};
  recount();
}

// A slot has left clock `left`. The minimum is recounted only when the last slot leaves it.
void slot_ledger::update_slowest(std::uint64_t left) {
  if (left != slowest_ || --at_slowest_ > 0) return;
  recount();
}

void slot_ledger::recount() {
  slowest_ = nobody;
  at_slowest_ = 0;
  for (const auto& r : records_) {
    if (r.finished) continue;
    if (r.next.clock < slowest_) {
      slowest_ = r.next.clock;
      at_slowest_ = 0;
    }
    if (r.next.clock == slowest_) ++at_slowest_;
  }
}

}  // namespace troupe
