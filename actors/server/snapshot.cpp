#include "actors/server/snapshot.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

snapshot::snapshot(const std::vector<std::shared_ptr<table>>& tables, bool with_state)
    : tables_(tables),
      with_state_(with_state),
      kept_(tables.size()),
      kept_already_(tables.size()) {}

void snapshot::note(std::size_t t, const overwritten::run& run) {
  if (t < table_) return;
  auto& already = kept_already_[t];
  const auto value_bytes = tables_[t]->spec().row_bytes(), state_bytes = tables_[t]->state_bytes();
  overwritten::run kept;
  auto absent = run.absent.begin();
  for (std::size_t i = 0; i < run.positions.size(); ++i) {
    const auto p = run.positions[i];
    const bool made = absent != run.absent.end() && *absent == i;
    if (made) ++absent;
    if ((t == table_ && p < from_) || !already.insert(p).second) continue;
    if (made) kept.absent.push_back(static_cast<std::uint32_t>(kept.positions.size()));
    kept.positions.push_back(p);
    const auto* value = run.values.data() + i * value_bytes;
    kept.values.insert(kept.values.end(), value, value + value_bytes);
    if (run.state.empty()) continue;
    const auto* state = run.state.data() + i * state_bytes;
    kept.state.insert(kept.state.end(), state, state + state_bytes);
  }
  if (!kept.positions.empty()) kept_[t].add(std::move(kept));
}

std::optional<snapshot::piece> snapshot::next() {
  if (table_ == tables_.size()) return std::nullopt;
  const auto& t = *tables_[table_];
  piece p;
  p.table = table_;
  p.rows = t.read_range({from_, all_keys.last}, t.rows_for_reading(), with_state_);
  const auto next = p.rows.next;
  kept_[table_].take_back(t.spec().row_bytes(), with_state_ ? t.state_bytes() : 0, p.rows);
  p.last = !next;
  if (next) {
    from_ = *next;
    return p;
  }
  kept_[table_].clear();
  kept_already_[table_].clear();
  ++table_;
  from_ = 0;
  return p;
}

}  // namespace troupe
