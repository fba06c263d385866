// What copies cost, and how long a failover takes, with servers and workers as actors of one
// process.
//
// Cost: one worker with one slot pushes batches of random keys (f32, function "add", asynchronous,
// four on their way) to three servers, with 0, 1 and 2 copies of each shard. Figures are medians of
// 7 turns, in each of which all run.
//
// Aggregation: the same on a simulated network, where messages and bytes to copies are counted:
// with one push on its way at a time each is a message of its own, with sixteen they share
// messages.
//
// Failover: beats of 50 ms, death after 300 ms, a lease of 100 ms. A server's node is killed
// without a word to anybody; the time is that between the last push acknowledged before and the
// first after, which needs its shards. 20 kills. Then pushes go on while new copies are filled.

#include <algorithm>
#include <cstdio>
#include <memory>

#include "apps/local/local_cluster.hpp"
#include "apps/virtual/virtual_cluster.hpp"
#include "bench/interleaved.hpp"
#include "bench/push_load.hpp"

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

cluster_settings cluster_of(const std::shared_ptr<pushing_application>& app, std::uint32_t copies) {
  cluster_settings c;
  auto& plan = c.scheduler.job.plan;
  plan.set_slots(1);
  add_table(plan, "weights");
  auto* t = patient_timings(plan);
  t->set_report_every(duration(20ms).count());
  t->set_beat_every(duration(50ms).count());
  t->set_suspect_after(duration(150ms).count());
  t->set_death_after(duration(300ms).count());
  t->set_lease(duration(100ms).count());
  c.beat_every = 50ms;
  c.scheduler.job.servers = 3;
  c.scheduler.job.copies = copies;
  scores_nothing(c, app);
  return c;
}

bool finished(const pb::JobStatus& status) {
  if (status.phase() == pb::JobStatus::FINISHED) return true;
  std::fprintf(stderr, "copies_bench: %s\n", status.text().c_str());
  return false;
}

bool measure_cost() {
  std::printf("%9s | %14s %14s %14s | %8s %8s\n", "keys", "Mkeys/s, none", "one copy", "two copies",
              "1 / none", "2 / none");
  for (const std::size_t keys : {1'000, 10'000, 100'000}) {
    std::vector<double> rate[3], ratio[3];
    for (int turn = 0; turn < turns; ++turn) {
      double now[3] = {};
      for (std::uint32_t copies = 0; copies < 3; ++copies) {
        auto app = std::make_shared<pushing_application>();
        app->l.keys = keys;
        app->l.pushes = 4'000'000 / keys;
        if (!finished(run_local_cluster(cluster_of(app, copies)))) return false;
        now[copies] =
            static_cast<double>(app->l.pushes * keys) / 1e6 / (app->out.ended - app->out.begun);
        rate[copies].push_back(now[copies]);
        ratio[copies].push_back(now[copies] / now[0]);
      }
    }
    std::printf("%9zu | %14.1f %14.1f %14.1f | %8.2f %8.2f\n", keys, median(rate[0]),
                median(rate[1]), median(rate[2]), median(ratio[1]), median(ratio[2]));
  }
  return true;
}

bool measure_aggregation() {
  std::printf("\n%12s | %10s %14s %14s %16s\n", "on their way", "pushes", "copy messages",
              "bytes a push", "pushes a second");
  for (const int in_flight : {1, 16}) {
    auto app = std::make_shared<pushing_application>();
    app->l.keys = 100;
    app->l.key_space = 2'000;
    app->l.pushes = 4'000;
    app->l.in_flight = in_flight;
    const auto cluster = cluster_of(app, 1);
    virtual_settings s;
    s.engine.cast = {3, 1};
    s.engine.network.between.latency = 100us;
    s.engine.network.node_bandwidth = 1e9;
    s.engine.price.message_sent = 2000;
    s.engine.price.message_received = 4000;
    s.time_limit = 10min;
    const auto r = run_virtual_cluster(cluster, s, {});
    if (!finished(r.status)) return false;
    const auto& copies = r.record.by_kind.at("copy");
    std::printf("%12d | %10zu %14llu %14.0f %16.0f\n", in_flight, app->l.pushes,
                static_cast<unsigned long long>(copies.messages),
                static_cast<double>(copies.bytes) / static_cast<double>(app->l.pushes),
                static_cast<double>(app->l.pushes) / troupe::seconds_of(r.record.virtual_time));
  }
  return true;
}

bool measure_failover() {
  std::vector<double> gaps, rebuilding;
  for (int i = 0; i < 20; ++i) {
    auto app = std::make_shared<pushing_application>();
    app->l.keys = 1'000;
    app->l.key_space = 3'000'000;
    app->l.seconds = 2.2;
    auto c = cluster_of(app, 1);
    c.scheduler.job.plan.mutable_timings()->set_transfer_rate(std::uint64_t{8} << 20);
    c.events.push_back(
        {planned_event::kind::kill, server_role(static_cast<std::uint32_t>(i % 3)), 1s});
    if (!finished(run_local_cluster(c))) return false;
    const auto& at = app->out.acknowledged;
    std::size_t longest = 1;
    for (std::size_t k = 1; k < at.size(); ++k)
      if (at[k] - at[k - 1] > at[longest] - at[longest - 1]) longest = k;
    gaps.push_back((at[longest] - at[longest - 1]) * 1e3);
    const auto within = [&](double from, double until) {
      return static_cast<double>(
          std::count_if(at.begin(), at.end(), [&](double t) { return from <= t && t < until; }));
    };
    const auto before = at[longest - 1], after = at[longest];
    rebuilding.push_back(within(after + 0.02, after + 0.42) / within(before - 0.4, before));
  }
  std::sort(gaps.begin(), gaps.end());
  std::printf(
      "\nfailover, 20 kills: median %.0f ms, from %.0f to %.0f ms; pushes while copies are filled, "
      "of those before: %.2f\n",
      median(gaps), gaps.front(), gaps.back(), median(rebuilding));
  return true;
}

}  // namespace
}  // namespace troupe::bench

int main() {
  using namespace troupe::bench;
  return measure_cost() && measure_aggregation() && measure_failover() ? 0 : 1;
}
