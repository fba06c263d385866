#include "sim/engine/simulation.hpp"

#include <caf/all.hpp>
#include <cmath>

#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::sim {
namespace {

std::vector<std::string> zones_of(const cast_of_nodes& cast, const topology& map) {
  std::vector<std::string> names;
  for (node_number n = 0; n < cast.size(); ++n) names.push_back(map.zone_name(n));
  return names;
}

// Independent streams of randomness from the one seed.
enum stream : std::uint64_t { of_network = 1, of_stragglers, of_disks };

constexpr std::uint32_t most_jobs_waiting = 1024;  // as background_thread() has by default

}  // namespace

// The resolver of a node's actors.
class simulation::node_view final : public resolver {
 public:
  node_view(network& net, node_number from) : net_(net), from_(from) {}
  caf::strong_actor_ptr find(role_id id) const override { return net_.find(from_, id); }

 private:
  network& net_;
  const node_number from_;
};

class simulation::node_background final : public background {
 public:
  node_background(simulation& in, node_number n) : sim_(in), node_(n) {}
  bool run(job work, job after) override {
    if (sim_.jobs_waiting_[node_] >= most_jobs_waiting) return false;
    sim_.run_background(node_, std::move(work), std::move(after));
    return true;
  }

 private:
  simulation& sim_;
  const node_number node_;
};

simulation::simulation(simulation_settings settings, std::shared_ptr<file_system> files)
    : settings_(std::move(settings)),
      cast_(settings_.cast),
      system_(*this),
      costs_(settings_.price, seed_of(settings_.seed, of_stragglers)),
      plan_(cast_, settings_.network),
      log_(cast_, zones_of(cast_, plan_), settings_.trace),
      network_(system_, cast_, plan_, log_, seed_of(settings_.seed, of_network),
               settings_.serialise,
               {[this] { return now(); },
                [this](instant t, parcel_ptr p) { queue_.add(t, arrival{std::move(p)}); },
                [this](parcel_ptr p) {
                  const auto to = p->along->to;
                  processors_.offer(to, std::move(p), now());
                },
                [this](instant t, std::function<void()> f) { at(t, std::move(f)); },
                [this](node_number n, std::function<void()> f) {
                  processors_.offer(n, std::move(f), now());
                }}),
      processors_(
          cast_.size(), settings_.hosts,
          {[this](node_number n, item what, instant t) { return work(n, std::move(what), t); },
           [this](node_number n, instant t) {
             queue_.add(t, turn_over{n, network_.life(n)});
           },
           [this](node_number n, instant) { network_.leave(n); }}),
      timer_kind_(log_.kind("timer")),
      job_kind_(log_.kind("job")),
      charged_(cast_.size()),
      disk_free_(cast_.size()),
      jobs_waiting_(cast_.size()),
      starts_(cast_.size()),
      observers_view_(std::make_shared<node_view>(network_, nowhere)) {
  for (node_number n = 0; n < cast_.size(); ++n) {
    meters_.push_back(std::make_shared<meter>());
    disks_.push_back(std::make_shared<modelled_disk>(
        settings_.disk, files, random_source(seed_of(settings_.seed, of_disks, n))));
  }
  const auto all_disks = std::make_shared<std::vector<modelled_disk*>>();
  for (const auto& d : disks_) all_disks->push_back(d.get());
  for (const auto& d : disks_) d->share_names(all_disks);
  for (const auto& rule : settings_.speeds) {
    std::uint32_t i = 0;
    for (const auto n : plan_.matching(rule.nodes))
      if (i++ % rule.every == 0) costs_.set_speed(n, rule.factor);
  }
  for (const auto& rule : settings_.stragglers)
    for (const auto n : plan_.matching(rule.nodes)) costs_.add_straggler(n, rule);
}

simulation::~simulation() {
  network_.close();
  for (node_number n = 0; n < cast_.size(); ++n) processors_.clear(n, now());
  queue_.clear();
  system_.run_ready();
}

environment simulation::environment_of(node_number n) {
  environment env;
  env.role = cast_.role(n);
  env.find = std::make_shared<node_view>(network_, n);
  env.files = disks_[n];
  env.io = std::make_shared<node_background>(*this, n);
  env.work_done = meters_[n];
  return env;
}

void simulation::start_node(node_number n, std::function<void(std::uint32_t)> start) {
  starts_[n] = std::move(start);
  processors_.offer(
      n, [this, n] { starts_[n](network_.life(n)); }, now());
}

bool simulation::step() {
  if (queue_.empty()) return false;
  now_ = std::max(now(), queue_.next());
  system_.move_to(now_);
  ++steps_;
  auto what = queue_.take();
  // What comes next has not been looked at since it was sent, and a large run is far larger than
  // the caches: it is fetched while this happens.
  queue_.peek([this](const happening& soon, bool next) { prefetch(soon, next); });
  happen(std::move(what));
  return true;
}

void simulation::prefetch(const happening& soon, bool next) const {
  const parcel* p = nullptr;
  bool at_its_end = false;
  if (const auto* a = std::get_if<arrival>(&soon)) {
    p = a->of.get();
  } else if (const auto* t = std::get_if<turn_over>(&soon)) {
    const auto* waiting = processors_.next_item(t->node);
    const auto* message = waiting == nullptr ? nullptr : std::get_if<parcel_ptr>(waiting);
    if (message != nullptr) p = message->get();
    at_its_end = true;
  }
  if (p == nullptr) return;
  network::prefetch(*p, next, at_its_end);
}

void simulation::happen(happening what) {
  if (auto* a = std::get_if<arrival>(&what)) {
    network_.on_arrival(std::move(a->of));
  } else if (const auto* t = std::get_if<turn_over>(&what)) {
    if (t->life != network_.life(t->node)) return;  // it crashed in the middle
    log_.turn_ends(t->node, now());
    processors_.turn_over(t->node, now());
  } else if (auto* due = std::get_if<std::unique_ptr<timer>>(&what)) {
    fire(std::move(*due));
  } else {
    std::get<call>(what).what();
  }
}

void simulation::at(instant t, std::function<void()> what) {
  queue_.add(t, call{std::move(what)});
}

void simulation::on_timer(instant due, caf::strong_actor_ptr receiver,
                          caf::mailbox_element_ptr what, bool cancellable) {
  auto t = std::make_unique<timer>();
  t->home = network_.home_of(receiver);
  t->life = t->home == nowhere ? 0 : network_.life(t->home);
  t->receiver = std::move(receiver);
  t->what = std::move(what);
  t->cancellable = cancellable;
  t->due = due;
  if (!clocks_.empty() && t->home != nowhere) due = std::max(now(), clocks_[t->home].truth(due));
  queue_.add(due, std::move(t));
}

instant simulation::node_clock::shows(instant truth) const {
  return showed + duration(std::llround(static_cast<double>((truth - set_at).count()) * rate));
}

instant simulation::node_clock::truth(instant shown) const {
  auto t = set_at + duration(std::llround(static_cast<double>((shown - showed).count()) / rate));
  while (shows(t) < shown) t = t + duration(1);  // no timer is early
  return t;
}

void simulation::set_clock_rate(node_number n, double rate) {
  log_.befalls(n, format("has a clock that runs at %.4g of its rate", rate), now());
  if (clocks_.empty()) {
    clocks_.resize(cast_.size());
    system_.set_clock_of([this](caf::actor_id who) {
      const auto home = network_.home_of(who);
      return home == nowhere ? now_ : clocks_[home].shows(now_);
    });
  }
  clocks_[n] = {now_, clocks_[n].shows(now_), rate};
}

void simulation::reset(node_number a, node_number b) {
  network_.reset(a, b);
}

void simulation::half_open(node_number a, node_number b) {
  network_.half_open(a, b);
}

void simulation::fire(std::unique_ptr<timer> t) {
  // Its clock may have been set right, and run slower, since.
  if (!clocks_.empty() && t->home != nowhere && clocks_[t->home].shows(now()) < t->due) {
    const auto due = clocks_[t->home].truth(t->due);
    return queue_.add(due, std::move(t));
  }
  if (t->cancellable && !system_.fires(t->receiver, t->what->mid)) return;
  const auto home = t->home;
  if (home == nowhere)
    outside([&] { t->receiver->enqueue(std::move(t->what), nullptr); });
  else if (t->life == network_.life(home))
    processors_.offer(home, std::move(t), now());
}

duration simulation::work(node_number n, item what, instant at_time) {
  turn_facts before;
  auto kind = job_kind_;
  if (settings_.before_turn) settings_.before_turn();
  bool received = false;
  if (auto* p = std::get_if<parcel_ptr>(&what)) {
    kind = (*p)->kind;
    received = true;
    network_.on_delivery(**p);
  } else if (auto* t = std::get_if<std::unique_ptr<timer>>(&what)) {
    kind = timer_kind_;
    (*t)->receiver->enqueue(std::move((*t)->what), nullptr);
  } else {
    std::get<std::function<void()>>(what)();
  }
  system_.run_ready();
  auto facts = take_work_of(n);
  facts.received = received ? 1 : 0;
  facts.sent = network_.waiting_in_outbox(n);
  if (settings_.on_turn) settings_.on_turn(facts);
  const auto takes = costs_.of_turn(n, facts);
  if (takes > duration::zero()) log_.turn_begins(n, kind, at_time);
  return takes;
}

// What the node's meter has counted since it was asked last.
turn_facts simulation::take_work_of(node_number n) {
  turn_facts facts;
  auto& charged = charged_[n];
  for (std::size_t kind = 0; kind < kinds_of_work; ++kind) {
    const auto total = meters_[n]->total(static_cast<troupe::work>(kind));
    facts.work[kind] = total - charged[kind];
    charged[kind] = total;
  }
  return facts;
}

void simulation::outside(const std::function<void()>& what) {
  what();
  system_.run_ready();
  for (node_number n = 0; n < cast_.size(); ++n) {
    take_work_of(n);
    if (network_.waiting_in_outbox(n) > 0) network_.leave(n);
  }
}

// One disk to a node, which does one job after the other. The job's own time on the processor
// counts for the turn that asked for it.
void simulation::run_background(node_number n, background::job work, background::job after) {
  work();
  disk_free_[n] = std::max(now(), disk_free_[n]) + disks_[n]->take_elapsed();
  ++jobs_waiting_[n];
  at(disk_free_[n], [this, n, life = network_.life(n), after = std::move(after)] {
    --jobs_waiting_[n];
    if (life == network_.life(n)) processors_.offer(n, after, now());
  });
}

void simulation::cut(node_number from, node_number to, bool both_ways) {
  log_.befalls(from,
               std::string("the link to ") + to_string(cast_.role(to)) + " is cut" +
                   (both_ways ? "" : " one way"),
               now());
  network_.cut(from, to);
  if (both_ways) network_.cut(to, from);
}

void simulation::heal(node_number from, node_number to, bool both_ways) {
  log_.befalls(from, "the link to " + to_string(cast_.role(to)) + " is healed", now());
  network_.heal(from, to);
  if (both_ways) network_.heal(to, from);
  system_.run_ready();
}

void simulation::crash(node_number n) {
  if (network_.down(n)) return;
  log_.befalls(n, "crashes", now());
  const bool was_busy = processors_.busy(n);
  network_.crash(n);
  processors_.clear(n, now());
  if (was_busy) log_.turn_ends(n, now());
  disks_[n]->lose_unsynced();
  disk_free_[n] = now();
  system_.run_ready();
  take_work_of(n);
}

void simulation::restart(node_number n) {
  if (!network_.down(n)) return;
  log_.befalls(n, "starts again", now());
  log_.restarts(n);
  network_.restart(n);
  system_.run_ready();
  if (starts_[n]) start_node(n, starts_[n]);
}

void simulation::pause(node_number n) {
  log_.befalls(n, "is paused", now());
  processors_.pause(n);
}

void simulation::resume(node_number n) {
  log_.befalls(n, "goes on", now());
  processors_.resume(n, now());
}

std::uint64_t simulation::clocks_computed() const {
  return costs_.clocks();
}

std::uint64_t simulation::examples_computed() const {
  std::uint64_t sum = 0;
  for (const auto& charged : charged_)
    sum += charged[static_cast<std::size_t>(troupe::work::examples)];
  return sum;
}

std::size_t simulation::waiting() const {
  std::size_t count = 0;
  queue_.each([&](const happening& what) {
    const auto* t = std::get_if<std::unique_ptr<timer>>(&what);
    count += t == nullptr || (*t != nullptr && (*t)->home != nowhere) ? 1 : 0;
  });
  return count;
}

run_record simulation::record() {
  auto r = log_.result(now());
  network_.add_to(r);
  r.engine_events = steps_;
  return r;
}

}  // namespace troupe::sim
