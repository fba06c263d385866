#include "apps/chaos/draw.hpp"

#include <cstring>

#include "actors/supervision/landmarks.hpp"
#include "apps/chaos/coverage.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "messages/filters/filter_text.hpp"
#include "messages/filters/registry.hpp"

namespace troupe::chaos {
namespace {

constexpr std::int64_t ms = 1'000'000;

const config::Scenario& defaults() {
  static const auto scenario = *config::parse_scenario("[[faults]]\n", "", {{"kill"}, {}, {}});
  return scenario;
}

class drawing {
 public:
  drawing(std::uint64_t seed, const std::string& job)
      : seed_(seed), random_(seed_of(301, seed)), job_(job), s_(defaults()) {
    s_.clear_faults();
  }

  config::Scenario draw() {
    s_.mutable_scenario()->set_name(format("seed %llu", static_cast<unsigned long long>(seed_)));
    s_.mutable_scenario()->set_seed(seed_);
    const auto& wanted = all_cells()[seed_ % all_cells().size()];
    draw_cluster();
    draw_workload();
    make_reachable(wanted);
    strike_at(wanted);
    // Where all servers are to die, no other situation may take that back.
    switch (s_.expect().loss() ? 12 : random_.below(12)) {
      case 0:
        if (job_.empty()) former_primary();
        break;
      case 1:
        disordered_copies();
        break;
      case 2:
        power_cut();
        break;
      case 3:
        shards_that_move();
        break;
      default:
        for (auto more = random_.below(4); more > 0; --more) strike_at_random();
    }
    draw_filters();
    s_.mutable_expect()->set_least_faults(0);  // chance may withhold them all
    return std::move(s_);
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + random_.below(choices.size()));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool chance(int percent) { return random_.below(100) < static_cast<std::uint64_t>(percent); }

  void draw_cluster() {
    auto& c = *s_.mutable_cluster();
    c.set_servers(static_cast<std::uint32_t>(between(2, 5)));
    c.set_workers(static_cast<std::uint32_t>(between(1, 4)));
    c.set_slots(static_cast<std::uint32_t>(between(c.workers(), 5)));
    c.set_copies(c.servers() > 2 && chance(30) ? 2 : 1);
    if (chance(50)) c.set_checkpoint_every(static_cast<std::uint64_t>(between(4, 20)));
    auto& n = *s_.mutable_network();
    n.set_latency(between(50, 600) * 1000);
    if (chance(30)) n.set_jitter(between(10, 400) * 1000);
  }

  void draw_workload() {
    auto& w = *s_.mutable_workload();
    w.set_kind(one_of<const char*>({"counters", "counters", "registers", "training"}));
    w.set_staleness(one_of<std::int64_t>({0, 0, 1, 3, -1, -1}));
    if (w.kind() != "registers" && w.staleness() >= 0 && chance(40)) w.set_combine("sum");
    w.set_clocks(static_cast<std::uint64_t>(between(40, 120)));
    w.set_keys(static_cast<std::uint32_t>(between(1, 16)));
    w.set_key_space(static_cast<std::uint64_t>(between(10, 300)));
    w.set_clock_time(between(3, 15) * ms / 10);
    w.set_updater(one_of<const char*>({"adagrad", "ftrl", "sgd"}));
    if (job_.empty()) return;
    w = defaults().workload();
    w.set_kind("job");
    w.set_job(job_);
    w.set_clock_time(between(0, 10) * ms / 10);
  }

  // From numbers of their own: what else a seed draws does not depend on filters.
  void draw_filters() {
    random_source own(seed_of(302, seed_));
    if (own.below(2) == 0) return;
    draw_chain(own, direction::push, *s_.mutable_filters()->mutable_push());
    draw_chain(own, direction::pull, *s_.mutable_filters()->mutable_pull());
    // Caches have something to find where keys come again.
    if (own.below(3) > 0 && job_.empty()) s_.mutable_workload()->set_key_sets(1 + own.below(6));
  }

  // Of any length up to four, in any order that can be.
  void draw_chain(random_source& own, direction way, filter_texts& chain) {
    const auto length = own.below(5);
    auto known = filter_registry::global().names();
    do {
      chain.Clear();
      for (std::size_t i = 0; i < length; ++i) {
        std::swap(known[i], known[i + own.below(known.size() - i)]);
        *chain.Add() = known[i] + numbers_of(known[i], own);
      }
    } while (!misfit_of_filters(s_, way).empty() ||
             // It would change what a job comes to.
             (!job_.empty() && loses_any(chain)));
  }

  // Messages are small here: as they come, caches and compression would pass most of them over.
  static std::string numbers_of(const std::string& filter, random_source& own) {
    const auto draw = own.below(1000);
    const auto number = static_cast<int>(draw / 4);
    if (draw % 4 == 0) return "";
    if (filter == "key_cache") return format(" least_keys=%d", 3 + number % 3);
    if (filter == "zstd") return format(" level=%d least_bytes=%d", 1 + number % 6, number);
    if (filter == "lz4") return format(" least_bytes=%d", number);
    if (filter == "fixed8" || filter == "fixed16")
      return format(" block=%d", 1 + number % 16) +
             (number % 4 == 0 ? format(" bits=%d", filter == "fixed8" ? 5 : 11) : "");
    if (filter == "random_skip") return format(" skip=0.%d", 1 + number % 5);
    if (filter == "significant")
      return number % 2 == 0 ? format(" threshold=0.0%d", 1 + number % 9)
                             : format(" relative=0.%d", 1 + number % 9);
    return "";
  }

  config::Fault& add(fault_kind kind, const std::string& node) {
    auto& f = *s_.add_faults();
    f = defaults().faults(0);
    f.set_kind(facts_of(kind).name);
    f.set_node(node);
    f.set_at(between(1, 100) * ms);
    return f;
  }

  // Some states are passed only where something has happened before.
  void make_reachable(const cell& wanted) {
    const std::string state = wanted.state;
    const auto is = [&](std::initializer_list<const char*> of) {
      for (const auto* s : of)
        if (state == s) return true;
      return false;
    };
    if (is({landmark::hand_over_begins, landmark::hand_over_goes_on, landmark::hand_over_ends,
            landmark::copy_filled, landmark::promoted})) {
      auto& f = add(fault_kind::kill, "any server");
      f.set_at(between(2, 40) * ms);
      f.set_lasts(between(5, 40) * ms);
    } else if (is({landmark::shard_split, landmark::shard_still})) {
      add(fault_kind::join, next_server()).set_at(between(2, 30) * ms);
      add(fault_kind::rebalance, "scheduler").set_at(between(40, 60) * ms);
    } else if (is({landmark::snapshot_begun, landmark::snapshot_piece, landmark::snapshot_over,
                   landmark::checkpoint_begun, landmark::checkpoint_written,
                   landmark::checkpoint_counts})) {
      s_.mutable_cluster()->set_checkpoint_every(static_cast<std::uint64_t>(between(4, 12)));
    } else if (is({landmark::rows_loaded}) &&
               (must_not_be_last(wanted.kind) || strikes_by_clock(wanted.kind))) {
      // All servers die, and the job goes back to a checkpoint that is whole; a slot's own fault
      // strikes right before that.
      s_.mutable_cluster()->set_checkpoint_every(4);
      s_.mutable_workload()->set_staleness(0);
      s_.mutable_expect()->set_loss(true);
      auto& f = add(fault_kind::kill, "server *");
      f.set_at(0);
      f.set_state(landmark::checkpoint_counts);  // after 12 clocks
      f.set_passed_by("*");
      f.set_occurrence(3);
      f.set_lasts(between(1, 4) * ms);
      for (std::uint64_t clock = 10; clock < 15 && strikes_by_clock(wanted.kind); ++clock) {
        auto& own = add(wanted.kind, "any worker");
        fill_in(own, wanted.kind);
        own.set_slot(0);
        own.set_clock(clock);
      }
    } else if (is({landmark::rows_loaded})) {
      s_.mutable_cluster()->set_checkpoint_every(static_cast<std::uint64_t>(between(3, 5)));
      s_.mutable_workload()->add_restore_at(between(40, 80) * ms);
      restores_ = true;
    } else if (is({landmark::push_gathered}) && s_.workload().kind() != "registers") {
      s_.mutable_workload()->set_staleness(0);
    }
  }

  // ---- Situations that chance alone hardly ever makes.

  // A primary that is replaced behind its back, and a worker that does not hear of it and goes on
  // asking: two of a half, with keys of theirs alone, and clocks slow enough that the worker need
  // not wait for the other half.
  void former_primary() {
    auto& c = *s_.mutable_cluster();
    c.set_servers(2);
    c.set_copies(1);
    c.set_workers(2);
    c.set_slots(2);
    auto& w = *s_.mutable_workload();
    if (w.kind() == "training") w.set_kind("counters");
    w.set_combine("each");
    w.set_staleness(-1);
    w.set_keys(1);
    w.set_key_space(static_cast<std::uint64_t>(between(2, 8)));
    w.set_clock_time(between(8, 25) * ms);
    w.set_clocks(static_cast<std::uint64_t>(between(15, 30)));
    const auto at = between(20, 90) * ms;
    if (chance(50)) {
      auto& sleeps = add(fault_kind::pause, "server 0");
      sleeps.set_at(at - between(1, 40) * ms / 10);
      sleeps.set_lasts(between(32, 60) * ms);
    }
    auto& f = add(fault_kind::partition, "*");
    f.set_shape("halves");
    f.set_at(at);
    f.set_lasts(between(70, 150) * ms);
  }

  // What primaries pass on comes doubled and out of order, and then a copy must lead.
  void disordered_copies() {
    for (const auto kind : {fault_kind::duplicate, fault_kind::reorder}) {
      auto& f = add(kind, "server *");
      fill_in(f, kind);
      f.set_peer("server *");
      f.set_at(between(1, 20) * ms);
      f.set_lasts(between(60, 120) * ms);
    }
    auto& f = add(fault_kind::kill, "any server");
    f.set_at(between(20, 100) * ms);
    f.set_lasts(between(1, 40) * ms);
  }

  void power_cut() {
    s_.mutable_cluster()->set_checkpoint_every(static_cast<std::uint64_t>(between(3, 8)));
    if (s_.workload().restore_at_size() == 0)
      s_.mutable_workload()->add_restore_at(between(20, 80) * ms);
    auto& faults = *s_.mutable_faults();
    for (int i = faults.size() - 1; i >= 0; --i)
      if (must_not_be_last(find_fault_kind(faults[i].kind())->kind)) faults.DeleteSubrange(i, 1);
    restores_ = true;
    s_.mutable_expect()->set_loss(false);
  }

  // Shards are split and led by others while a worker is not told.
  void shards_that_move() {
    s_.mutable_workload()->set_clock_time(between(1, 4) * ms / 2);
    s_.mutable_network()->set_latency(between(300, 900) * 1000);
    for (int i = 0; i < 2; ++i) add(fault_kind::join, next_server()).set_at(between(3, 60) * ms);
    auto& f = add(fault_kind::partition, "any worker");
    f.set_peer("scheduler");
    f.set_at(between(1, 40) * ms);
    f.set_lasts(between(20, 120) * ms);
    add(fault_kind::rebalance, "scheduler").set_at(between(40, 90) * ms);
  }

  std::string next_server() { return format("server %u", s_.cluster().servers() + joined_++); }

  std::string somebody(fault_kind kind) {
    switch (kind) {
      case fault_kind::drain:
      case fault_kind::half_open:
      case fault_kind::lost_sync:  // a scheduler whose disk lies forgets what it promised
        return "any server";
      case fault_kind::straggler:
        return "any worker";
      case fault_kind::duplicate_name:  // a scheduler's folder is locked: a second one cannot begin
        return one_of<const char*>({"any server", "any worker"});
      case fault_kind::join:
        return next_server();
      case fault_kind::kill:
      case fault_kind::pause:
        return one_of<const char*>({"any server", "any server", "any worker", "scheduler"});
      default:
        return one_of<const char*>({"any server", "any worker", "any"});
    }
  }

  void strike_at(const cell& c) {
    if (unfit(c.kind)) return;
    auto& f = add(c.kind, somebody(c.kind));
    f.set_at(0);
    f.set_state(c.state);
    f.set_passed_by("*");
    f.set_occurrence(static_cast<std::uint32_t>(between(1, 4)));
    // Rows are loaded once, by some.
    if (chance(40) || !facts_of(c.kind).lasts || std::string(c.state) == landmark::rows_loaded)
      f.set_occurrence(1);
    if (chance(50) && can_be_struck_itself(c.kind)) {
      f.clear_passed_by();
      f.set_passed_by("");
      f.set_node("*");
    }
    fill_in(f, c.kind);
  }
  static bool strikes_by_clock(fault_kind kind) {
    return kind == fault_kind::not_a_number || kind == fault_kind::throws;
  }
  static bool can_be_struck_itself(fault_kind kind) {
    return kind == fault_kind::kill || kind == fault_kind::pause || kind == fault_kind::slow ||
           kind == fault_kind::skew;
  }

  void strike_at_random() {
    const auto kind = static_cast<fault_kind>(random_.below(fault_kind_count));
    if (unfit(kind)) return;
    fill_in(add(kind, somebody(kind)), kind);
  }

  // Of a job that must go on from a checkpoint, none may be spoiled.
  bool unfit(fault_kind kind) const { return restores_ && must_not_be_last(kind); }
  static bool must_not_be_last(fault_kind kind) {
    return kind == fault_kind::bit_flip || kind == fault_kind::truncate ||
           kind == fault_kind::lost_sync;
  }

  void fill_in(config::Fault& f, fault_kind kind) {
    if (facts_of(kind).lasts) f.set_lasts(between(1, 100) * ms);
    switch (kind) {
      case fault_kind::kill:
        // Dead for good, or back before or after its silence is noticed.
        if (f.node() == "any server" && chance(25)) f.set_lasts(0);
        break;
      case fault_kind::slow:
        f.set_factor(static_cast<double>(between(2, 20)));
        break;
      case fault_kind::straggler:
        f.set_factor(static_cast<double>(between(2, 100)));
        f.set_chance(static_cast<double>(between(5, 50)) / 100);
        break;
      case fault_kind::skew:
        f.set_factor(static_cast<double>(between(96, 104)) / 100);
        break;
      case fault_kind::partition:
        f.set_shape(one_of<const char*>({"one", "one", "one_way", "halves", "bridge", "ring"}));
        f.set_peer(one_of<const char*>({"*", "server *", "worker *", "scheduler", "any"}));
        break;
      case fault_kind::latency:
        f.set_latency(between(1, 20) * ms);
        f.set_jitter(between(0, 5) * ms);
        break;
      case fault_kind::bandwidth:
        f.set_bandwidth(between(20, 2000) * 1000);
        break;
      case fault_kind::loss:
        f.set_chance(static_cast<double>(between(1, 30)) / 100);
        break;
      case fault_kind::duplicate:
        f.set_chance(static_cast<double>(between(10, 60)) / 100);
        f.set_latency(between(1, 8) * ms);
        break;
      case fault_kind::reorder:
        f.set_latency(between(1, 8) * ms);
        break;
      case fault_kind::drop:
      case fault_kind::delay:
        f.set_message(one_of<const char*>(
            {"push", "pull", "copy", "reply PushReply", "reply PullReply", "reply CopyReply"}));
        f.set_chance(static_cast<double>(between(5, 60)) / 100);
        f.set_latency(between(1, 10) * ms);
        break;
      case fault_kind::not_a_number:
      case fault_kind::throws:
        f.set_at(0);
        f.clear_state();
        f.set_state("");
        f.set_passed_by("");
        f.set_slot(static_cast<std::uint32_t>(random_.below(s_.cluster().slots())));
        f.set_clock(random_.below(s_.workload().clocks()));
        break;
      default:
        break;
    }
  }

  const std::uint64_t seed_;
  random_source random_;
  const std::string job_;
  config::Scenario s_;
  std::uint32_t joined_ = 0;
  bool restores_ = false;
};

}  // namespace

config::Scenario draw(std::uint64_t seed, const std::string& job) {
  return drawing(seed, job).draw();
}

}  // namespace troupe::chaos
