#include "apps/local/watcher_actor.hpp"

#include <algorithm>
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
    self->delayed_send(self, std::max(s.asked + s.settings.every - s.heard, duration::zero()),
                       tick_atom::value);
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
    const auto& s = self->state.settings;
    auto scheduler = s.find->scheduler();
    if (!scheduler) return on_silence(self, "no such node is known");
    pb::StatusQuery query;
    query.set_with_view(s.with_view);
    if (s.awaits_end) query.set_wait_ns(static_cast<std::uint64_t>(s.every.count()));
    self->state.asked = now_of(self);
    self->request(scheduler, s.patience, status_atom::value, query)
        .then([self](const pb::JobStatus& status) { on_answer(self, status); },
              [self](const caf::error& why) { on_silence(self, self->system().render(why)); });
  }};
}

}  // namespace troupe
