// Push and pull through actors of one process, against a plain loop over
// std::unordered_map<uint64_t, float>.
//
// One worker with one slot, one server, asynchronous, the function "add", f32 of width 1. Random
// 64-bit keys; the client's keys are sorted once (key_set) and reused for every request, four
// requests are on their way at a time, and each server reply and push is a new blob. The loop
// visits the same keys in their random order and, separately, in sorted order. Every figure is the
// median of 7 turns, in each of which all sides run.

#include <cstdio>
#include <unordered_map>

#include "apps/local/local_cluster.hpp"
#include "bench/interleaved.hpp"
#include "bench/load_job.hpp"
#include "core/random.hpp"

namespace troupe::bench {
namespace {

constexpr int in_flight = 4;

struct figures {
  std::vector<double> push, pull, map_push, map_pull;  // million keys a second, by turn
};

class bench_program final : public slot_program {
 public:
  bench_program(std::size_t count, figures& out)
      : out_(out), repeats_(std::max<std::size_t>(1, 2'000'000 / count)) {
    random_source random(7);
    for (std::size_t i = 0; i < count; ++i) ids_.push_back(random.bits());
  }
  std::uint64_t clocks() const override { return turns + 1; }  // the first warms up
  std::uint64_t examples_before(std::uint64_t) const override { return 0; }

  void run(slot_session& session, std::uint64_t clock) override {
    if (clock == 0) {
      keys_ = *session.kv().keys(0, ids_);
      ones_ = blob::copy_of(span<const float>(std::vector<float>(ids_.size(), 1)));
    }
    const auto map_push = seconds_of([&] {
      for (std::size_t r = 0; r < repeats_; ++r)
        for (const auto id : ids_) map_[id] += 1;
    });
    float sum = 0;
    const auto map_pull = seconds_of([&] {
      for (std::size_t r = 0; r < repeats_; ++r)
        for (const auto id : ids_) sum += map_.find(id)->second;
    });
    sink = sum;
    push_all(session, [=, &session] {
      const auto pushed = seconds_now() - begun_;
      pull_all(session, [=, &session] {
        if (clock > 0) {
          out_.map_push.push_back(rate(map_push));
          out_.map_pull.push_back(rate(map_pull));
          out_.push.push_back(rate(pushed));
          out_.pull.push_back(rate(seconds_now() - begun_));
        }
        session.end_clock({});
      });
    });
  }

 private:
  double rate(double seconds) const {
    return static_cast<double>(ids_.size() * repeats_) / seconds / 1e6;
  }

  // Keeps a few requests on their way until `repeats_` are answered, then goes on.
  void push_all(slot_session& session, std::function<void()> then) {
    begin();
    then_ = std::move(then);
    for (int i = 0; i < in_flight; ++i) push_one(session);
  }
  void push_one(slot_session& session) {
    if (sent_ == repeats_) return;
    ++sent_;
    push_options options;
    options.last = false;
    session.kv().push(0, keys_, ones_, options, [this, &session](result<pushed>) {
      if (++answered_ == repeats_) return std::exchange(then_, {})();
      push_one(session);
    });
  }
  void pull_all(slot_session& session, std::function<void()> then) {
    begin();
    then_ = std::move(then);
    for (int i = 0; i < in_flight; ++i) pull_one(session);
  }
  void pull_one(slot_session& session) {
    if (sent_ == repeats_) return;
    ++sent_;
    session.kv().pull(0, keys_, {}, [this, &session](result<pulled>) {
      if (++answered_ == repeats_) return std::exchange(then_, {})();
      pull_one(session);
    });
  }
  void begin() {
    sent_ = answered_ = 0;
    begun_ = seconds_now();
  }

  static inline volatile float sink = 0;
  figures& out_;
  const std::size_t repeats_;
  std::vector<key_id> ids_;
  key_set keys_;
  blob ones_;
  std::unordered_map<std::uint64_t, float> map_;
  std::size_t sent_ = 0, answered_ = 0;
  double begun_ = 0;
  std::function<void()> then_;
};

struct bench_application final : load_only {
  std::size_t count = 0;
  figures* out = nullptr;
  std::unique_ptr<slot_program> slot(std::uint32_t, meter&) override {
    return std::make_unique<bench_program>(count, *out);
  }
};

pb::JobPlan plan() {
  using namespace std::chrono_literals;
  pb::JobPlan plan;
  plan.set_slots(1);
  add_table(plan, "weights");
  auto* t = plan.mutable_timings();
  t->set_request_timeout(duration(60s).count());
  t->set_hold(duration(1s).count());
  t->set_patience(duration(600s).count());
  t->set_backoff(duration(10ms).count());
  t->set_backoff_limit(duration(1s).count());
  t->set_pull_retries(1);
  t->set_window(4);
  t->set_report_every(duration(100ms).count());
  return plan;
}

bool measure(std::size_t count) {
  figures out;
  auto app = std::make_shared<bench_application>();
  app->count = count;
  app->out = &out;
  cluster_settings cluster;
  cluster.scheduler.job.plan = plan();
  scores_nothing(cluster, app);
  const auto status = run_local_cluster(cluster);
  if (status.phase() != pb::JobStatus::FINISHED) {
    std::fprintf(stderr, "actor_bench: %s\n", status.text().c_str());
    return false;
  }
  std::vector<double> push_ratio, pull_ratio;
  for (int i = 0; i < turns; ++i) {
    push_ratio.push_back(out.push[i] / out.map_push[i]);
    pull_ratio.push_back(out.pull[i] / out.map_pull[i]);
  }
  std::printf("%9zu | %7.1f %9.1f %7.1f | %7.1f %9.1f %7.1f\n", count, median(out.push),
              median(out.map_push), median(push_ratio), median(out.pull), median(out.map_pull),
              median(pull_ratio));
  return true;
}

}  // namespace
}  // namespace troupe::bench

int main() {
  std::printf(
      "Million keys a second; medians of %d turns; function add, random keys sorted once and "
      "reused, %d in flight\n\n",
      troupe::bench::turns, troupe::bench::in_flight);
  std::printf("%9s | %7s %9s %7s | %7s %9s %7s\n", "keys", "push", "map push", "ratio", "pull",
              "map pull", "ratio");
  bool fine = true;
  for (const std::size_t count :
       {std::size_t{10'000}, std::size_t{100'000}, std::size_t{1'000'000}})
    fine = troupe::bench::measure(count) && fine;
  return fine ? 0 : 1;
}
