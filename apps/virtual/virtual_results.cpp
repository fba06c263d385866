#include "apps/virtual/virtual_results.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace troupe {
namespace {

using console::json;
using console::json_object;

double share(duration part, duration whole) {
  return whole.count() == 0
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

json seconds(duration d) {
  return json::of(seconds_of(d));
}

json traffic_json(const char* a, const std::string& name, const char* b, const std::string& other,
                  const sim::traffic& t) {
  json_object o;
  o.add(a, json::of(name));
  if (b != nullptr) o.add(b, json::of(other));
  o.add("messages", json::of(t.messages));
  o.add("bytes", json::of(t.bytes));
  o.add("lost", json::of(t.lost));
  o.add("duplicated", json::of(t.duplicated));
  return o.value();
}

json kinds_json(const sim::run_record& run) {
  std::vector<json> items;
  for (const auto& [kind, t] : run.by_kind)
    items.push_back(traffic_json("kind", kind, nullptr, "", t));
  return json::array(items);
}

json links_json(const sim::run_record& run, std::size_t most) {
  using entry = std::pair<std::pair<std::string, std::string>, sim::traffic>;
  std::vector<entry> all(run.by_link.begin(), run.by_link.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const entry& a, const entry& b) { return a.second.bytes > b.second.bytes; });
  if (all.size() > most) all.resize(most);
  std::vector<json> items;
  for (const auto& [ends, t] : all)
    items.push_back(traffic_json("from", ends.first, "to", ends.second, t));
  return json::array(items);
}

json nodes_json(const sim::run_record& run) {
  std::vector<json> items;
  for (const auto& n : run.nodes) {
    json_object o;
    o.add("node", json::of(n.name));
    if (!n.zone.empty()) o.add("zone", json::of(n.zone));
    o.add("compute_seconds", seconds(n.times.compute));
    o.add("transfer_seconds", seconds(n.times.transfer));
    o.add("wait_seconds", seconds(n.times.wait));
    o.add("messages_sent", json::of(n.messages_sent));
    o.add("bytes_sent", json::of(n.bytes_sent));
    o.add("messages_received", json::of(n.messages_received));
    o.add("bytes_received", json::of(n.bytes_received));
    o.add("restarts", json::of(n.restarts));
    items.push_back(o.value());
  }
  return json::array(items);
}

json objective_json(const sim::run_record& run) {
  std::vector<json> items;
  for (const auto& p : run.objective) {
    json_object o;
    o.add("seconds", seconds(p.at));
    o.add("clocks", json::of(p.clocks));
    o.add("examples", json::of(p.examples));
    o.add("objective", json::of(p.objective));
    items.push_back(o.value());
  }
  return json::array(items);
}

json events_json(const sim::run_record& run) {
  std::vector<json> items;
  for (const auto& e : run.events) {
    json_object o;
    o.add("seconds", seconds(e.at));
    o.add("node", json::of(e.node));
    o.add("event", json::of(e.text));
    items.push_back(o.value());
  }
  return json::array(items);
}

json target_json(const sim::run_record& run, const virtual_facts& facts) {
  if (facts.objective_target <= 0) return {};
  json_object o;
  o.add("objective", json::of(facts.objective_target));
  o.add("reached", json::of(facts.target_reached));
  const bool known = facts.target_reached && !run.objective.empty();
  o.add("seconds", known ? seconds(run.objective.back().at) : json());
  o.add("clocks", known ? json::of(run.objective.back().clocks) : json());
  o.add("examples", known ? json::of(run.objective.back().examples) : json());
  return o.value();
}

json shares_json(const sim::activity_times& t) {
  json_object o;
  o.add("compute", json::of(share(t.compute, t.total())));
  o.add("transfer", json::of(share(t.transfer, t.total())));
  o.add("wait", json::of(share(t.wait, t.total())));
  return o.value();
}

}  // namespace

sim::activity_times times_of_all(const sim::run_record& run, const std::string& role) {
  sim::activity_times sum;
  for (const auto& n : run.nodes)
    if (n.name.rfind(role, 0) == 0) {
      sum.compute += n.times.compute;
      sum.transfer += n.times.transfer;
      sum.wait += n.times.wait;
    }
  return sum;
}

std::string virtual_summary(const sim::run_record& run, const virtual_facts& facts) {
  std::string text;
  const auto line = [&text](const char* label, const std::string& rest) {
    text += format("  %-12s", label) + rest + "\n";
  };
  const auto all = run.all();
  line("virtual",
       human_seconds(seconds_of(run.virtual_time)) + " of virtual time; " +
           human_count(run.engine_events) + " events, " +
           human_count(static_cast<std::uint64_t>(
               facts.wall_seconds > 0 ? static_cast<double>(run.engine_events) / facts.wall_seconds
                                      : 0)) +
           " a second of real time");
  for (const char* role : {"worker", "server"}) {
    const auto t = times_of_all(run, role);
    line(role == std::string("worker") ? "workers" : "servers",
         format("computed %.1f%%, transferred %.1f%%, waited %.1f%% of their time",
                100 * share(t.compute, t.total()), 100 * share(t.transfer, t.total()),
                100 * share(t.wait, t.total())));
  }
  line("network", human_count(all.messages) + " messages, " +
                      human_bytes(static_cast<double>(all.bytes)) +
                      (all.lost > 0 ? ", " + human_count(all.lost) + " lost" : "") +
                      (all.duplicated > 0 ? ", " + human_count(all.duplicated) + " doubled" : ""));
  if (facts.objective_target > 0) {
    if (facts.target_reached && !run.objective.empty())
      line("target", format("objective %g reached after ", facts.objective_target) +
                         human_seconds(seconds_of(run.objective.back().at)) + ", " +
                         human_count(run.objective.back().clocks) + " clocks");
    else
      line("target", format("objective %g not reached", facts.objective_target));
  }
  line("trace", "digest " + run.trace_digest);
  return text;
}

std::vector<std::pair<std::string, console::json>> virtual_json(const sim::run_record& run,
                                                                const virtual_facts& facts,
                                                                std::size_t most_links) {
  const auto all = run.all();
  json_object o;
  o.add("seconds", seconds(run.virtual_time));
  o.add("trace_digest", json::of(run.trace_digest));
  o.add("engine_events", json::of(run.engine_events));
  o.add("messages", json::of(all.messages));
  o.add("bytes", json::of(all.bytes));
  o.add("lost", json::of(all.lost));
  o.add("duplicated", json::of(all.duplicated));
  o.add("workers", shares_json(times_of_all(run, "worker")));
  o.add("servers", shares_json(times_of_all(run, "server")));
  o.add("target", target_json(run, facts));
  o.add("objective", objective_json(run));
  o.add("by_kind", kinds_json(run));
  o.add("links", json::of(std::uint64_t{run.by_link.size()}));
  o.add("by_link", links_json(run, most_links));
  o.add("nodes", nodes_json(run));
  o.add("events", events_json(run));
  o.add("events_dropped", json::of(run.events_dropped));
  return {{"virtual", o.value()}};
}

}  // namespace troupe
