#include "apps/console/result_json.hpp"

#include "apps/console/json.hpp"
#include "apps/console/totals.hpp"
#include "apps/console/traffic.hpp"

namespace troupe::console {
namespace {

// Always present, so that a reader of results never has to ask whether a member exists.
constexpr const char* expected_metrics[] = {"objective", "train_logloss", "test_logloss",
                                            "test_auc", "test_accuracy"};

const char* outcome_of(const pb::JobStatus& status, const run_facts& facts) {
  if (status.interrupted()) return "interrupted";
  if (status.phase() == pb::JobStatus::FINISHED && facts.exit_code == 0) return "finished";
  return "failed";
}

std::string table_name(const pb::TableSummary& table, const run_facts& facts) {
  if (table.table() < facts.table_names.size()) return facts.table_names[table.table()];
  return std::to_string(table.table());
}

json tables_of(const pb::JobStatus& status, const run_facts& facts) {
  std::vector<json> items;
  for (const auto& table : status.tables()) {
    json_object o;
    o.add("name", json::of(table_name(table, facts)));
    o.add("rows", json::of(std::uint64_t{table.rows()}));
    o.add("nonzeros", json::of(std::uint64_t{table.nonzeros()}));
    o.add("l1", json::of(table.l1()));
    o.add("l2", json::of(table.l2()));
    o.add("live_bytes", json::of(std::uint64_t{table.live_bytes()}));
    o.add("rejected", json::of(std::uint64_t{table.rejected()}));
    items.push_back(o.value());
  }
  return json::array(items);
}

json counts_of(const std::vector<std::uint64_t>& counts) {
  std::vector<json> items;
  for (const auto count : counts) items.push_back(json::of(count));
  return json::array(items);
}

json traffic_of(const pb::JobStatus& status, const run_facts& facts) {
  std::vector<json> items;
  for (const auto& t : console::traffic_of(status)) {
    const auto& steps = t.pulls ? facts.pull_steps : facts.push_steps;
    json_object o;
    o.add("table", t.table < facts.table_names.size() ? json::of(facts.table_names[t.table])
                                                      : json::of(std::uint64_t{t.table}));
    o.add("direction", json::of(std::string(t.pulls ? "pull" : "push")));
    o.add("server", json::of(std::uint64_t{t.server}));
    o.add("messages", json::of(t.messages));
    std::vector<json> names;
    if (t.table < steps.size())
      for (const auto& name : steps[t.table]) names.push_back(json::of(name));
    o.add("steps", json::array(names));
    o.add("sent_by_workers", counts_of(t.sent));
    o.add("sent_by_servers", counts_of(t.received));
    items.push_back(o.value());
  }
  return json::array(items);
}

// Over all tables, directions and servers: before any filter, and as sent.
json filtered_of(const pb::JobStatus& status) {
  const auto first = [](const auto& counts) { return counts.empty() ? 0 : counts.front(); };
  const auto last = [](const auto& counts) { return counts.empty() ? 0 : counts.back(); };
  std::uint64_t before[2] = {0, 0}, sent[2] = {0, 0};  // by workers, by servers
  for (const auto& t : console::traffic_of(status)) {
    before[0] += first(t.sent);
    sent[0] += last(t.sent);
    before[1] += first(t.received);
    sent[1] += last(t.received);
  }
  const auto both = [](std::uint64_t raw, std::uint64_t left) {
    json_object o;
    o.add("before", json::of(raw));
    o.add("sent", json::of(left));
    return o.value();
  };
  json_object o;
  o.add("by_workers", both(before[0], sent[0]));
  o.add("by_servers", both(before[1], sent[1]));
  o.add("by_both", both(before[0] + before[1], sent[0] + sent[1]));
  return o.value();
}

json slots_of(const pb::JobStatus& status) {
  std::vector<json> items;
  for (const auto& slot : status.slots()) {
    json_object o;
    o.add("slot", json::of(std::uint64_t{slot.slot()}));
    o.add("examples", json::of(std::uint64_t{slot.examples()}));
    o.add("clocks", json::of(std::uint64_t{slot.clock()}));
    o.add("finished", json::of(slot.finished()));
    o.add("waited_seconds", json::of(static_cast<double>(slot.waited_ns()) * 1e-9));
    o.add("max_staleness", json::of(std::uint64_t{slot.max_staleness()}));
    o.add("rejected_updates", json::of(std::uint64_t{slot.rejected()}));
    items.push_back(o.value());
  }
  return json::array(items);
}

json histogram_of(const totals& sum) {
  std::vector<json> items;
  for (const auto pulls : sum.staleness) items.push_back(json::of(pulls));
  return json::array(items);
}

void add_metrics(json_object& o, const pb::JobStatus& status) {
  for (const auto* name : expected_metrics) o.add(name, json::of(metric(status, name)));
  for (const auto& m : status.metrics())
    if (!o.has(m.name())) o.add(m.name(), json::of(metric(status, m.name())));
}

}  // namespace

std::string json_result(const pb::JobStatus& status, const run_facts& facts,
                        const std::vector<std::pair<std::string, json>>& more) {
  const auto sum = totals_of(status);
  json_object o;
  o.add("job", json::of(facts.job));
  o.add("outcome", json::of(outcome_of(status, facts)));
  o.add("exit_code", json::of(std::int64_t{facts.exit_code}));
  o.add("error", facts.failure.empty() ? json() : json::of(facts.failure));
  add_metrics(o, status);
  const auto add = [&o](const char* name, const json& value) {
    if (!o.has(name)) o.add(name, value);  // a metric of that name has said it already
  };
  add("nonzeros", status.tables().empty() ? json() : json::of(sum.nonzeros));
  add("train_progressive_loss", json::of(sum.mean_loss()));
  add("examples", json::of(sum.examples));
  add("seconds", sum.training_seconds > 0 ? json::of(sum.training_seconds) : json());
  add("examples_per_second", json::of(sum.examples_per_second()));
  add("wall_seconds", json::of(facts.wall_seconds));
  add("bytes_pushed", json::of(sum.bytes_pushed));
  add("bytes_pulled", json::of(sum.bytes_pulled));
  add("restarts", json::of(std::uint64_t{status.restarts()}));
  add("failovers", json::of(std::uint64_t{status.failovers()}));
  add("generation", json::of(std::uint64_t{status.generation()}));
  add("checkpoint", json::of(status.checkpoint()));
  add("rejected_updates", json::of(sum.rejected));
  add("max_staleness", json::of(sum.max_staleness));
  add("staleness_histogram", histogram_of(sum));
  add("model_digest", facts.model_digest.empty() ? json() : json::of(facts.model_digest));
  add("model_folder", facts.model_folder.empty() ? json() : json::of(facts.model_folder));
  add("seed", json::of(facts.seed));
  add("workers", json::of(std::uint64_t{facts.workers}));
  add("servers", json::of(std::uint64_t{facts.servers}));
  add("epochs", json::of(facts.epochs));
  add("minibatch", facts.minibatch > 0 ? json::of(facts.minibatch) : json());
  add("staleness", json::of(facts.staleness));
  add("train_rows", json::of(facts.train_rows));
  add("test_rows", json::of(facts.test_rows));
  add("validation_rows", json::of(facts.validation_rows));
  add("dropped_negatives", json::of(facts.dropped_negatives));
  add("evaluations", json::of(std::uint64_t{status.latest().number()}));
  add("best_evaluation",
      status.best().number() > 0 ? json::of(std::uint64_t{status.best().number()}) : json());
  add("stopped_early", json::of(status.stopped_early()));
  add("converged", json::of(status.converged()));
  add("traffic", traffic_of(status, facts));
  add("filtered", filtered_of(status));
  add("features", facts.features > 0 ? json::of(facts.features) : json());
  add("tables", tables_of(status, facts));
  add("slots", json::of(std::uint64_t{facts.slots}));
  add("slot_details", slots_of(status));
  for (const auto& [name, value] : more) o.add(name, value);
  return o.page();
}

}  // namespace troupe::console
