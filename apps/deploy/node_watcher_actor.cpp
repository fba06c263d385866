#include "apps/deploy/node_watcher_actor.hpp"

#include <caf/all.hpp>

namespace troupe {
namespace {

using watcher_pointer = caf::stateful_actor<node_watcher_state>*;

void ask(watcher_pointer self) {
  auto& s = self->state;
  self->delayed_send(self, s.settings.every, ask_again_atom::value);
  auto scheduler = s.settings.find->scheduler();
  if (!scheduler) return;
  // Silence is noticed by whoever waits; an error that the scheduler's node sent is none.
  const auto none = [self](const caf::error& why) {
    if (why == caf::sec::runtime_error) self->state.settings.on_heard();
  };
  self->request(scheduler, s.settings.answer_within, status_atom::value, s.settings.query)
      .then([self](const pb::JobStatus& status) { self->state.settings.on_status(status); }, none);
  if (!s.settings.on_job || s.knows_job) return;
  pb::JobQuery query;
  query.set_role(s.settings.query.role());
  query.set_index(s.settings.query.index());
  self->request(scheduler, s.settings.answer_within, job_atom::value, query)
      .then(
          [self](const pb::JobText& job) {
            if (!job.known() || std::exchange(self->state.knows_job, true)) return;
            self->state.settings.on_job(job);
          },
          none);
}

template <class Atom, class Command>
void pass_on(watcher_pointer self, Atom atom, const Command& command) {
  auto& s = self->state;
  const auto failed = [self](const std::string& why) {
    pb::CommandReply reply;
    reply.set_text(why);
    if (self->state.settings.on_command) self->state.settings.on_command(reply);
  };
  auto scheduler = s.settings.find->scheduler();
  if (!scheduler) return failed("the scheduler is not connected");
  self->request(scheduler, s.settings.answer_within, atom, command)
      .then(
          [self](const pb::CommandReply& reply) {
            if (self->state.settings.on_command) self->state.settings.on_command(reply);
          },
          [self, failed](const caf::error& why) {
            failed("the scheduler did not answer: " + self->system().render(why));
          });
}

}  // namespace

caf::behavior node_watcher(watcher_pointer self, node_watcher_settings settings) {
  self->state.settings = std::move(settings);
  self->send(self, ask_again_atom::value);
  return {
      [self](ask_again_atom) { ask(self); },
      [self](drain_atom a, const pb::DrainNode& c) { pass_on(self, a, c); },
      [self](even_atom a, const pb::Rebalance& c) { pass_on(self, a, c); },
      [self](take_atom a, const pb::TakeCheckpoint& c) { pass_on(self, a, c); },
      [self](stop_atom a, const pb::StopJob& c) { pass_on(self, a, c); },
  };
}

}  // namespace troupe
