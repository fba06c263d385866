#include "actors/supervision/node_actor.hpp"

#include <caf/all.hpp>

#include "core/log.hpp"

namespace troupe {

using pulse_atom = caf::atom_constant<caf::atom("pulse")>;
using start_atom = caf::atom_constant<caf::atom("start")>;

caf::behavior node(caf::stateful_actor<node_state>* self, node_spec spec) {
  auto& s = self->state;
  s.self = self;
  s.policy = std::make_unique<restart_policy>(spec.restarts);
  s.spec = std::move(spec);
  s.incarnation = s.spec.env.incarnation - 1;  // which start() counts on
  self->set_down_handler([self](const caf::down_msg& down) { self->state.on_death(down); });
  self->set_exit_handler([self](const caf::exit_msg& why) { self->state.end(why); });
  s.start();
  if (s.spec.beat_every > duration::zero()) self->send(self, pulse_atom::value);
  return {[self](start_atom) { self->state.start(); },
          [self](pulse_atom) {
            self->delayed_send(self, self->state.spec.beat_every, pulse_atom::value);
            self->state.beat();
          }};
}

void node_state::beat() {
  if (!child) return;
  auto scheduler = spec.env.find->scheduler();
  if (!scheduler) return;
  pb::Beat b;
  b.set_role(spec.env.role.role);
  b.set_index(spec.env.role.index);
  b.set_incarnation(incarnation);
  self->send(scheduler, beat_atom::value, b);
}

void node_state::start() {
  auto env = spec.env;
  env.incarnation = ++incarnation;
  child = spec.start(self->system(), env);
  self->monitor(child);
  spec.publish(spec.env.role, child);
  if (policy->restarts() > 0)
    log("supervisor", log_level::warning,
        to_string(spec.env.role) + " starts again as incarnation " + std::to_string(incarnation));
}

void node_state::on_death(const caf::down_msg& down) {
  if (!child || down.source != child->address()) return;
  child = nullptr;
  spec.publish(spec.env.role, nullptr);
  const auto wait = policy->on_death(now_of(self));
  pb::NodeDown report;
  report.set_role(spec.env.role.role);
  report.set_index(spec.env.role.index);
  report.set_incarnation(incarnation);
  report.set_reason(self->system().render(down.reason));
  report.set_final(!wait);
  report.set_restarts(policy->restarts());
  log("supervisor", log_level::error, to_string(spec.env.role) + " died: " + report.reason());
  if (auto scheduler = spec.env.find->scheduler()) self->send(scheduler, down_atom::value, report);
  if (wait) return self->delayed_send(self, *wait, start_atom::value);
  if (spec.on_given_up) spec.on_given_up(report.reason());
}

void node_state::end(const caf::exit_msg& why) {
  if (child) {
    self->demonitor(child->address());
    self->send_exit(caf::actor_cast<caf::actor>(child), why.reason);
    spec.publish(spec.env.role, nullptr);
  }
  self->quit(why.reason);
}

}  // namespace troupe
