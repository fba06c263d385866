#include "sim/record/recorder.hpp"

#include "core/text.hpp"

namespace troupe::sim {
namespace {

enum digested_event : std::uint32_t {
  turn_began,
  turn_ended,
  departed,
  arrived,
  lost,
  doubled_up,
  befell,
  looked
};

}  // namespace

recorder::recorder(const cast_of_nodes& cast, std::vector<std::string> zones, trace_sink* trace)
    : trace_(trace),
      states_(cast.size()),
      nodes_(cast.size()),
      columns_(cast.size(), std::chrono::microseconds(100)) {
  for (node_number n = 0; n < cast.size(); ++n) {
    nodes_[n].name = to_string(cast.role(n));
    nodes_[n].zone = n < zones.size() ? zones[n] : "";
  }
}

message_kind recorder::kind(std::string_view name) {
  const auto [found, fresh] =
      kind_numbers_.emplace(std::string(name), static_cast<message_kind>(kind_names_.size()));
  if (fresh) {
    kind_names_.emplace_back(name);
    kinds_.emplace_back();
  }
  return found->second;
}

void recorder::account(node_number n, instant now) {
  auto& s = states_[n];
  if (now.ns <= s.since.ns) return;
  const auto what = s.busy              ? activity::compute
                    : s.on_the_wire > 0 ? activity::transfer
                                        : activity::wait;
  auto& times = nodes_[n].times;
  (what == activity::compute    ? times.compute
   : what == activity::transfer ? times.transfer
                                : times.wait) += now - s.since;
  columns_.add(n, what, s.since.ns, now.ns);
  if (trace_ != nullptr)
    trace_->did(n, what, what == activity::compute ? kind_names_[s.works_on] : "", s.since, now);
  s.since = now;
}

void recorder::wire(node_number n, int change, instant now) {
  auto& s = states_[n];
  const bool matters = !s.busy && (s.on_the_wire == 0 || (s.on_the_wire == 1 && change < 0));
  if (matters) account(n, now);
  s.on_the_wire = static_cast<std::uint32_t>(static_cast<int>(s.on_the_wire) + change);
}

void recorder::turn_begins(node_number n, message_kind by, instant now) {
  account(n, now);
  states_[n].busy = true;
  states_[n].works_on = by;
  digest(turn_began, n, 0, by, 0, now);
}

void recorder::turn_ends(node_number n, instant now) {
  account(n, now);
  states_[n].busy = false;
  digest(turn_ended, n, 0, 0, 0, now);
}

void recorder::departs(node_number from, node_number to, message_kind k, std::uint64_t bytes,
                       instant now) {
  wire(from, 1, now);
  wire(to, 1, now);
  ++nodes_[from].messages_sent;
  nodes_[from].bytes_sent += bytes;
  ++kinds_[k].messages;
  kinds_[k].bytes += bytes;
  digest(departed, from, to, k, bytes, now);
}

void recorder::arrives(node_number from, node_number to, message_kind k, std::uint64_t bytes,
                       instant now) {
  wire(from, -1, now);
  wire(to, -1, now);
  ++nodes_[to].messages_received;
  nodes_[to].bytes_received += bytes;
  digest(arrived, from, to, k, bytes, now);
}

void recorder::lost_at_departure(node_number from, node_number to, message_kind k,
                                 std::uint64_t bytes, instant now) {
  ++nodes_[from].messages_sent;
  nodes_[from].bytes_sent += bytes;
  ++kinds_[k].messages;
  kinds_[k].bytes += bytes;
  ++kinds_[k].lost;
  digest(lost, from, to, k, bytes, now);
}

void recorder::lost_on_the_way(node_number from, node_number to, message_kind k, instant now) {
  wire(from, -1, now);
  wire(to, -1, now);
  ++kinds_[k].lost;
  digest(lost, from, to, k, 0, now);
}

void recorder::doubled(node_number to, message_kind k, instant now) {
  ++kinds_[k].duplicated;
  digest(doubled_up, to, 0, k, 0, now);
}

void recorder::befalls(node_number n, std::string text, instant now) {
  digest(befell, n, 0, 0, xxh64(text, 0), now);
  if (trace_ != nullptr) trace_->befell(n, text, now);
  if (events_.size() < most_events)
    events_.push_back({duration(now.ns), n < nodes_.size() ? nodes_[n].name : "", std::move(text)});
  else
    ++events_dropped_;
}

void recorder::looks(objective_point point) {
  digest(looked, 0, 0, 0, point.clocks, {point.at.count()});
  if (trace_ != nullptr) trace_->objective(point.objective, {point.at.count()});
  objective_.push_back(point);
}

void recorder::digest(std::uint32_t what, node_number a, node_number b, message_kind k,
                      std::uint64_t bytes, instant now) {
  pending_[pending_count_++] = {now.ns, what, a, b, k, bytes};
  if (pending_count_ == pending_.size()) flush_digest();
}

void recorder::flush_digest() {
  hash_.add(pending_.data(), pending_count_ * sizeof(digested));
  pending_count_ = 0;
}

run_record recorder::result(instant now) {
  run_record r;
  for (node_number n = 0; n < states_.size(); ++n) account(n, now);
  flush_digest();
  r.virtual_time = duration(now.ns);
  r.nodes = nodes_;
  r.bars = columns_.result();
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    if (kinds_[k].messages > 0) r.by_kind[kind_names_[k]] = kinds_[k];
  r.objective = objective_;
  r.events = events_;
  r.events_dropped = events_dropped_;
  r.trace_digest = format("%016llx", static_cast<unsigned long long>(hash_.digest()));
  return r;
}

}  // namespace troupe::sim
