// The shard's other half: its place in the chain, what it passes on and what it is passed, and what
// waits for that.

#include <algorithm>
#include <cstring>

#include "actors/server/shard.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Takes bytes off the front of a blob, or finds that there are too few.
class taker {
 public:
  explicit taker(const blob& of) : rest_(of.data(), of.size()) {}
  const std::byte* take(std::uint64_t count, std::uint64_t each) {
    if (each != 0 && count > rest_.size() / each) return nullptr;
    const auto* at = rest_.data();
    rest_ = rest_.subspan(count * each, rest_.size() - count * each);
    return at == nullptr ? &nothing_ : at;
  }
  bool empty() const { return rest_.size() == 0; }

 private:
  span<const std::byte> rest_;
  std::byte nothing_{};
};

}  // namespace

// ---- passing on

void shard::changed(instant now) {
  ++sequence_;
  if (link_) link_->note_change(now);
}

std::uint64_t shard::committed() const {
  return link_ && link_->gates() ? std::min(link_->acknowledged(), sequence_) : sequence_;
}

void shard::when_committed(unacknowledged u, answers&) {
  unacknowledged_.push_back(std::move(u));
}

// Answers what all copies have by now. A primary that has no leave to answer does not.
void shard::release(instant now, answers& out) {
  const bool early = planted("acknowledge-early") && place_.primary;
  const auto have = early ? sequence_ : committed();
  if (place_.primary && !serves(now)) return;
  while (!unacknowledged_.empty() && unacknowledged_.front().sequence <= have) {
    auto u = std::move(unacknowledged_.front());
    unacknowledged_.pop_front();
    if (u.push) out.pushes.push_back(std::move(*u.push));
    if (u.adopt) out.adoptions.push_back(std::move(*u.adopt));
    if (u.copy) out.copies.push_back(std::move(*u.copy));
  }
  release_pulls(out);
  unpark(now, out);
}

void shard::send_changes(instant now, answers& out) {
  if (!link_ || loading_ || !begun_) return;
  link_->on_time(now);
  const auto due = link_->due();
  if (!due || now < *due) return;
  std::vector<position> chunk;
  std::optional<copy_link::walk> next;
  std::size_t row_bytes = 0;
  if (const auto at = link_->chunk_due(now); at && complete_) {
    next = *at;
    next->begun = true;
    if (at->table < tables_.size()) {
      const auto& t = *tables_[at->table];
      row_bytes = t.spec().row_bytes() + t.state_bytes();
      // Large tables in few pieces: where positions crowd, each read passes over all of them.
      const auto limit = std::max<std::uint64_t>(
          {1, settings_.copies.chunk / (sizeof(position) + row_bytes), t.rows() / 256});
      auto rows = t.read_range({at->from, all_keys.last}, limit);
      chunk = std::move(rows.positions);
      next->from = rows.next.value_or(0);
      if (!rows.next) ++next->table;
    }
    next->over = next->table >= tables_.size();
  } else if (link_->joins() && !link_->begun()) {
    return;  // it can begin only when what is here is whole
  }
  const auto& cargo = link_->take(sequence_, now, chunk, next, row_bytes);
  if (next)
    pass(cargo.begins     ? landmark::hand_over_begins
         : cargo.complete ? landmark::hand_over_ends
                          : landmark::hand_over_goes_on);
  out.changes.push_back(message_of(cargo, cargo.complete));
}

copy_message shard::message_of(const copy_link::cargo& cargo, bool complete) const {
  copy_message m;
  m.to = link_->to();
  auto& h = m.header;
  h.set_shard(number_);
  h.set_epoch(place_.epoch);
  h.set_number(cargo.number);
  h.set_sequence(cargo.sequence);
  h.set_version(version_);
  h.set_begins(cargo.begins);
  h.set_complete(complete);
  if (complete)
    for (std::uint32_t slot = 0; slot < ledger_.slots(); ++slot) *h.add_slots() = record_of(slot);
  else
    for (const auto slot : cargo.slots) *h.add_slots() = record_of(slot);
  std::size_t key_bytes = 0, row_bytes = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto rows = cargo.rows[t].size() / sizeof(position);
    key_bytes += rows * sizeof(position);
    row_bytes += rows * (tables_[t]->spec().row_bytes() + tables_[t]->state_bytes());
    auto* of = h.add_tables();
    of->set_rows(rows);
    of->set_rejected(rejected_[t]);
    if (!complete) continue;
    for (const auto& run : before_[t].runs()) {
      auto* o = h.add_overwritten();
      o->set_table(static_cast<std::uint32_t>(t));
      o->set_rows(run.positions.size());
      o->set_with_state(!run.state.empty());
      for (const auto index : run.absent) o->add_absent(index);
      key_bytes += run.positions.size() * sizeof(position);
      row_bytes += run.values.size() + run.state.size();
    }
  }
  // The positions of one table alone are sent as they came.
  const blob* only = nullptr;
  for (const auto& of : cargo.rows)
    if (of.size() == key_bytes && key_bytes > 0) only = &of;
  auto [keys, key_out] = blob::uninitialised(only == nullptr ? key_bytes : 0);
  auto [rows, row_out] = blob::uninitialised(row_bytes);
  const auto put = [](std::byte*& to, const void* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  };
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto positions = cargo.rows[t].as<position>();
    if (only == nullptr) put(key_out, positions.data(), positions.size() * sizeof(position));
    auto* values = row_out;
    row_out += positions.size() * tables_[t]->spec().row_bytes();
    auto* state = row_out;
    row_out += positions.size() * tables_[t]->state_bytes();
    (void)tables_[t]->copy_out(positions, values, state, nullptr);
    if (planted("hand-over-forgets-state") && link_->joins())
      std::fill(state, row_out, std::byte{});
    meter_.add(work::keys_pulled, positions.size());
  }
  if (complete)
    for (const auto& before : before_)
      for (const auto& run : before.runs()) {
        put(key_out, run.positions.data(), run.positions.size() * sizeof(position));
        put(row_out, run.values.data(), run.values.size());
        put(row_out, run.state.data(), run.state.size());
      }
  m.keys = only == nullptr ? std::move(keys) : *only;
  m.rows = std::move(rows);
  return m;
}

void shard::on_copied(std::uint64_t number, const pb::CopyReply& reply, instant now, answers& out) {
  if (!link_) return;
  if (reply.outcome() == pb::DONE) {
    if (link_->on_acknowledged(number, now)) pass(landmark::copy_confirmed);
    if (still()) pass(landmark::shard_still);
  } else {
    link_->on_failure(number,
                      reply.text().empty() ? pb::Outcome_Name(reply.outcome()) : reply.text(), now);
  }
  send_changes(now, out);
  release(now, out);
}

void shard::on_copy_failure(std::uint64_t number, const std::string& why, instant now, answers&) {
  if (link_) link_->on_failure(number, why, now);
}

// ---- being passed

void shard::on_copy(asker from, const pb::CopyHeader& header, const blob& keys, const blob& rows,
                    instant now, answers& out) {
  const auto answer = [&](pb::CopyReply reply) {
    reply.set_number(header.number());
    out.copies.push_back({from, std::move(reply)});
  };
  if (header.epoch() > place_.epoch)
    return answer(with_outcome<pb::CopyReply>(pb::LATER, "has an older view"));
  if (header.epoch() < place_.epoch || place_.primary) return answer(stale<pb::CopyReply>());
  if (loading_)
    return answer(with_outcome<pb::CopyReply>(pb::LATER, "its rows are being replaced"));
  if (!begun_ && !header.begins())
    return answer(with_outcome<pb::CopyReply>(pb::BAD_REQUEST, "it is empty and must be filled"));
  const bool next = header.number() > last_message_;  // else it comes late, or again
  if (next || planted("replica-out-of-order")) {
    if (auto wrong = put_copied(header, keys, rows))
      return answer(with_outcome<pb::CopyReply>(pb::BAD_REQUEST, std::move(*wrong)));
    last_message_ = header.number();
    sequence_ = header.sequence();
    if (link_) link_->note_change(now);
    pass(header.complete() ? landmark::copy_filled : landmark::copy_applied);
  }
  auto reply = with_outcome<pb::CopyReply>(pb::DONE);
  reply.set_number(header.number());
  constexpr duration hold = std::chrono::seconds(1);
  when_committed({header.sequence(), now + hold, {}, {}, copy_answer{from, std::move(reply)}}, out);
  send_changes(now, out);
  release(now, out);
}

std::optional<std::string> shard::put_copied(const pb::CopyHeader& header, const blob& keys,
                                             const blob& rows) {
  const auto misfit = format("shard %u: changes that do not fit its tables", number_);
  if (header.tables_size() != static_cast<int>(tables_.size()) || !keys.divides<position>())
    return misfit;
  for (const auto& record : header.slots())
    if (record.slot() >= ledger_.slots()) return misfit;
  taker more_keys(keys), more_rows(rows);
  struct piece {
    span<const position> at;
    const std::byte *values, *state;
  };
  std::vector<piece> pieces;
  std::vector<blob> blobs;  // of positions
  for (int i = 0; i < header.tables_size(); ++i) {
    const auto& t = *tables_[static_cast<std::size_t>(i)];
    const auto count = header.tables(i).rows();
    const auto* at = more_keys.take(count, sizeof(position));
    const auto* values = more_rows.take(count, t.spec().row_bytes());
    const auto* state = more_rows.take(count, t.state_bytes());
    if (!at || !values || !state) return misfit;
    const auto* first = reinterpret_cast<const position*>(at);
    const span<const position> positions(first, count);
    const bool whole = count * sizeof(position) == keys.size();
    blobs.push_back(whole ? keys : blob::copy_of(positions));
    if (!strictly_ascending(positions) || !owns_all(positions)) return misfit;
    pieces.push_back({positions, values, state});
  }
  std::vector<overwritten> before(tables_.size());
  for (const auto& run : header.overwritten()) {
    if (run.table() >= tables_.size()) return misfit;
    const auto row = tables_[run.table()]->spec().row_bytes();
    // As it was kept: where a pull shows state, or a snapshot needs it.
    const auto state_row = run.with_state() ? tables_[run.table()]->state_bytes() : 0;
    const auto* at = more_keys.take(run.rows(), sizeof(position));
    const auto* values = more_rows.take(run.rows(), row);
    const auto* state = more_rows.take(run.rows(), state_row);
    if (!at || !values || !state) return misfit;
    overwritten::run r;
    const auto* positions = reinterpret_cast<const position*>(at);
    r.positions.assign(positions, positions + run.rows());
    r.values.assign(values, values + run.rows() * row);
    r.state.assign(state, state + run.rows() * state_row);
    for (const auto index : run.absent()) {
      if (index >= run.rows()) return misfit;
      r.absent.push_back(index);
    }
    before[run.table()].add(std::move(r));
  }
  if (!more_keys.empty() || !more_rows.empty()) return misfit;

  if (header.begins()) {
    clear_tables();
    begun_ = true;
    complete_ = false;
  }
  const bool next_version = header.version() > version_ && complete_ && bulk_synchronous();
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    auto& table = *tables_[t];
    const auto& p = pieces[t];
    if (next_version) {
      overwritten::run run;
      run.positions.assign(p.at.begin(), p.at.end());
      run.values.resize(p.at.size() * table.spec().row_bytes());
      if (table.shown_bytes() > 0) run.state.resize(p.at.size() * table.state_bytes());
      (void)table.copy_out(p.at, run.values.data(), run.state.empty() ? nullptr : run.state.data(),
                           &run.absent);
      before_[t].clear();
      before_[t].add(std::move(run));
    }
    meter_.add(work::keys_pushed, p.at.size());
    if (const auto done = table.put(p.at, p.values, p.state); !done) return done.failure().text;
    if (link_) link_->note_rows(t, blobs[t], table.spec().row_bytes() + table.state_bytes());
    rejected_[t] = header.tables(static_cast<int>(t)).rejected();
  }
  for (const auto& record : header.slots()) set_record(record);
  if (header.version() > version_) version_sequence_ = header.sequence();
  version_ = header.version();
  if (header.complete()) {
    before_ = std::move(before);
    complete_ = true;
  }
  return std::nullopt;
}

slot_record shard::applied(std::uint32_t slot) const {
  auto known = ledger_.record(slot);
  if (const auto oldest = gathering_.oldest_of(slot)) known.next = *oldest;
  return known;
}

void shard::roll_back() {
  for (std::uint32_t slot = 0; slot < ledger_.slots(); ++slot) ledger_.set(slot, applied(slot));
}

pb::SlotRecord shard::record_of(std::uint32_t slot) const {
  const bool taken_too = planted("gathered-counts-as-applied");
  const auto known = taken_too ? ledger_.record(slot) : applied(slot);
  pb::SlotRecord r;
  r.set_slot(slot);
  r.set_epoch(known.epoch);
  r.set_next_clock(known.next.clock);
  r.set_next_index(known.next.index);
  r.set_finished(known.finished);
  r.set_unknown(known.unknown);
  return r;
}

void shard::set_record(const pb::SlotRecord& r) {
  ledger_.set(r.slot(), {{r.next_clock(), r.next_index()}, r.epoch(), r.finished(), r.unknown()});
  if (link_) link_->note_slot(r.slot());
}

void shard::clear_tables() {
  for (const auto& t : tables_)
    for (const auto& range : ranges_) {
      t->remove_segment(range);
      t->add_segment(range);
    }
  for (auto& b : before_) b.clear();
  ledger_ = slot_ledger(settings_.slots);
  version_ = version_sequence_ = 0;
}

// ---- time

void shard::on_time(instant now, answers& out) {
  for (auto i = held_.begin(); i != held_.end();) {
    if (now < i->second.deadline) {
      ++i;
      continue;
    }
    pull_answer answer{i->second.from, with_outcome<pb::PullReply>(pb::WAITING), {}, {}};
    say_whom_for(answer.reply, i->first);
    if (answer.reply.waiting().empty()) answer.reply.set_text(waiting_for(now));
    out.pulls.push_back(std::move(answer));
    i = held_.erase(i);
  }
  for (const auto from : gathering_.expired(now)) {
    push_answer answer{from, with_outcome<pb::PushReply>(pb::WAITING)};
    say_whom_for(answer.reply, gathering_.first_clock() + 1);
    out.pushes.push_back(std::move(answer));
  }
  const auto why = parked_.empty() && unacknowledged_.empty() ? std::string() : waiting_for(now);
  for (auto i = parked_.begin(); i != parked_.end();) {
    if (now < i->deadline) {
      ++i;
      continue;
    }
    if (i->push) out.pushes.push_back({i->from, with_outcome<pb::PushReply>(pb::WAITING, why)});
    if (i->pull)
      out.pulls.push_back({i->from, with_outcome<pb::PullReply>(pb::WAITING, why), {}, {}});
    if (i->adopt) out.adoptions.push_back({i->from, with_outcome<pb::SlotNumbers>(pb::LATER, why)});
    i = parked_.erase(i);
  }
  for (auto i = unacknowledged_.begin(); i != unacknowledged_.end();) {
    if (now < i->deadline) {
      ++i;
      continue;
    }
    if (i->push) out.pushes.push_back({i->push->to, with_outcome<pb::PushReply>(pb::WAITING, why)});
    if (i->adopt)
      out.adoptions.push_back({i->adopt->to, with_outcome<pb::SlotNumbers>(pb::LATER, why)});
    if (i->copy) {
      auto reply = with_outcome<pb::CopyReply>(pb::LATER, why);
      reply.set_number(i->copy->reply.number());
      out.copies.push_back({i->copy->to, std::move(reply)});
    }
    i = unacknowledged_.erase(i);
  }
  send_changes(now, out);
  release(now, out);
}

std::optional<instant> shard::next_wake(instant now) const {
  std::optional<instant> next;
  const bool sends = link_ && begun_ && !loading_ && (complete_ || link_->begun());
  if (sends) next = link_->due();
  const bool waits = place_.primary && !parked_.empty() && now < place_.serves_from;
  if (waits && (!next || place_.serves_from < *next)) next = place_.serves_from;
  return next;
}

std::string shard::whom_copies_wait_for() const {
  return link_ ? format("waits for the copy of shard %u on server %u", number_, link_->to())
               : std::string();
}

std::string shard::trouble_behind(instant now, duration patience) const {
  if (!link_ || !link_->unanswered_since() || now - *link_->unanswered_since() <= patience)
    return {};
  return format("the copy on server %u has not answered for %.1f s%s%s", link_->to(),
                seconds_of(now - *link_->unanswered_since()), link_->trouble().empty() ? "" : ": ",
                link_->trouble().c_str());
}

std::string shard::waiting_for(instant now) const {
  if (place_.primary && !parked_.empty()) {
    if (now >= leased_until_) return format("shard %u waits for leave to answer", number_);
    if (now < place_.serves_from)
      return format("shard %u waits until an earlier primary's leave has run out", number_);
    return format("shard %u waits for its copies to be equal", number_);
  }
  if (committed() < sequence_) return whom_copies_wait_for();
  return {};
}

}  // namespace troupe
