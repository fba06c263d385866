#include "apps/local/watcher_actor.hpp"

#include <caf/all.hpp>

#include "core/result.hpp"

namespace troupe {
namespace {

using watcher_pointer = caf::stateful_actor<watcher_state>*;

void on_answer(watcher_pointer self, const pb::JobStatus& status) {
  auto& s = self->state;
  s.heard = now_of(self);
  s.settings.on_status(status);
  if (status.phase() == pb::JobStatus::FINISHED || status.phase() == pb::JobStatus::FAILED)
    self->quit();
  else
    self->delayed_send(self, s.settings.every, tick_atom::value);
}

void on_silence(watcher_pointer self, const std::string& why) {
  auto& s = self->state;
  if (now_of(self) - s.heard < s.settings.patience) {
    self->delayed_send(self, s.settings.every, tick_atom::value);
    return;
  }
  pb::JobStatus status;
  status.set_phase(pb::JobStatus::FAILED);
  status.set_code(static_cast<std::int32_t>(errc::lost));
  status.set_text("the scheduler does not answer: " + why);
  s.settings.on_status(status);
  self->quit();
}

}  // namespace

caf::behavior watcher(watcher_pointer self, watcher_settings settings) {
  self->state.settings = std::move(settings);
  self->state.heard = now_of(self);
  self->send(self, tick_atom::value);
  return {[self](tick_atom) {
    auto scheduler = self->state.settings.find->scheduler();
    if (!scheduler) return on_silence(self, "no such node is known");
    pb::StatusQuery query;
    query.set_with_view(self->state.settings.with_view);
    self->request(scheduler, self->state.settings.patience, status_atom::value, query)
        .then([self](const pb::JobStatus& status) { on_answer(self, status); },
              [self](const caf::error& why) { on_silence(self, self->system().render(why)); });
  }};
}

}  // namespace troupe
