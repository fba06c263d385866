#include "apps/console/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "apps/console/evaluation_line.hpp"
#include "apps/console/totals.hpp"
#include "apps/console/traffic.hpp"
#include "core/text.hpp"

namespace troupe::console {
namespace {

constexpr std::size_t label_width = 12;
constexpr std::size_t bar_cells = 30;

// Lines of "  label       text"; a label is said once for the lines that follow it.
class page {
 public:
  void add(const std::string& label, const std::string& text) {
    const auto shown = label == last_label_ ? std::string() : label;
    last_label_ = label;
    text_ += "  " + shown +
             std::string(label_width - std::min(label_width - 1, shown.size()), ' ') + text + "\n";
  }
  void headline(const std::string& text) { text_ += text + "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_, last_label_;
};

std::string counted(std::uint64_t count, const char* thing) {
  return human_count(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string bytes_of(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

std::string outcome_of(const pb::JobStatus& status, const run_facts& facts) {
  if (status.interrupted()) return "interrupted";
  if (status.phase() == pb::JobStatus::FINISHED && facts.exit_code == 0) return "finished";
  return "failed";
}

// "pr_auc" reads "PR AUC"; an unknown metric keeps its name, with spaces.
std::string metric_label(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (const auto at = name.find("auc"); at != std::string::npos) name.replace(at, 3, "AUC");
  if (name.rfind("pr ", 0) == 0) name.replace(0, 2, "PR");
  return name;
}

std::string figure(const pb::Metric* m) {
  if (m == nullptr) return "";
  if (!m->known() || !std::isfinite(m->value())) return "-";
  return format(std::abs(m->value()) < 1000 ? "%.5f" : "%.2f", m->value());
}

// A line to each metric, a column to each data set; what belongs to no data set comes first.
void add_metrics(page& p, const pb::JobStatus& status) {
  constexpr std::size_t column = 12;
  const std::vector<std::string> all_sets{"test", "validation", "train"};
  std::map<std::string, std::map<std::string, const pb::Metric*>> by_set;
  std::vector<std::string> names;
  std::size_t longest = 0;
  for (const auto& m : status.metrics()) {
    const auto cut = m.name().find('_');
    const auto set = m.name().substr(0, cut);
    if (cut == std::string::npos ||
        std::find(all_sets.begin(), all_sets.end(), set) == all_sets.end()) {
      p.add("quality", metric_label(m.name()) + "  " + figure(&m));
      continue;
    }
    const auto name = m.name().substr(cut + 1);
    by_set[set][name] = &m;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    longest = std::max(longest, name.size());
  }
  const auto line_of = [&](std::string text, const auto& cell) {
    text.resize(longest, ' ');
    for (const auto& set : all_sets) {
      if (by_set.count(set) == 0) continue;
      const std::string content = cell(set);
      text += std::string(column - std::min(column, content.size()), ' ') + content;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    p.add("quality", text);
  };
  if (names.empty()) return;
  line_of("", [](const std::string& set) { return set; });
  for (const auto& name : names)
    line_of(metric_label(name), [&](const std::string& set) {
      const auto found = by_set[set].find(name);
      return figure(found == by_set[set].end() ? nullptr : found->second);
    });
}

// Staleness 0, 1, 2, 3, and from there on by doubling ranges, so that a long tail stays a few
// lines.
struct staleness_range {
  std::size_t first = 0, last = 0;
  std::uint64_t pulls = 0;
};

std::vector<staleness_range> ranges_of(const std::vector<std::uint64_t>& staleness) {
  std::vector<staleness_range> ranges;
  for (std::size_t first = 0; first < staleness.size();) {
    const auto last = first < 4 ? first : 2 * first - 1;
    staleness_range r{first, last, 0};
    for (auto i = first; i <= last && i < staleness.size(); ++i) r.pulls += staleness[i];
    ranges.push_back(r);
    first = last + 1;
  }
  return ranges;
}

void add_staleness(page& p, const totals& sum) {
  const auto ranges = ranges_of(sum.staleness);
  std::uint64_t pulls = 0, most = 0;
  for (const auto& r : ranges) {
    pulls += r.pulls;
    most = std::max(most, r.pulls);
  }
  if (pulls == 0) return;
  for (const auto& r : ranges) {
    if (r.pulls == 0) continue;
    const auto share = static_cast<double>(r.pulls) / static_cast<double>(most) * bar_cells;
    const auto cells = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share)));
    // The last number of the histogram stands for all that is staler.
    const bool open = r.last + 1 >= sum.staleness.size() && sum.max_staleness > r.last;
    const auto name = r.first == r.last ? format("%zu", r.first)
                      : open            ? format("%zu+", r.first)
                                        : format("%zu-%zu", r.first, r.last);
    p.add("staleness", format("%6s  %5.1f%%  ", name.c_str(),
                              100 * static_cast<double>(r.pulls) / static_cast<double>(pulls)) +
                           std::string(cells, '#'));
  }
}

void add_waiting(page& p, const pb::JobStatus& status) {
  if (status.slots().empty()) return;
  std::int64_t all = 0;
  const auto* longest = &status.slots(0);
  for (const auto& slot : status.slots()) {
    all += slot.waited_ns();
    if (slot.waited_ns() > longest->waited_ns()) longest = &slot;
  }
  const auto mean = static_cast<double>(all) * 1e-9 / status.slots_size();
  p.add("waiting", format("for pulls %s a slot, the longest slot %u with %s",
                          human_seconds(mean).c_str(), longest->slot(),
                          human_seconds(static_cast<double>(longest->waited_ns()) * 1e-9).c_str()));
}

void add_training(page& p, const pb::JobStatus& status, const totals& sum, const run_facts& facts) {
  const bool whole = !status.stopped_early() && !status.converged() && !status.interrupted();
  if (sum.training_seconds > 0)
    p.add("training",
          (whole ? counted(facts.epochs, "epoch") : counted(sum.examples, "example")) + " in " +
              human_seconds(sum.training_seconds) + ", " +
              human_count(static_cast<std::uint64_t>(sum.examples_per_second().value_or(0))) +
              " examples/s; the whole run " + human_seconds(facts.wall_seconds));
  else
    p.add("training", human_count(sum.examples) + " examples; the whole run " +
                          human_seconds(facts.wall_seconds));
  if (const auto loss = sum.mean_loss())
    p.add("loss", format("%.5f, each example before its own update", *loss));
}

// "weights, pushes by key_cache, zstd: keys and values 12.0 MB, as sent 3.1 MB (3.9 times less)"
void add_filters(page& p, const pb::JobStatus& status, const run_facts& facts) {
  for (const auto& t : over_servers(traffic_of(status))) {
    const auto& steps = t.pulls ? facts.pull_steps : facts.push_steps;
    if (t.table >= steps.size() || steps[t.table].size() < 2 || t.after() == 0) continue;
    std::string text =
        facts.table_names[t.table] + (t.pulls ? ", pulls: " : ", pushes: ") + bytes_of(t.before());
    for (std::size_t i = 1; i < steps[t.table].size(); ++i) {
      text += ", " + steps[t.table][i] + " " +
              bytes_of(after_step(t.sent, i) + after_step(t.received, i));
    }
    p.add("filters", text + format(" (%.1f times less)", static_cast<double>(t.before()) /
                                                             static_cast<double>(t.after())));
  }
}

void add_evaluations(page& p, const pb::JobStatus& status, const run_facts& facts) {
  if (status.converged())
    p.add("converged",
          format("at evaluation %u", status.latest().final() ? status.latest().number() - 1
                                                             : status.latest().number()));
  if (status.stopped_early())
    p.add("stopped", format("early, after evaluation %u: none was better for long enough",
                            status.latest().final() ? status.latest().number() - 1
                                                    : status.latest().number()));
  if (status.best().number() > 0)
    p.add("best", text_line(status.best()) + (facts.keeps_best ? "; the model is this one" : ""));
}

// What befell the cluster, the latest of it.
void add_events(page& p, const pb::JobStatus& status) {
  constexpr int most = 12;
  const auto count = status.events_size();
  if (count > most) p.add("events", format("%d earlier ones", count - most));
  for (int i = std::max(0, count - most); i < count; ++i)
    p.add("events",
          format("%9s  ",
                 human_seconds(static_cast<double>(status.events(i).at_ns()) * 1e-9).c_str()) +
              status.events(i).text());
}

void add_model(page& p, const pb::JobStatus& status, const totals& sum, const run_facts& facts) {
  if (!status.tables().empty())
    p.add("model", human_count(sum.nonzeros) + " non-zeros in " + counted(sum.rows, "row"));
  if (!facts.model_digest.empty()) p.add("model", "digest " + facts.model_digest);
  if (!facts.model_folder.empty()) p.add("model", "saved in " + facts.model_folder);
}

}  // namespace

std::string summary_table(const pb::JobStatus& status, const run_facts& facts) {
  const auto sum = totals_of(status);
  page p;
  p.headline(facts.job + ": " + outcome_of(status, facts) + ", seed " + std::to_string(facts.seed));
  if (!facts.failure.empty()) p.add("error", facts.failure);
  p.add("data",
        counted(facts.train_rows, "row") +
            (facts.features > 0 ? ", " + counted(facts.features, "feature") : "") +
            (facts.test_rows > 0 ? "; test " + counted(facts.test_rows, "row") : "") +
            (facts.validation_rows > 0 ? "; validation " + counted(facts.validation_rows, "row")
                                       : ""));
  if (facts.dropped_negatives > 0)
    p.add("data", human_count(facts.dropped_negatives) +
                      " negative rows dropped; predicted odds are corrected for them");
  p.add("cluster", counted(facts.workers, "worker") + ", " + counted(facts.servers, "server") +
                       ", " + counted(facts.slots, "slot") + ", staleness " + facts.staleness +
                       (facts.minibatch > 0 ? ", minibatch " + human_count(facts.minibatch) : ""));
  add_training(p, status, sum, facts);
  add_evaluations(p, status, facts);
  add_metrics(p, status);
  add_model(p, status, sum, facts);
  p.add("traffic",
        bytes_of(sum.bytes_pushed) + " pushed, " + bytes_of(sum.bytes_pulled) + " pulled");
  add_filters(p, status, facts);
  add_staleness(p, sum);
  add_waiting(p, status);
  add_events(p, status);
  if (status.restarts() > 0) p.add("restarts", human_count(status.restarts()));
  if (sum.rejected > 0) p.add("rejected", counted(sum.rejected, "update"));
  return p.text();
}

}  // namespace troupe::console
