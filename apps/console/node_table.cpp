#include "apps/console/node_table.hpp"

#include <algorithm>

#include "apps/console/totals.hpp"
#include "core/text.hpp"
#include "core/time.hpp"

namespace troupe::console {
namespace {

std::string joined_waits(const pb::NodeStatus& n) {
  std::string text;
  for (const auto& w : n.waiting_for()) text += (text.empty() ? "" : "; ") + w;
  return text;
}

std::string count_text(std::uint64_t n) {
  const auto x = static_cast<double>(n);
  if (n < 100000) return std::to_string(n);
  if (x < 1e6) return format("%.0fk", x / 1e3);
  if (x < 1e9) return format("%.1fM", x / 1e6);
  return format("%.1fG", x / 1e9);
}

}  // namespace

const char* phase_word(pb::JobStatus::Phase phase) {
  switch (phase) {
    case pb::JobStatus::GATHERING:
      return "gathering";
    case pb::JobStatus::STARTING:
      return "starting";
    case pb::JobStatus::TRAINING:
      return "training";
    case pb::JobStatus::EVALUATING:
      return "evaluating";
    case pb::JobStatus::SAVING:
      return "saving";
    case pb::JobStatus::FINISHED:
      return "finished";
    case pb::JobStatus::FAILED:
      return "failed";
    default:
      return "unknown";
  }
}

const char* state_word(pb::NodeStatus::State state) {
  switch (state) {
    case pb::NodeStatus::ABSENT:
      return "absent";
    case pb::NodeStatus::ALIVE:
      return "alive";
    case pb::NodeStatus::SUSPECTED:
      return "suspected";
    case pb::NodeStatus::DEAD:
      return "dead";
    case pb::NodeStatus::DRAINING:
      return "draining";
    case pb::NodeStatus::DRAINED:
      return "drained";
    default:
      return "unknown";
  }
}

std::string node_table(const pb::JobStatus& status, const name_of_node& name) {
  if (status.nodes().empty()) return {};
  auto text = format("%-16s %-10s %-9s %-9s %-9s %s\n", "node", "state", "last beat", "leads",
                     "keys", "waits for");
  for (const auto& n : status.nodes()) {
    const role_id role{n.role(), n.index()};
    auto called = name(role);
    if (called.empty()) called = to_string(role);
    const bool there = n.state() != pb::NodeStatus::ABSENT && n.state() != pb::NodeStatus::DEAD;
    const auto beat = there ? format("%.1f s", seconds_of(duration(n.silent_ns()))) : "-";
    const auto leads = format("%u %s", n.shards(),
                              n.role() == pb::SERVER ? (n.shards() == 1 ? "shard" : "shards")
                                                     : (n.shards() == 1 ? "slot" : "slots"));
    const auto keys = n.role() == pb::SERVER ? count_text(n.keys()) : std::string("-");
    const auto waits = joined_waits(n);
    auto line = format("%-16s %-10s %-9s %-9s %-9s %s", called.c_str(), state_word(n.state()),
                       beat.c_str(), leads.c_str(), keys.c_str(), waits.c_str());
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string clipped_table(const std::string& table, std::size_t width, std::size_t most) {
  std::string text;
  std::size_t lines = 0, left_out = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto end = std::min(table.find('\n', at), table.size());
    if (lines <= most)  // the first is that of headings
      text += table.substr(at, std::min(end - at, width)) + "\n";
    else
      ++left_out;
    ++lines;
    at = end + 1;
  }
  if (left_out > 0) text += format("and %zu more; 'troupe status' shows all\n", left_out);
  return text;
}

std::string cluster_report(const pb::JobStatus& status, const name_of_node& name) {
  const auto sum = totals_of(status);
  auto text = status.job() + ": " + phase_word(status.phase());
  if (!status.text().empty()) text += ": " + status.text();
  text += "\n";
  if (!status.waiting_for().empty()) {
    text += "  waiting for";
    for (const auto& w : status.waiting_for()) text += " " + w;
    text += "\n";
  }
  if (sum.clocks > 0)
    text += format("  progress    %llu of %llu clocks, %llu examples, staleness at most %llu\n",
                   static_cast<unsigned long long>(sum.clocks_done),
                   static_cast<unsigned long long>(sum.clocks),
                   static_cast<unsigned long long>(sum.examples),
                   static_cast<unsigned long long>(sum.max_staleness));
  if (status.view().number() > 0)
    text += format("  view        %llu.%llu: %d shards, %d segments\n",
                   static_cast<unsigned long long>(status.view().number() >> 32),
                   static_cast<unsigned long long>(status.view().number() & 0xffffffff),
                   status.view().shards_size(), status.view().last_size());
  if (status.checkpoint() > 0)
    text += format("  checkpoint  %llu\n", static_cast<unsigned long long>(status.checkpoint()));
  if (status.failovers() > 0 || status.generation() > 0)
    text += format("  survived    %u failovers, %u returns to a checkpoint\n", status.failovers(),
                   status.generation());
  text += node_table(status, name);
  constexpr int most_slots = 32;
  if (!status.slots().empty()) text += "slot  clock                 waits for\n";
  for (int i = 0; i < std::min(status.slots_size(), most_slots); ++i) {
    const auto& s = status.slots(i);
    const auto clocks = format("%llu of %llu", static_cast<unsigned long long>(s.clock()),
                               static_cast<unsigned long long>(s.clocks()));
    text += format("%-5u %-21s %s\n", s.slot(), clocks.c_str(),
                   s.finished() ? "(finished)" : s.waiting_for().c_str());
  }
  if (status.slots_size() > most_slots)
    text += format("      and %d more slots; --json shows all\n", status.slots_size() - most_slots);
  constexpr int most_events = 8;
  for (int i = std::max(0, status.events_size() - most_events); i < status.events_size(); ++i)
    text += format("  %7.1f s  ", seconds_of(duration(status.events(i).at_ns()))) +
            status.events(i).text() + "\n";
  return text;
}

json cluster_json(const pb::JobStatus& status, const name_of_node& name) {
  const auto sum = totals_of(status);
  std::vector<json> nodes, slots, events, shards;
  for (const auto& n : status.nodes()) {
    const role_id role{n.role(), n.index()};
    std::vector<json> waits;
    for (const auto& w : n.waiting_for()) waits.push_back(json::of(w));
    json_object o;
    o.add("name", json::of(name(role)))
        .add("role", json::of(n.role() == pb::SERVER ? "server" : "worker"))
        .add("index", json::of(std::uint64_t{n.index()}))
        .add("incarnation", json::of(n.incarnation()))
        .add("state", json::of(state_word(n.state())))
        .add("last_beat_seconds", json::of(seconds_of(duration(n.silent_ns()))))
        .add(n.role() == pb::SERVER ? "shards" : "slots", json::of(std::uint64_t{n.shards()}))
        .add("keys", json::of(n.keys()))
        .add("rows", json::of(n.rows()))
        .add("waiting_for", json::array(waits));
    nodes.push_back(o.value());
  }
  for (const auto& s : status.slots()) {
    json_object o;
    o.add("slot", json::of(std::uint64_t{s.slot()}))
        .add("epoch", json::of(s.epoch()))
        .add("clock", json::of(s.clock()))
        .add("clocks", json::of(s.clocks()))
        .add("examples", json::of(s.examples()))
        .add("max_staleness", json::of(s.max_staleness()))
        .add("finished", json::of(s.finished()))
        .add("waiting_for", json::of(s.waiting_for()));
    slots.push_back(o.value());
  }
  for (const auto& shard : status.view().shards()) {
    std::vector<json> chain;
    for (const auto server : shard.chain()) chain.push_back(json::of(std::uint64_t{server}));
    std::uint64_t segments = 0;
    for (const auto owner : status.view().shard()) segments += owner == shard.number() ? 1 : 0;
    json_object o;
    o.add("shard", json::of(std::uint64_t{shard.number()}))
        .add("epoch", json::of(shard.epoch()))
        .add("chain", json::array(chain))
        .add("segments", json::of(segments));
    shards.push_back(o.value());
  }
  for (const auto& e : status.events()) {
    json_object o;
    o.add("seconds", json::of(seconds_of(duration(e.at_ns())))).add("text", json::of(e.text()));
    events.push_back(o.value());
  }
  json_object all;
  all.add("job", json::of(status.job()))
      .add("phase", json::of(phase_word(status.phase())))
      .add("text", json::of(status.text()))
      .add("clocks_done", json::of(sum.clocks_done))
      .add("clocks", json::of(sum.clocks))
      .add("examples", json::of(sum.examples))
      .add("max_staleness", json::of(sum.max_staleness))
      .add("view", json::of(status.view().number()))
      .add("checkpoint", json::of(status.checkpoint()))
      .add("failovers", json::of(std::uint64_t{status.failovers()}))
      .add("generation", json::of(std::uint64_t{status.generation()}))
      .add("nodes", json::array(nodes))
      .add("shards", json::array(shards))
      .add("slots", json::array(slots))
      .add("events", json::array(events));
  return all.value();
}

}  // namespace troupe::console
