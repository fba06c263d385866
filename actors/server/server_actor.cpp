#include "actors/server/server_actor.hpp"

#include <caf/all.hpp>

#include "actors/server/loading.hpp"
#include "actors/server/plan.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

template <class Reply>
Reply not_serving() {
  Reply none;
  none.set_outcome(pb::NOT_SERVING);
  return none;
}

// A message whose filters could not be undone.
template <class Reply>
Reply unfiltered(undone outcome) {
  return outcome == undone::content_unknown
             ? with_outcome<Reply>(pb::CONTENT_UNKNOWN)
             : with_outcome<Reply>(pb::BAD_REQUEST, "its bytes do not fit the job's filters");
}

}  // namespace

server_actor::behavior_type server(server_state::pointer self, environment env) {
  return self->state.start(std::move(env));
}

server_actor::behavior_type server_state::start(environment env) {
  env_ = std::move(env);
  keep_exception_text(self_);
  self_->send(self_, tick_atom::value);
  return {
      [this](push_atom, const pb::PushHeader& header, const blob& keys, const blob& values) {
        return on_push(header, keys, values);
      },
      [this](pull_atom, const pb::PullHeader& header, const blob& keys) {
        return on_pull(header, keys);
      },
      [this](adopt_atom, const pb::AdoptSlot& request) { return on_adopt(request); },
      [this](view_atom, const pb::View& message) { return on_view(message); },
      [this](copy_atom, const pb::CopyHeader& header, const blob& keys, const blob& rows) {
        return on_copy(header, keys, rows);
      },
      [this](lease_atom, const pb::LeaseRequest& request) { return on_lease_request(request); },
      [this](summary_atom, const pb::Summarise& request) { return on_summarise(request); },
      [this](save_atom, const pb::SavePart& request) { return on_save(request); },
      [this](load_atom, const pb::LoadPart& request) { return on_load(request); },
      [this](tick_atom) { on_tick(); },
      [this](done_atom, std::uint64_t job) { jobs_.finished(job); },
      [this](wake_atom) { on_wake(); },
  };
}

void server_state::on_tick() {
  auto every = env_.tick;
  if (plan_ && plan_->timings().lease() > 0)
    every = std::min(every, duration(plan_->timings().lease()) / 4);
  self_->delayed_send(self_, every, tick_atom::value);
  joining_.ask(self_, env_, [this](const pb::JoinReply& reply) { on_joined(reply); });
  if (!host_) return;
  deliver(host_->on_time(now()));
  ask_for_leases();
  report(false);
}

void server_state::on_joined(const pb::JoinReply& reply) {
  auto tables = make_tables(reply.plan());
  if (!tables) {
    // The plan was checked before the job started, so this is a bug or a build that differs.
    log("server", log_level::error, tables.failure().text);
    self_->quit(caf::make_error(caf::sec::runtime_error, tables.failure().text));
    return;
  }
  plan_ = reply.plan();
  for (const auto& t : plan_->tables())
    if (t.push_filters_size() + t.pull_filters_size() > 0 && !filters_) filters_.emplace(*plan_);
  auto settings = host_settings_of(*plan_, env_.role.index, env_.incarnation);
  settings.shard.marks = env_.marks.get();
  host_.emplace(
      settings, [plan = *plan_] { return *make_tables(plan); }, *env_.work_done);
  if (auto present = view::from_message(reply.view()); present && present->number() > 0)
    install(std::move(*present));
}

// ---- clients and copies

caf::result<pb::PushReply> server_state::on_push(const pb::PushHeader& header, const blob& keys,
                                                 const blob& values) {
  if (!host_) return not_serving<pb::PushReply>();
  if (header.encoding().steps_size() > 0) {
    auto plain = header;
    auto its_keys = keys, its_values = values;
    const auto outcome = filters_ ? filters_->decode(plain, its_keys, its_values) : undone::damaged;
    if (outcome != undone::done) return unfiltered<pb::PushReply>(outcome);
    return on_push(plain, its_keys, its_values);
  }
  auto promise = self_->make_response_promise<pb::PushReply>();
  const auto number = next_asker_++;
  pushes_.emplace(number, promise);
  deliver(host_->on_push(number, header, keys, values, now()));
  return promise;
}

caf::result<pb::PullReply, blob, blob> server_state::on_pull(const pb::PullHeader& header,
                                                             const blob& keys) {
  if (!host_) return {not_serving<pb::PullReply>(), blob{}, blob{}};
  if (header.encoding().steps_size() > 0) {
    auto plain = header;
    auto its_keys = keys;
    const auto outcome = filters_ ? filters_->decode(plain, its_keys) : undone::damaged;
    if (outcome != undone::done) return {unfiltered<pb::PullReply>(outcome), blob{}, blob{}};
    return on_pull(plain, its_keys);
  }
  auto promise = self_->make_response_promise<pb::PullReply, blob, blob>();
  const auto number = next_asker_++;
  pulls_.emplace(number, asked_pull{promise, filters_ ? std::optional(header) : std::nullopt});
  deliver(host_->on_pull(number, header, keys, now()));
  return promise;
}

caf::result<pb::SlotNumbers> server_state::on_adopt(const pb::AdoptSlot& request) {
  if (!host_) return not_serving<pb::SlotNumbers>();
  auto promise = self_->make_response_promise<pb::SlotNumbers>();
  const auto number = next_asker_++;
  adoptions_.emplace(number, promise);
  deliver(host_->on_adopt(number, request, now()));
  return promise;
}

caf::result<pb::CopyReply> server_state::on_copy(const pb::CopyHeader& header, const blob& keys,
                                                 const blob& rows) {
  if (!host_) return not_serving<pb::CopyReply>();
  auto promise = self_->make_response_promise<pb::CopyReply>();
  const auto number = next_asker_++;
  copies_.emplace(number, promise);
  deliver(host_->on_copy(number, header, keys, rows, now()));
  return promise;
}

void server_state::deliver(answers out) {
  for (auto& answer : out.pushes)
    if (auto node = pushes_.extract(answer.to); !node.empty())
      node.mapped().deliver(std::move(answer.reply));
  for (auto& answer : out.pulls)
    if (auto node = pulls_.extract(answer.to); !node.empty()) {
      auto& [promise, header] = node.mapped();
      if (header) filters_->encode(*header, answer.reply, answer.keys, answer.values);
      promise.deliver(std::move(answer.reply), std::move(answer.keys), std::move(answer.values));
    }
  for (auto& answer : out.adoptions)
    if (auto node = adoptions_.extract(answer.to); !node.empty())
      node.mapped().deliver(std::move(answer.reply));
  for (auto& answer : out.copies)
    if (auto node = copies_.extract(answer.to); !node.empty())
      node.mapped().deliver(std::move(answer.reply));
  for (auto& message : out.changes) send(std::move(message));
  save_on();
  wake_in_time();
  leave_if_taken_for_dead();
}

// However the view came: others have its shards, and it may come back as another.
void server_state::leave_if_taken_for_dead() {
  const bool belongs = host_->present().has_member(env_.role.index, env_.incarnation);
  if (belongs || !was_member_) {
    was_member_ = belongs;
    return;
  }
  was_member_ = false;
  const auto text = format("server %u was taken for dead, and leaves", env_.role.index);
  log("server", log_level::warning, text);
  self_->quit(caf::make_error(caf::sec::runtime_error, text));
}

void server_state::send(copy_message message) {
  auto next = env_.find->server(message.to);
  if (!next) {
    deliver(host_->on_copy_failure(message, "no such node is known", now()));
    return;
  }
  const auto header = message.header;
  // No timer of CAF's goes with it: the shard keeps its deadlines itself.
  auto sent = std::make_shared<copy_message>(copy_message{message.to, header, {}, {}});
  self_
      ->request(next, caf::infinite, copy_atom::value, header, std::move(message.keys),
                std::move(message.rows))
      .then(
          [this, sent](const pb::CopyReply& reply) {
            deliver(host_->on_copied(*sent, reply, now()));
            report(false);
          },
          [this, sent](const caf::error& why) {
            deliver(host_->on_copy_failure(*sent, self_->system().render(why), now()));
          });
}

// One timer is armed at a time; one that was overtaken by an earlier one does nothing.
void server_state::wake_in_time() {
  const auto next = host_->next_wake(now());
  if (!next || (wake_at_ && *wake_at_ <= *next)) return;
  wake_at_ = next;
  self_->delayed_send(self_, std::max(*next - now(), duration::zero()), wake_atom::value);
}

void server_state::on_wake() {
  if (!host_ || !wake_at_ || now() < *wake_at_) return;
  wake_at_.reset();
  deliver(host_->on_time(now()));
}

// ---- views and leave to answer

pb::ViewReply server_state::on_view(const pb::View& message) {
  pb::ViewReply reply;
  if (!host_) {
    reply.set_text("it has not joined");
    return reply;
  }
  auto next = view::from_message(message);
  reply.set_installed(next.ok());
  if (next)
    install(std::move(*next));
  else
    reply.set_text(next.failure().text);
  return reply;
}

void server_state::install(view next) {
  if (next.number() <= host_->present().number()) return;
  pass(env_, landmark::view_installed);
  deliver(host_->install(std::move(next), now()));
  leases_asked_.reset();
  ask_for_leases();
}

void server_state::ask_for_leases() {
  const auto every = duration(plan_->timings().lease()) / 4;
  if (every <= duration::zero() || (leases_asked_ && now() - *leases_asked_ < every)) return;
  leases_asked_ = now();
  for (const auto& ask : host_->lease_requests()) {
    const auto on_reply = [this, to = ask.to, asked = now()](const pb::LeaseReply& reply) {
      deliver(host_->on_lease(to, reply, asked, now()));
    };
    const auto on_error = [](const caf::error&) {};  // asked again with the next
    const auto timeout = duration(plan_->timings().lease());
    if (ask.to == leases::scheduler) {
      if (auto granter = env_.find->scheduler())
        self_->request(granter, timeout, lease_atom::value, ask.request).then(on_reply, on_error);
    } else if (auto granter = env_.find->server(ask.to)) {
      self_->request(granter, timeout, lease_atom::value, ask.request).then(on_reply, on_error);
    }
  }
}

pb::LeaseReply server_state::on_lease_request(const pb::LeaseRequest& request) {
  return host_ ? host_->grant(request, now()) : pb::LeaseReply{};
}

// What the scheduler must hear at once is said at once, the rest now and then.
void server_state::report(bool even_if_nothing_new) {
  const auto said = host_->report(now());
  std::string text;
  for (const auto& s : said.shards())
    text += format("%d%d%d", s.ready() ? 1 : 0, s.still() ? 1 : 0, s.trouble().empty() ? 0 : 1);
  const bool due = !reported_ || now() - *reported_ >= duration(plan_->timings().report_every());
  if (!due && !even_if_nothing_new && text == reported_text_) return;
  auto scheduler = env_.find->scheduler();
  if (!scheduler) return;
  reported_ = now();
  reported_text_ = text;
  self_->send(scheduler, report_atom::value, said);
}

// ---- whole tables

caf::result<pb::TableSummary> server_state::on_summarise(const pb::Summarise& request) {
  const auto* s = host_ ? host_->find(request.shard()) : nullptr;
  if (s == nullptr || !s->primary() || request.table() >= s->tables().size())
    return caf::sec::invalid_argument;
  return summary_of(*s, request.table());
}

caf::result<pb::SavedPart> server_state::on_save(const pb::SavePart& request) {
  pb::SavedPart refused;
  auto* s = host_ ? host_->find(request.shard()) : nullptr;
  if (s == nullptr || !s->primary()) {
    refused.set_text("it is not the shard's primary");
    refused.set_again(true);
    return refused;
  }
  const auto at =
      request.at_version() ? std::optional<std::uint64_t>(request.version()) : std::nullopt;
  if (const auto before = savings_.find(request.shard()); before != savings_.end()) {
    refused.set_text("another save was asked for");
    refused.set_again(true);
    before->second.promise.deliver(refused);
    savings_.erase(before);
    refused.Clear();
  }
  if (!s->arm_snapshot(request.with_state(), at)) {
    refused.set_past(true);
    refused.set_version(s->version());
    return refused;
  }
  auto promise = self_->make_response_promise<pb::SavedPart>();
  savings_.emplace(request.shard(),
                   save_under_way{next_asker_++, saving(env_.files, request), promise});
  save_on();
  return promise;
}

void server_state::save_on() {
  for (auto i = savings_.begin(); i != savings_.end();) {
    auto& [number, work, promise] = i->second;
    if (auto job = work.next(host_->find(i->first))) {
      pass(env_, landmark::snapshot_piece);
      auto me = caf::actor_cast<server_actor>(self_);
      const auto tell = [me](std::uint64_t n) { caf::anon_send(me, done_atom::value, n); };
      const auto written = [this, shard = i->first, number = number](const result<void>& outcome) {
        const auto found = savings_.find(shard);
        if (found == savings_.end() || found->second.number != number) return;
        found->second.work.on_written(outcome);
        save_on();
      };
      if (!jobs_.run(*env_.io, std::move(*job), written, tell))
        work.on_written(error{errc::io, "more file work is waiting than the node allows"});
    }
    if (work.over() && work.over()->done()) pass(env_, landmark::snapshot_over);
    if (!work.over()) {
      ++i;
      continue;
    }
    if (auto* s = host_->find(i->first)) s->drop_snapshot();
    promise.deliver(*work.over());
    i = savings_.erase(i);
  }
}

// The tables are the background's until it has answered: pushes and pulls are put off.
caf::result<pb::LoadedPart> server_state::on_load(const pb::LoadPart& request) {
  pb::LoadedPart refused;
  refused.set_code(static_cast<std::int32_t>(errc::lost));
  auto* s = host_ ? host_->find(request.shard()) : nullptr;
  if (s != nullptr && request.restoring() && !s->loading()) {
    pb::LoadedPart before;  // it serves already: asked again by a scheduler that does not know
    before.set_done(true);
    return before;
  }
  if (s == nullptr || !loads_.insert(request.shard()).second) {
    refused.set_text("it has no such shard yet, or is loading it already");
    return refused;
  }
  auto promise = self_->make_response_promise<pb::LoadedPart>();
  auto me = caf::actor_cast<server_actor>(self_);
  s->begin_loading();
  const auto loaded = [this, promise, request, tables = s->tables()](pb::LoadedPart part) mutable {
    loads_.erase(request.shard());
    pass(env_, landmark::rows_loaded);
    auto* shard = host_->find(request.shard());
    // It may have been given up, and begun anew, meanwhile; and what is to be restored serves no
    // sooner than it is.
    const bool same = shard != nullptr && shard->tables() == tables;
    if (same && (part.done() || !request.restoring())) {
      answers out;
      shard->end_loading(part.done() && request.with_slots() ? &request : nullptr, now(), out);
      deliver(std::move(out));
    }
    promise.deliver(std::move(part));
  };
  const auto job = [files = env_.files, tables = s->tables(), request] {
    return load_part(*files, tables, request);
  };
  const auto tell = [me](std::uint64_t number) { caf::anon_send(me, done_atom::value, number); };
  if (!jobs_.run(*env_.io, job, loaded, tell)) {
    loads_.erase(request.shard());
    answers out;
    if (!request.restoring()) s->end_loading(nullptr, now(), out);
    deliver(std::move(out));
    refused.set_text("more file work is waiting than the node allows");
    promise.deliver(refused);
  }
  return promise;
}

}  // namespace troupe
