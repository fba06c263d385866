#include "apps/commands/virtual_job.hpp"

#include "apps/console/totals.hpp"
#include "apps/console/traffic.hpp"
#include "core/text.hpp"
#include "sim/record/chrome_trace.hpp"
#include "sim/report/page.hpp"

namespace troupe {
namespace {

std::string number(double x) {
  return format("%.6g", x);
}

sim::page_facts page_facts_of(const prepared_job& job, const virtual_run& run) {
  const auto& f = job.facts;
  sim::page_facts p;
  p.title = f.job;
  const auto add = [&p](const char* name, const std::string& value) {
    p.rows.emplace_back(name, value);
  };
  add("seed", std::to_string(f.seed));
  add("cluster", format("%u workers, %u servers, %u slots", f.workers, f.servers, f.slots));
  add("staleness", f.staleness);
  if (f.minibatch > 0) add("minibatch", human_count(f.minibatch));
  add("epochs", human_count(f.epochs));
  add("rows", human_count(f.train_rows));
  add("virtual time", human_seconds(seconds_of(run.record.virtual_time)));
  for (const auto& m : run.status.metrics())
    if (m.known()) add(m.name().c_str(), number(m.value()));
  if (!f.model_digest.empty()) add("model digest", f.model_digest);
  add("trace digest", run.record.trace_digest);
  if (!run.status.text().empty()) add("failure", run.status.text());
  for (const auto& t : console::over_servers(console::traffic_of(run.status))) {
    const auto& steps = t.pulls ? f.pull_steps : f.push_steps;
    if (t.table >= steps.size() || steps[t.table].size() < 2) continue;
    for (std::size_t i = 0; i < steps[t.table].size(); ++i)
      p.filters.push_back({f.table_names[t.table] + (t.pulls ? ", pulls" : ", pushes"),
                           steps[t.table][i], console::after_step(t.sent, i),
                           console::after_step(t.received, i)});
  }
  return p;
}

}  // namespace

result<virtual_run> run_virtual_job(prepared_job& job, const virtual_settings& settings,
                                    const virtual_run_files& files, const virtual_watch& watch) {
  const auto begun = wall_clock();
  auto with = settings;
  std::unique_ptr<sim::chrome_trace> trace;
  if (!files.trace.empty()) {
    auto made = sim::chrome_trace::create(*job.cluster.files, files.trace, with.engine.cast);
    if (!made) return made.failure();
    trace = std::move(*made);
    with.engine.trace = trace.get();
  }
  auto run = run_virtual_cluster(job.cluster, with, job.new_scores, watch);
  note_end(job, run.status, seconds_of(wall_clock() - begun));
  if (trace)
    if (const auto closed = trace->close(); !closed) return closed.failure();
  if (!files.report.empty()) {
    const auto page = sim::report_page(run.record, page_facts_of(job, run));
    if (!page) return page.failure();
    if (const auto written = write_text_atomically(*job.cluster.files, files.report, *page);
        !written)
      return written.failure();
  }
  return run;
}

}  // namespace troupe
