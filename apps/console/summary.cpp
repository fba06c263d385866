#include "apps/console/summary.hpp"

#include <algorithm>
#include <cmath>

#include "apps/console/totals.hpp"
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

// "test_auc" reads "test AUC"; an unknown metric keeps its name, with spaces.
std::string metric_label(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (const auto at = name.find("auc"); at != std::string::npos) name.replace(at, 3, "AUC");
  return name;
}

void add_metrics(page& p, const pb::JobStatus& status) {
  std::size_t longest = 0;
  for (const auto& m : status.metrics()) longest = std::max(longest, m.name().size());
  for (const auto& m : status.metrics()) {
    auto name = metric_label(m.name());
    name.resize(longest, ' ');
    const bool known = m.known() && std::isfinite(m.value());
    p.add("quality", name + "  " +
                         (known ? format(std::abs(m.value()) < 1000 ? "%.5f" : "%.2f", m.value())
                                : std::string("not defined on these data")));
  }
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

void add_training(page& p, const totals& sum, const run_facts& facts) {
  if (sum.training_seconds > 0)
    p.add("training",
          counted(facts.epochs, "epoch") + " in " + human_seconds(sum.training_seconds) + ", " +
              human_count(static_cast<std::uint64_t>(sum.examples_per_second().value_or(0))) +
              " examples/s; the whole run " + human_seconds(facts.wall_seconds));
  else
    p.add("training", human_count(sum.examples) + " examples; the whole run " +
                          human_seconds(facts.wall_seconds));
  if (const auto loss = sum.mean_loss())
    p.add("loss", format("%.5f, each example before its own update", *loss));
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
  p.add("data", counted(facts.train_rows, "row") +
                    (facts.features > 0 ? ", " + counted(facts.features, "feature") : "") +
                    (facts.test_rows > 0 ? "; test " + counted(facts.test_rows, "row") : ""));
  p.add("cluster", counted(facts.workers, "worker") + ", " + counted(facts.servers, "server") +
                       ", " + counted(facts.slots, "slot") + ", staleness " + facts.staleness +
                       ", minibatch " + human_count(facts.minibatch));
  add_training(p, sum, facts);
  add_metrics(p, status);
  add_model(p, status, sum, facts);
  p.add("traffic",
        bytes_of(sum.bytes_pushed) + " pushed, " + bytes_of(sum.bytes_pulled) + " pulled");
  add_staleness(p, sum);
  add_waiting(p, status);
  if (status.restarts() > 0) p.add("restarts", human_count(status.restarts()));
  if (sum.rejected > 0) p.add("rejected", counted(sum.rejected, "update"));
  return p.text();
}

}  // namespace troupe::console
