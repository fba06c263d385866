#pragma once
// Servers and slots without actors, over a network that loses, repeats, delays and reorders
// messages as a seed decides, in a time of its own. What the protocol promises must hold whatever
// such a network does.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/server/plan.hpp"
#include "actors/server/shard.hpp"
#include "actors/worker/plan.hpp"
#include "actors/worker/slot_loop.hpp"
#include "core/random.hpp"
#include "tests/support/toy_job.hpp"

namespace troupe::testing {

struct network_faults {
  double loss = 0, repetition = 0;
  duration longest_delay = std::chrono::milliseconds(1);
  double crash_per_event = 0;  // of a slot's worker
};

class mini_cluster {
 public:
  using make_program = std::function<std::unique_ptr<slot_program>(std::uint32_t)>;

  mini_cluster(pb::JobPlan plan, std::uint32_t servers, make_program programs,
               network_faults faults, std::uint64_t seed, std::vector<slowness> slow = {})
      : plan_(std::move(plan)),
        programs_(std::move(programs)),
        faults_(faults),
        random_(seed),
        switches_({}, std::move(slow)) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < servers; ++i) all.push_back(i);
    view_ = view(1, all, make_ring(all, 8, 0, 1));
    for (const auto i : all) {
      auto tables = make_tables(plan_);
      REQUIRE(tables.ok());
      shards_.push_back(
          std::make_unique<shard>(shard_settings_of(plan_, i), std::move(*tables), work_));
      REQUIRE(shards_.back()->install(view_).ok());
    }
    slots_.resize(plan_.slots());
    for (std::uint32_t s = 0; s < plan_.slots(); ++s) begin_life(s);
  }

  // Runs until every slot has finished; false if that takes longer than `limit` of the cluster's
  // time.
  bool run(duration limit = std::chrono::minutes(10)) {
    at(std::chrono::milliseconds(20), [this] { tick(); });
    while (!finished()) {
      if (events_.empty() || now_ >= instant{limit.count()}) return false;
      auto event = events_.extract(events_.begin());
      now_ = event.key().first;
      event.mapped()();
      if (faults_.crash_per_event > 0 && random_.unit() < faults_.crash_per_event)
        begin_life(static_cast<std::uint32_t>(random_.below(slots_.size())));
    }
    return true;
  }

  std::string digest() const {
    std::string text;
    for (int t = 0; t < plan_.tables_size(); ++t) {
      hash128 sum;
      for (const auto& s : shards_)
        sum += s->tables()[static_cast<std::size_t>(t)]->summary().digest;
      text += to_hex(sum) + " ";
    }
    return text;
  }
  const slot_loop& slot(std::uint32_t s) const { return *slots_[s].loop; }
  shard& server(std::size_t i) { return *shards_[i]; }
  std::uint64_t lives(std::uint32_t s) const { return slots_[s].epoch; }

 private:
  struct slot_life {
    std::unique_ptr<slot_loop> loop;
    std::uint64_t epoch = 0;
  };

  bool finished() const {
    for (const auto& s : slots_)
      if (s.loop->present_state() != slot_loop::state::finished) return false;
    return true;
  }

  void begin_life(std::uint32_t s) {
    auto& life = slots_[s];
    slot_settings settings;
    settings.slot = {s, ++life.epoch};
    settings.client = client_settings_of(plan_);
    settings.window = plan_.timings().window();
    life.loop = std::make_unique<slot_loop>(settings, table_shapes_of(plan_), view_, programs_(s),
                                            switches_, work_);
    life.loop->start(now_);
    flush(s);
  }

  void at(duration later, std::function<void()> what) {
    events_.emplace(std::pair(now_ + later, next_event_++), what);
  }
  duration delay() {
    return duration(static_cast<std::int64_t>(random_.unit() * faults_.longest_delay.count()));
  }
  // Once, twice or never.
  void carry(const std::function<void()>& arrive) {
    if (random_.unit() < faults_.loss) return;
    at(delay(), arrive);
    if (random_.unit() < faults_.repetition) at(delay(), arrive);
  }
  template <class Do>
  void with(std::uint32_t s, std::uint64_t epoch, Do action) {
    if (slots_[s].epoch != epoch) return;
    action(*slots_[s].loop);
    flush(s);
  }

  void flush(std::uint32_t s) {
    auto& loop = *slots_[s].loop;
    const auto epoch = slots_[s].epoch;
    for (const auto server : loop.take_adoptions()) {
      pb::AdoptSlot request;
      request.set_slot(s);
      request.set_epoch(epoch);
      carry([=] {
        const auto numbers = shards_[server]->on_adopt(request);
        carry([=] { with(s, epoch, [&](slot_loop& l) { l.on_numbers(server, numbers, now_); }); });
      });
      at(std::chrono::seconds(2), [=] {
        if (slots_[s].epoch == epoch &&
            slots_[s].loop->present_state() == slot_loop::state::adopting)
          with(s, epoch, [&](slot_loop& l) { l.on_adopt_failure(server, now_); });
      });
    }
    for (auto& message : loop.take_outgoing()) {
      const auto number = message.number;
      const auto server = message.server;
      const auto question = next_question_++;
      open_.insert(question);
      carry([=] { arrive(s, epoch, number, question, server, message); });
    }
    if (const auto wake = loop.next_wake())
      at(std::max(*wake - now_, duration::zero()), [=] {
        if (slots_[s].epoch == epoch && slots_[s].loop->next_wake() &&
            *slots_[s].loop->next_wake() <= now_)
          with(s, epoch, [&](slot_loop& l) { l.on_time(now_); });
      });
  }

  void arrive(std::uint32_t s, std::uint64_t epoch, std::uint64_t number, std::uint64_t question,
              std::uint32_t server, const outgoing& message) {
    const auto asker = next_asker_++;
    askers_[{server, asker}] = {s, epoch, number, question};
    if (const auto* push = std::get_if<outgoing_push>(&message.message))
      deliver(server,
              shards_[server]->on_push(asker, push->header, push->keys, push->values, now_));
    else if (const auto* pull = std::get_if<outgoing_pull>(&message.message))
      deliver(server, shards_[server]->on_pull(asker, pull->header, pull->keys, now_));
  }

  void deliver(std::uint32_t server, answers out) {
    const auto reply_to = [&](asker to, auto action) {
      const auto found = askers_.find({server, to});
      REQUIRE(found != askers_.end());  // nobody is answered twice
      const auto [s, epoch, number, question] = found->second;
      askers_.erase(found);
      carry([this, s = s, epoch = epoch, number = number, question = question, action] {
        if (open_.erase(question) > 0) with(s, epoch, [&](slot_loop& l) { action(l, number); });
      });
    };
    for (auto& a : out.pushes)
      reply_to(a.to, [this, a](slot_loop& l, std::uint64_t n) { l.on_reply(n, now_, a.reply); });
    for (auto& a : out.pulls)
      reply_to(a.to, [this, a](slot_loop& l, std::uint64_t n) {
        l.on_reply(n, now_, a.reply, a.keys, a.values);
      });
  }

  void tick() {
    for (std::uint32_t i = 0; i < shards_.size(); ++i) deliver(i, shards_[i]->on_time(now_));
    at(std::chrono::milliseconds(20), [this] { tick(); });
  }

  struct asked {
    std::uint32_t slot;
    std::uint64_t epoch, number, question;
  };
  const pb::JobPlan plan_;
  const make_program programs_;
  const network_faults faults_;
  random_source random_;
  meter work_;
  fault_switches switches_;
  view view_;
  instant now_;
  std::vector<std::unique_ptr<shard>> shards_;
  std::vector<slot_life> slots_;
  std::map<std::pair<instant, std::uint64_t>, std::function<void()>> events_;
  std::set<std::uint64_t> open_;  // questions not yet answered
  std::map<std::pair<std::uint32_t, asker>, asked> askers_;
  std::uint64_t next_event_ = 0, next_question_ = 0;
  asker next_asker_ = 1;
};

}  // namespace troupe::testing
