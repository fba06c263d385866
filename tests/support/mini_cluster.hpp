#pragma once
// Servers and slots without actors, over a network that loses, repeats, delays and reorders
// messages as a seed decides, in a time of its own. What the protocol promises must hold whatever
// such a network does.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "actors/server/plan.hpp"
#include "actors/server/shard_host.hpp"
#include "actors/worker/plan.hpp"
#include "actors/worker/slot_loop.hpp"
#include "core/random.hpp"
#include "tests/support/toy_job.hpp"
#include "tests/support/views.hpp"

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
               network_faults faults, std::uint64_t seed, std::vector<slowness> slow = {},
               std::uint32_t copies = 0)
      : plan_(std::move(plan)),
        programs_(std::move(programs)),
        faults_(faults),
        random_(seed),
        switches_({}, std::move(slow)) {
    REQUIRE(make_tables(plan_).ok());
    view_ = view_of_servers(servers, 1, copies);
    for (std::uint32_t i = 0; i < servers; ++i) {
      auto settings = host_settings_of(plan_, i, 1);
      settings.lease = {};
      hosts_.push_back(std::make_unique<shard_host>(
          settings, [this] { return *make_tables(plan_); }, work_));
      deliver(i, hosts_.back()->install(view_, now_));
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
      for (std::uint32_t i = 0; i < hosts_.size(); ++i)
        sum += server(i).tables()[static_cast<std::size_t>(t)]->summary().digest;
      text += to_hex(sum) + " ";
    }
    return text;
  }
  const slot_loop& slot(std::uint32_t s) const { return *slots_[s].loop; }
  // The shard that the server is the primary of.
  shard& server(std::uint32_t i) { return *hosts_[i]->find(i); }
  const shard& server(std::uint32_t i) const { return *hosts_[i]->find(i); }
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
    for (const auto& a : loop.take_adoptions()) {
      const auto server = a.server;
      const auto request = a.request;
      carry([=] {
        const auto asker = next_asker_++;
        adopters_[{server, asker}] = {s, epoch, request.shard()};
        deliver(server, hosts_[server]->on_adopt(asker, request, now_));
      });
      at(std::chrono::seconds(2), [=] {
        if (slots_[s].epoch == epoch &&
            slots_[s].loop->present_state() == slot_loop::state::adopting)
          with(s, epoch, [&](slot_loop& l) { l.on_adopt_failure(request.shard(), now_); });
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
      deliver(server, hosts_[server]->on_push(asker, push->header, push->keys, push->values, now_));
    else if (const auto* pull = std::get_if<outgoing_pull>(&message.message))
      deliver(server, hosts_[server]->on_pull(asker, pull->header, pull->keys, now_));
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
    for (auto& a : out.adoptions) {
      const auto found = adopters_.find({server, a.to});
      REQUIRE(found != adopters_.end());
      const auto [s, epoch, shard_number] = found->second;
      adopters_.erase(found);
      carry([this, s = s, epoch = epoch, number = shard_number, reply = a.reply] {
        with(s, epoch, [&](slot_loop& l) { l.on_numbers(number, reply, now_); });
      });
    }
    for (auto& a : out.copies) {
      const auto found = passed_on_.find({server, a.to});
      REQUIRE(found != passed_on_.end());
      const auto [from, message] = found->second;
      passed_on_.erase(found);
      carry([this, from = from, message = message, reply = a.reply] {
        deliver(from, hosts_[from]->on_copied(message, reply, now_));
      });
    }
    for (auto& m : out.changes)
      carry([this, server, m] {
        const auto asker = next_asker_++;
        passed_on_.emplace(std::pair(m.to, asker), std::pair(server, m));
        deliver(m.to, hosts_[m.to]->on_copy(asker, m.header, m.keys, m.rows, now_));
      });
    for (auto& a : out.pulls)
      reply_to(a.to, [this, a](slot_loop& l, std::uint64_t n) {
        l.on_reply(n, now_, a.reply, a.keys, a.values);
      });
  }

  void tick() {
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) deliver(i, hosts_[i]->on_time(now_));
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
  std::vector<std::unique_ptr<shard_host>> hosts_;
  std::vector<slot_life> slots_;
  std::map<std::pair<instant, std::uint64_t>, std::function<void()>> events_;
  std::set<std::uint64_t> open_;  // questions not yet answered
  std::map<std::pair<std::uint32_t, asker>, asked> askers_;
  std::map<std::pair<std::uint32_t, asker>, std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>>
      adopters_;  // slot, epoch, shard
  std::map<std::pair<std::uint32_t, asker>, std::pair<std::uint32_t, copy_message>> passed_on_;
  std::uint64_t next_event_ = 0, next_question_ = 0;
  asker next_asker_ = 1;
};

}  // namespace troupe::testing
