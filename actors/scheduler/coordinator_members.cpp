// Who belongs to the cluster: joining, dying, draining, and the views that follow.

#include <algorithm>

#include "actors/scheduler/coordinator.hpp"
#include "core/text.hpp"
#include "messages/roles.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

constexpr std::uint32_t most_nodes = 1 << 16;  // of a role

}  // namespace

// ---- joining

std::optional<std::string> coordinator::objection(const pb::Join& join) const {
  if (join.protocol() != protocol_version)
    return format("it speaks protocol %u, this cluster %u", join.protocol(), protocol_version);
  if (join.build() != build_version())
    return format("it is build %s, this cluster %s", join.build().c_str(), build_version());
  if (join.role() != pb::SERVER && join.role() != pb::WORKER)
    return "only servers and workers join";
  if (join.index() >= most_nodes)
    return format("nodes of a role are numbered from 0 to %u", most_nodes - 1);
  const auto& nodes = join.role() == pb::SERVER ? servers_ : workers_;
  const auto found = nodes.find(join.index());
  if (found == nodes.end()) return std::nullopt;
  const auto& known = found->second;
  if (join.incarnation() < known.incarnation)
    return format("incarnation %llu has been replaced by %llu",
                  static_cast<unsigned long long>(join.incarnation()),
                  static_cast<unsigned long long>(known.incarnation));
  if (join.role() == pb::SERVER && known.dead && join.incarnation() == known.incarnation)
    return format("incarnation %llu was taken for dead",
                  static_cast<unsigned long long>(join.incarnation()));
  return std::nullopt;
}

pb::JoinReply coordinator::refuse(const pb::Join& join, const std::string& why) const {
  pb::JoinReply reply;
  reply.set_text(to_string({join.role(), join.index()}) + " may not join: " + why);
  return reply;
}

pb::JoinReply coordinator::on_join(const pb::Join& join, instant now) {
  if (const auto why = objection(join)) return refuse(join, *why);
  const role_id id{join.role(), join.index()};
  auto& n = (join.role() == pb::SERVER ? servers_ : workers_)[join.index()];
  const bool new_life = join.incarnation() > n.incarnation;
  // It has come back before its silence was noticed: what its earlier life held is gone.
  if (new_life && n.joined && !n.dead && !ended())
    on_dead(id,
            format("it has come back as incarnation %llu",
                   static_cast<unsigned long long>(join.incarnation())),
            now);
  const bool late = new_life && phase_ > pb::JobStatus::GATHERING;
  n.incarnation = join.incarnation();
  n.joined = true;
  n.dead = false;
  n.view_installed = false;
  n.view_sent.reset();
  detector_.heard(id, now);
  changed_ = true;
  if (late)
    note(now, to_string(id) + format(" joins as incarnation %llu",
                                     static_cast<unsigned long long>(n.incarnation)));
  pb::JoinReply reply;
  reply.set_accepted(true);
  *reply.mutable_plan() = settings_.plan;
  if (join.role() == pb::WORKER && new_life) {
    if (n.task) (void)measurement_.give_back(*std::exchange(n.task, std::nullopt), true);
    if (phase_ == pb::JobStatus::TRAINING) give_slots_to(join.index(), now);
  }
  if (join.role() == pb::SERVER) on_server_joined(join.index(), new_life, now);
  if (!view_.empty()) *reply.mutable_view() = view_.to_message();
  start_when_all_joined(now);
  hand_out_tasks();
  return reply;
}

void coordinator::start_when_all_joined(instant now) {
  if (phase_ != pb::JobStatus::GATHERING) return;
  for (std::uint32_t i = 0; i < settings_.servers; ++i)
    if (!servers_[i].alive()) return;
  for (std::uint32_t i = 0; i < settings_.workers; ++i)
    if (!workers_[i].alive()) return;
  phase_ = pb::JobStatus::STARTING;
  changed_ = true;
  if (!settings_.resume) return start_from(std::nullopt, now);
  errand_ = errand::reading;
  commands_.push_back(read_checkpoint{});
}

// A server that comes while the job goes on gets its arcs of the ring; one that has been here
// before gets back what was cut for it.
void coordinator::on_server_joined(std::uint32_t, bool new_life, instant now) {
  if (errand_ == errand::reading && start_with_)
    return start_from(*std::exchange(start_with_, std::nullopt), now);
  if (view_.empty() || ended()) return;
  if (!new_life) return send_views(now);
  replan(now);
  split_for_newcomers(now);
}

void coordinator::split_for_newcomers(instant now) {
  if (view_.empty() || !may_split()) return;
  for (const auto& [index, n] : servers_) {
    const auto home = [i = index](const shard_entry& e) { return e.home == i; };
    if (!n.alive() || n.draining || std::any_of(view_.shards().begin(), view_.shards().end(), home))
      continue;
    std::vector<std::uint32_t> made;
    const auto number = next_view_number();
    auto split = split_for(view_, number, index, settings_.virtual_nodes, next_shard_, made);
    if (made.empty()) continue;
    next_shard_ += static_cast<std::uint32_t>(made.size());
    for (const auto shard : made) targets_[shard] = index;
    publish(std::move(split), now);
    replan(now);
  }
}

// ---- signs of life

void coordinator::on_beat(const pb::Beat& beat, instant now) {
  auto& nodes = beat.role() == pb::SERVER ? servers_ : workers_;
  const auto found = nodes.find(beat.index());
  if (found == nodes.end() || found->second.incarnation != beat.incarnation()) return;
  auto& n = found->second;
  if (!n.joined && !n.dead) return;
  if (!n.dead) return detector_.heard({beat.role(), beat.index()}, now);
  if (beat.role() == pb::SERVER && phase_ != pb::JobStatus::GATHERING) {
    // Others have what it had: it is shown so, and leaves.
    if (!view_.empty() && (!n.view_sent || now - *n.view_sent > std::chrono::seconds(1))) {
      n.view_sent = now;
      commands_.push_back(send_view{beat.index(), view_.to_message()});
    }
    return;
  }
  // A worker holds nothing: its slots have been given away, and it may have others. Nor does a
  // server before there is a view.
  n.dead = false;
  n.joined = changed_ = true;
  detector_.heard({beat.role(), beat.index()}, now);
  note(now, to_string({beat.role(), beat.index()}) + " is heard of again");
  if (phase_ == pb::JobStatus::TRAINING) give_slots_to(beat.index(), now);
  start_when_all_joined(now);
  hand_out_tasks();
}

// The leave of a primary without copies: as long as it is not dead.
pb::LeaseReply coordinator::on_lease(const pb::LeaseRequest& request, instant) {
  pb::LeaseReply reply;
  const auto found = servers_.find(request.server());
  const bool ours = found != servers_.end() && found->second.alive() &&
                    found->second.incarnation == request.incarnation();
  if (request.view() < view_.number()) *reply.mutable_view() = view_.to_message();
  if (!ours || request.view() < view_.number()) return reply;
  reply.set_granted(true);
  return reply;
}

void coordinator::on_report(const pb::ServerReport& report, instant now) {
  const auto found = servers_.find(report.server());
  if (found == servers_.end() || found->second.incarnation != report.incarnation()) return;
  auto& n = found->second;
  n.waits.clear();
  bool news = false;
  for (const auto& s : report.shards()) {
    if (!s.waiting_for().empty()) n.waits.push_back(s.waiting_for());
    if (s.primary()) {
      load_[s.shard()] = s.keys();
      rows_[s.shard()] = s.rows();
    }
    const auto* e = view_.find(s.shard());
    if (e == nullptr || e->epoch != s.epoch()) continue;
    const auto key = std::pair(s.shard(), s.epoch());
    if (s.ready()) news |= filled_.insert(key).second;
    if (s.still()) news |= still_.insert(key).second;
    const auto behind = e->after(report.server());
    if (!s.trouble().empty() && behind && failed_.insert({key, *behind}).second) {
      news = true;
      note(now, format("server %u, shard %u: ", report.server(), s.shard()) + s.trouble() +
                    "; it counts as lost");
    }
  }
  if (news) replan(now);
}

// ---- leaving

pb::CommandReply coordinator::on_drain(const pb::DrainNode& drain, instant now) {
  pb::CommandReply reply;
  auto& nodes = drain.role() == pb::SERVER ? servers_ : workers_;
  const auto found = nodes.find(drain.index());
  const auto name = to_string({drain.role(), drain.index()});
  const auto others = [&] {
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) {
      return n.first != drain.index() && n.second.alive() && !n.second.draining;
    });
  };
  if (ended())
    reply.set_text("the job has ended");
  else if (found == nodes.end() || !found->second.alive())
    reply.set_text(name + " is not there");
  else if (found->second.draining)
    reply.set_text(name + " is being drained already");
  else if (!others())
    reply.set_text(name + " is the last of its kind: nobody could take what it has");
  if (!reply.text().empty()) return reply;
  reply.set_accepted(true);
  reply.set_text("what " + name + " has goes to others");
  found->second.draining = changed_ = true;
  note(now, to_string({drain.role(), drain.index()}) + " is drained");
  if (drain.role() == pb::SERVER)
    replan(now);
  else
    take_slots_from(drain.index(), now);
  return reply;
}

pb::CommandReply coordinator::on_rebalance(const pb::Rebalance&, instant now) {
  pb::CommandReply reply;
  reply.set_text(ended() ? "the job has ended" : "there are no shards yet");
  if (view_.empty() || ended()) return reply;
  reply.set_accepted(true);
  reply.set_text("the load is even already");
  const auto plan = plan_rebalancing(view_, facts().servers, load_);
  if (plan.targets.empty() && !plan.split) return reply;
  reply.set_text("shards move to even out the load");
  changed_ = true;
  for (const auto& [shard, server] : plan.targets) {
    targets_[shard] = server;
    note(now, format("shard %u moves to server %u, to even out the load", shard, server));
  }
  if (plan.split && may_split()) {
    note(now, format("shard %u is split, to even out the load", *plan.split));
    const auto made = next_shard_++;
    load_[made] = load_[*plan.split] /= 2;
    publish(split_in_half(view_, next_view_number(), *plan.split, made), now);
    const auto more = plan_rebalancing(view_, facts().servers, load_);
    for (const auto& [shard, server] : more.targets) targets_[shard] = server;
  }
  replan(now);
  return reply;
}

// A supervisor's word, which comes sooner than silence is noticed.
void coordinator::on_down(const pb::NodeDown& down, instant now) {
  if (ended()) return;
  const auto name = to_string({down.role(), down.index()});
  if (down.role() == pb::WORKER && down.final())
    return fail(errc::lost,
                format("%s died and its restart budget is spent after %u restarts: %s",
                       name.c_str(), down.restarts(), down.reason().c_str()),
                now);
  auto& nodes = down.role() == pb::SERVER ? servers_ : workers_;
  const auto n = nodes.find(down.index());
  if (n == nodes.end() || n->second.incarnation > down.incarnation()) return;
  if (down.role() == pb::SERVER) {
    n->second.incarnation = std::max(n->second.incarnation, down.incarnation());
    return on_dead({down.role(), down.index()}, down.reason(), now);
  }
  ++restarts_;
  n->second.joined = false;
  changed_ = true;
}

void coordinator::on_dead(role_id id, const std::string& why, instant now) {
  auto& n = (id.role == pb::SERVER ? servers_ : workers_)[id.index];
  if (n.dead || ended()) return;
  n.dead = true;
  n.joined = false;
  changed_ = true;
  detector_.forget(id);
  note(now, to_string(id) + " is dead: " + why);
  if (id.role == pb::WORKER) {
    if (n.task) (void)measurement_.give_back(*std::exchange(n.task, std::nullopt), true);
    if (phase_ == pb::JobStatus::TRAINING) take_slots_from(id.index, now);
    return hand_out_tasks();
  }
  const bool held = std::any_of(view_.shards().begin(), view_.shards().end(),
                                [&](const shard_entry& e) { return e.holds(id.index); });
  if (held) ++failovers_;
  replan(now);
}

void coordinator::fail_if_nobody_is_left(instant now) {
  const bool left =
      phase_ < pb::JobStatus::STARTING || (!living_servers().empty() && !living_workers().empty());
  if (left) return nobody_since_.reset();
  if (!nobody_since_) nobody_since_ = now;
  const duration patience(settings_.plan.timings().patience());
  if (now - *nobody_since_ > patience)
    fail(errc::lost,
         format("for %.0f s there has been no %s", seconds_of(patience),
                living_servers().empty() ? "server" : "worker"),
         now);
}

// ---- views

std::vector<member> coordinator::living_servers() const {
  std::vector<member> all;
  for (const auto& [index, n] : servers_)
    if (n.alive()) all.push_back({index, n.incarnation});
  return all;
}

std::vector<std::uint32_t> coordinator::living_workers() const {
  std::vector<std::uint32_t> all;
  for (const auto& [index, n] : workers_)
    if (n.alive() && !n.draining) all.push_back(index);
  return all;
}

cluster_facts coordinator::facts() const {
  cluster_facts f;
  for (const auto& [index, n] : servers_)
    if (n.alive()) f.servers.push_back({{index, n.incarnation}, n.draining, n.view_installed});
  f.copies = settings_.copies;
  f.targets = targets_;
  f.filled = filled_;
  f.still = still_;
  f.failed = failed_;
  return f;
}

void coordinator::replan(instant now) {
  if (view_.empty() || ended() || living_servers().empty()) return;
  if (errand_ == errand::reading) return;  // all shards are made anew, with whoever is there then
  auto next = plan_view(view_, (incarnation_ << 32) + views_ + 1, facts());
  if (!next.changed) return;
  ++views_;
  if (!next.lost.empty() && bulk_synchronous()) return recover(next.lost, now);
  publish(std::move(*next.changed), now);
  if (!next.lost.empty()) recover(next.lost, now);
}

void coordinator::publish(view next, instant now) {
  for (const auto& e : next.shards())
    if (const auto* before = view_.find(e.number); before && before->primary() != e.primary())
      note(now, format("shard %u goes on at server %u", e.number, e.primary()));
  view_ = std::move(next);
  changed_ = true;
  const auto past = [this](const std::pair<std::uint32_t, std::uint64_t>& key) {
    const auto* e = view_.find(key.first);
    return e == nullptr || e->epoch != key.second;
  };
  for (auto* set : {&filled_, &still_})
    for (auto i = set->begin(); i != set->end();) i = past(*i) ? set->erase(i) : std::next(i);
  for (auto i = failed_.begin(); i != failed_.end();)
    i = past(i->first) ? failed_.erase(i) : std::next(i);
  for (auto* by_shard : {&load_, &rows_})
    for (auto i = by_shard->begin(); i != by_shard->end();)
      i = view_.find(i->first) == nullptr ? by_shard->erase(i) : std::next(i);
  for (auto i = targets_.begin(); i != targets_.end();)
    i = view_.find(i->first) == nullptr ? targets_.erase(i) : std::next(i);
  for (auto& [server, n] : servers_) {
    n.view_installed = false;
    n.view_sent.reset();
  }
  send_views(now);
  for (const auto& [worker, n] : workers_)
    if (n.alive()) commands_.push_back(tell_view{worker, view_.to_message()});
  if (checkpoint_ && !checkpoint_->publishing)
    abandon_checkpoint("the cluster has changed", board_.largest_clock() + 2, now);
  errands_in_new_view(now);
}

// Servers answer; one that does not is asked again.
void coordinator::send_views(instant now) {
  if (view_.empty()) return;
  const duration again(settings_.plan.timings().request_timeout());
  for (auto& [server, n] : servers_) {
    if (!n.alive() || n.view_installed || (n.view_sent && now - *n.view_sent < again)) continue;
    n.view_sent = now;
    commands_.push_back(send_view{server, view_.to_message()});
  }
}

bool coordinator::all_installed() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const auto& s) { return !s.second.alive() || s.second.view_installed; });
}

void coordinator::on_view(std::uint32_t server, std::uint64_t number,
                          const result<pb::ViewReply>& reply, instant now) {
  if (ended()) return;
  auto& n = servers_[server];
  if (number != view_.number()) return;
  if (!reply || !reply->installed()) {  // tried again soon
    n.view_sent = now + (std::chrono::milliseconds(50) -
                         duration(settings_.plan.timings().request_timeout()));
    if (phase_ == pb::JobStatus::STARTING && generation_ == 0 &&
        now - begun_ > settings_.join_patience)
      fail(errc::timeout,
           format("server %u does not install the view: %s", server,
                  reply ? reply->text().c_str() : reply.failure().text.c_str()),
           now);
    return;
  }
  n.view_installed = true;
  // Who drains may leave when those that stay have been shown to live.
  if (std::any_of(servers_.begin(), servers_.end(),
                  [](const auto& s) { return s.second.draining; }))
    replan(now);
  when_installed(now);
}

void coordinator::when_installed(instant now) {
  if (phase_ != pb::JobStatus::STARTING || errand_ != errand::none || !all_installed()) return;
  if (source_of_.empty()) return start_training(now);
  errand_ = errand::loading;
  load(now);
}

}  // namespace troupe
