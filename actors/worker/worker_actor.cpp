#include "actors/worker/worker_actor.hpp"

#include <caf/all.hpp>
#include <stdexcept>

#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {

namespace {

std::optional<std::uint64_t> limit_of(const pb::Assignment& assignment) {
  return assignment.halts() ? std::optional<std::uint64_t>(assignment.limit()) : std::nullopt;
}

}  // namespace

worker_actor::behavior_type worker(worker_state::pointer self, environment env,
                                   worker_setup setup) {
  return self->state.start(std::move(env), std::move(setup));
}

worker_actor::behavior_type worker_state::start(environment env, worker_setup setup) {
  env_ = std::move(env);
  setup_ = std::move(setup);
  keep_exception_text(self_);
  self_->send(self_, tick_atom::value);
  return {
      [this](assign_atom, const pb::Assignment& assignment) { on_assign(assignment); },
      [this](stop_atom, const pb::StopSlots&) { on_stop(); },
      [this](eval_atom, const pb::EvaluateTask& task) { return on_evaluate(task); },
      [this](view_atom, const pb::View& message) { on_view(message); },
      [this](tick_atom) { on_tick(); },
      [this](wake_atom) { on_wake(); },
      [this](done_atom, std::uint64_t job) {
        jobs_.finished(job);
        read_what_was_put_off();
      },
  };
}

void worker_state::on_tick() {
  self_->delayed_send(self_, plan_ ? duration(plan_->timings().report_every()) : env_.tick,
                      tick_atom::value);
  joining_.ask(self_, env_, [this](const pb::JoinReply& reply) {
    plan_ = reply.plan();
    if (has_filters(*plan_)) filters_ = worker_end(*plan_);
    for (const auto& [slot, assignment] : std::exchange(early_, {})) on_assign(assignment);
  });
  report();
}

void worker_state::on_assign(const pb::Assignment& assignment) {
  if (!plan_) {  // it overtook the answer to our joining
    early_[assignment.slot()] = assignment;
    return;
  }
  for (const auto& [who, loop] : slots_)
    if (loop->identity().slot == assignment.slot()) {
      if (loop->identity().epoch > assignment.epoch()) return;
      if (loop->identity().epoch == assignment.epoch()) {  // again, with its present limit
        loop->go_by(assignment.stages());
        loop->halt_at(limit_of(assignment), now_of(self_));
        return flush(who);
      }
      slots_.erase(who);
      break;
    }
  auto present = view::from_message(assignment.view());
  if (!present) return log("worker", log_level::error, present.failure().text);
  slot_settings settings;
  settings.slot = {assignment.slot(), assignment.epoch()};
  settings.client = client_settings_of(*plan_);
  settings.window = window_of(*plan_);
  const auto who = next_talker_++;
  auto program = setup_.app->slot(assignment.slot(), *env_.work_done);
  const auto clocks = program->clocks();
  auto loop = std::make_unique<slot_loop>(settings, table_shapes_of(*plan_), std::move(*present),
                                          std::move(program), *setup_.faults, *env_.work_done);
  loop->kv().filter_pushes(push_filters_of(*plan_), plan_->seed(), clocks);
  loop->go_by(assignment.stages());
  loop->halt_at(limit_of(assignment), now_of(self_));
  slots_.emplace(who, std::move(loop)).first->second->start(now_of(self_));
  flush(who);
}

void worker_state::on_stop() {
  for (const auto who : everybody())
    if (const auto found = slots_.find(who); found != slots_.end()) {
      found->second->stop(now_of(self_));
      flush(who);
    }
}

caf::result<pb::EvaluatedPart, blob> worker_state::on_evaluate(const pb::EvaluateTask& task) {
  pb::EvaluatedPart refusal;
  auto program = setup_.app->evaluation(task, *env_.work_done);
  auto present = view::from_message(task.view());
  if (!plan_ || !program || !present) {
    const auto why = !plan_     ? error{errc::lost, "the worker has not joined"}
                     : !program ? program.failure()
                                : present.failure();
    refusal.set_code(static_cast<std::int32_t>(why.code));
    refusal.set_text(why.text);
    return {refusal, blob{}};
  }
  const auto who = next_talker_++;
  auto& e = evaluations_[who];
  e.promise = self_->make_response_promise<pb::EvaluatedPart, blob>();
  e.loop =
      std::make_unique<evaluation_loop>(client_settings_of(*plan_), table_shapes_of(*plan_),
                                        std::move(*present), std::move(*program), *env_.work_done);
  auto promise = e.promise;
  e.loop->start(now_of(self_));
  flush(who);
  return promise;
}

void worker_state::on_view(const pb::View& message) {
  auto next = view::from_message(message);
  if (!next) return log("worker", log_level::error, next.failure().text);
  for (const auto who : everybody()) {
    find(who)->use(*next, now_of(self_));
    flush(who);
  }
}

conversation* worker_state::find(talker who) {
  if (const auto slot = slots_.find(who); slot != slots_.end()) return slot->second.get();
  if (const auto e = evaluations_.find(who); e != evaluations_.end()) return e->second.loop.get();
  return nullptr;
}

template <class... Reply>
void worker_state::on_reply(talker who, std::uint64_t number, const Reply&... reply) {
  auto* talks = find(who);
  if (talks == nullptr) return;
  talks->on_reply(number, now_of(self_), reply...);
  flush(who);
}

void worker_state::on_failure(talker who, std::uint64_t number, const caf::error& why) {
  auto* talks = find(who);
  if (talks == nullptr) return;
  talks->on_failure(number, "no reply: " + self_->system().render(why), now_of(self_));
  flush(who);
}

void worker_state::flush(talker who, timers when) {
  auto* talks = find(who);
  if (talks == nullptr) return;
  if (const auto slot = slots_.find(who); slot != slots_.end()) flush_adoptions(who, *slot->second);
  for (auto& message : talks->take_outgoing()) send(who, std::move(message));
  for (auto& order : talks->take_reads()) read(who, std::move(order));
  if (when == timers::now) wake_in_time(*talks);
  conclude(who);
}

void worker_state::flush_adoptions(talker who, slot_loop& slot) {
  for (const auto& a : slot.take_adoptions()) {
    const auto shard = a.request.shard();
    const auto failed = [this, who, shard] {
      if (const auto found = slots_.find(who); found != slots_.end()) {
        found->second->on_adopt_failure(shard, now_of(self_));
        wake_in_time(*found->second);
      }
    };
    auto handle = env_.find->server(a.server);
    if (!handle) {
      failed();
      continue;
    }
    self_->request(handle, env_.request_timeout, adopt_atom::value, a.request)
        .then(
            [this, who, shard](const pb::SlotNumbers& numbers) {
              if (const auto found = slots_.find(who); found != slots_.end()) {
                found->second->on_numbers(shard, numbers, now_of(self_));
                flush(who);
              }
            },
            [failed](const caf::error&) { failed(); });
  }
}

void worker_state::send(talker who, outgoing message) {
  auto server = env_.find->server(message.server);
  if (!server) {
    if (auto* talks = find(who); talks != nullptr)
      talks->on_failure(message.number, "no such node is known", now_of(self_));
    return;
  }
  const auto plain = filter(who, message);
  send_once(who, message, server, plain);
  if (std::holds_alternative<outgoing_push>(message.message)) pass(env_, landmark::push_sent);
  if (setup_.faults->none()) return;
  const auto* push = std::get_if<outgoing_push>(&message.message);
  if (push == nullptr || push->header.finish()) return;
  if (setup_.faults->strikes(push->header.slot(), push->header.clock(), fault_place::repeat_push))
    send_once(who, message, server, plain);
  if (std::holds_alternative<outgoing_push>(message.message)) pass(env_, landmark::push_sent);
  if (setup_.faults->strikes(push->header.slot(), push->header.clock(), fault_place::between_sends))
    throw std::runtime_error(format("debug.throws: slot %u throws between the sends of clock %llu",
                                    push->header.slot(),
                                    static_cast<unsigned long long>(push->header.clock())));
}

// The message as it was, if a server may not know its keys.
std::shared_ptr<outgoing> worker_state::filter(talker who, outgoing& message) {
  if (filters_.empty()) {
    if (logs("traffic", log_level::trace)) trace(who, message, message);
    return nullptr;
  }
  auto plain = std::make_shared<outgoing>(message);
  const bool near = env_.find->near(server_role(message.server)) && !plan_->filters_everywhere();
  if (auto* push = std::get_if<outgoing_push>(&message.message)) {
    filters_.encode(message.server, who, near, push->header, push->keys, push->values);
  } else if (auto* pull = std::get_if<outgoing_pull>(&message.message)) {
    filters_.encode(message.server, who, near, pull->header, pull->keys);
  }
  if (logs("traffic", log_level::trace)) trace(who, *plain, message);
  return plain;
}

// A server that does not know the keys of a signature is sent them, and the client hears nothing of
// it.
bool worker_state::sent_again(talker who, pb::Outcome outcome,
                              const std::shared_ptr<outgoing>& plain) {
  if (outcome != pb::CONTENT_UNKNOWN || !plain) return false;
  filters_.forget(plain->server);
  if (find(who) != nullptr) send(who, *plain);
  return true;
}

void worker_state::trace(talker who, const outgoing& plain, const outgoing& sent) const {
  const auto slot = slots_.find(who);
  const auto from = slot == slots_.end() ? std::string("an evaluation")
                                         : format("slot %u", slot->second->identity().slot);
  const auto size = [](const outgoing& m) {
    if (const auto* push = std::get_if<outgoing_push>(&m.message))
      return push->keys.size() + push->values.size();
    return std::get<outgoing_pull>(m.message).keys.size();
  };
  std::string what;
  const pb::Encoding* encoding = nullptr;
  std::size_t keys = 0;
  if (const auto* push = std::get_if<outgoing_push>(&sent.message)) {
    const auto& h = push->header;
    encoding = &h.encoding();
    keys = std::get<outgoing_push>(plain.message).keys.size() / sizeof(position);
    what = format("push of table %u, clock %llu.%u", h.table(),
                  static_cast<unsigned long long>(h.clock()), h.index());
  } else {
    const auto& h = std::get<outgoing_pull>(sent.message).header;
    encoding = &h.encoding();
    keys = std::get<outgoing_pull>(plain.message).keys.size() / sizeof(position);
    what = format("pull of table %u, clock %llu", h.table(),
                  static_cast<unsigned long long>(h.clock()));
  }
  log("traffic", log_level::trace,
      format("%s -> server %u: %s: %zu keys, %zu bytes, sent as %zu by %d filters", from.c_str(),
             sent.server, what.c_str(), keys, size(plain), size(sent), encoding->steps_size()));
}

// No timer of CAF's goes with a request: the client keeps its deadlines itself.
void worker_state::send_once(talker who, const outgoing& message, const server_actor& server,
                             const std::shared_ptr<outgoing>& plain) {
  const auto number = message.number;
  const auto failed = [this, who, number](const caf::error& why) { on_failure(who, number, why); };
  if (const auto* push = std::get_if<outgoing_push>(&message.message))
    self_->request(server, caf::infinite, push_atom::value, push->header, push->keys, push->values)
        .then(
            [this, who, number, plain](const pb::PushReply& reply) {
              if (!sent_again(who, reply.outcome(), plain)) on_reply(who, number, reply);
            },
            failed);
  else if (const auto* pull = std::get_if<outgoing_pull>(&message.message))
    self_->request(server, caf::infinite, pull_atom::value, pull->header, pull->keys)
        .then(
            [this, who, number, plain, failed](const pb::PullReply& reply, const blob& keys,
                                               const blob& values) {
              if (sent_again(who, reply.outcome(), plain)) return;
              if (!plain) return on_reply(who, number, reply, keys, values);
              auto its_keys = keys, its_values = values;
              const auto& asked = std::get<outgoing_pull>(plain->message);
              if (!filters_.decode(plain->server, who, asked.header.table(), asked.keys, reply,
                                   its_keys, its_values))
                return failed(caf::make_error(caf::sec::invalid_argument,
                                              "a reply does not fit its filters"));
              on_reply(who, number, reply, its_keys, its_values);
            },
            failed);
}

void worker_state::read(talker who, read_order order) {
  put_off_.emplace_back(who, std::move(order));
  read_what_was_put_off();
}

// The background takes so many jobs at a time; the rest are offered again when one has ended.
void worker_state::read_what_was_put_off() {
  auto me = caf::actor_cast<worker_actor>(self_);
  const auto tell = [me](std::uint64_t job) { caf::anon_send(me, done_atom::value, job); };
  while (!put_off_.empty()) {
    const auto& [who, order] = put_off_.front();
    const auto finished = [this, who = who, number = order.number](result<void> outcome) {
      auto* talks = find(who);
      if (talks == nullptr) return;
      talks->on_read(number, std::move(outcome), now_of(self_));
      flush(who);
    };
    if (!jobs_.run(*env_.io, order.job, finished, tell)) return;
    put_off_.pop_front();
  }
}

// What has ended is reported and forgotten; finished slots stay, so that their last report can be
// repeated.
void worker_state::conclude(talker who) {
  if (const auto e = evaluations_.find(who); e != evaluations_.end()) {
    if (const auto& outcome = e->second.loop->outcome()) {
      e->second.promise.deliver(outcome->first, outcome->second);
      evaluations_.erase(e);
      filters_.end(who);
    }
    return;
  }
  const auto found = slots_.find(who);
  if (found == slots_.end()) return;
  switch (found->second->present_state()) {
    case slot_loop::state::fenced:
      slots_.erase(found);
      filters_.end(who);
      break;
    case slot_loop::state::failed:
      report_failure(*found->second);
      slots_.erase(found);
      break;
    case slot_loop::state::finished:
      if (finished_.insert(who).second) {
        pass(env_, landmark::slot_finished);
        report();  // the tick repeats it
      }
      break;
    default:
      // The others wait for it: told at once, and again with every tick.
      if (found->second->halted()) {
        const auto clock = found->second->clock();
        if (std::exchange(halted_at_[who], clock + 1) != clock + 1) report();
      }
      break;
  }
}

void worker_state::wake_in_time(const conversation& talks) {
  const auto next = talks.next_wake();
  if (!next || (wake_at_ && *wake_at_ <= *next)) return;
  wake_at_ = next;
  self_->delayed_send(self_, std::max(*next - now_of(self_), duration::zero()), wake_atom::value);
}

// A timer that was overtaken by an earlier one does nothing: one timer is armed at a time.
void worker_state::on_wake() {
  if (!wake_at_ || now_of(self_) < *wake_at_) return;
  wake_at_.reset();
  for (const auto who : everybody())
    if (auto* talks = find(who); talks != nullptr) {
      talks->on_time(now_of(self_));
      flush(who, timers::later);
    }
  for (const auto who : everybody()) wake_in_time(*find(who));
}

std::vector<worker_state::talker> worker_state::everybody() const {
  std::vector<talker> all;
  for (const auto& [who, loop] : slots_) all.push_back(who);
  for (const auto& [who, e] : evaluations_) all.push_back(who);
  return all;
}

void worker_state::report() {
  if (slots_.empty()) return;
  auto scheduler = env_.find->scheduler();
  if (!scheduler) return;
  pb::Progress progress;
  progress.set_worker(env_.role.index);
  progress.set_incarnation(env_.incarnation);
  for (const auto& [who, loop] : slots_) {
    auto& of_slot = *progress.add_slots();
    of_slot = loop->progress();
    filters_.report(who, of_slot);
  }
  self_->send(scheduler, progr_atom::value, progress);
}

void worker_state::report_failure(const slot_loop& slot) {
  pb::SlotFailed failed;
  failed.set_worker(env_.role.index);
  failed.set_incarnation(env_.incarnation);
  failed.set_slot(slot.identity().slot);
  failed.set_epoch(slot.identity().epoch);
  failed.set_code(static_cast<std::int32_t>(slot.failure().code));
  failed.set_text(slot.failure().text);
  log("worker", log_level::error, failed.text());
  if (auto scheduler = env_.find->scheduler()) self_->send(scheduler, failed_atom::value, failed);
}

}  // namespace troupe
