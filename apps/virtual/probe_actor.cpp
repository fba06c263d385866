#include "apps/virtual/probe_actor.hpp"

#include <caf/all.hpp>

#include "actors/supervision/environment.hpp"
#include "actors/worker/plan.hpp"

namespace troupe {

caf::behavior probe(caf::stateful_actor<probe_state>* self, probe_settings settings) {
  self->state.start(self, std::move(settings));
  return {[](tick_atom) {}};  // it ends by itself
}

void probe_state::start(caf::event_based_actor* me, probe_settings with) {
  self_ = me;
  settings_ = std::move(with);
  pb::StatusQuery query;
  query.set_with_view(true);
  auto scheduler = settings_.find->scheduler();
  if (!scheduler) return self_->quit();
  self_->request(scheduler, caf::infinite, status_atom::value, query)
      .then(
          [this](const pb::JobStatus& status) {
            if (status.phase() != pb::JobStatus::TRAINING) return self_->quit();
            score(status.view());
          },
          [this](const caf::error&) { self_->quit(); });
}

void probe_state::score(const pb::View& now_in_force) {
  pb::EvaluateTask task;
  task.set_data_set("train");
  task.set_parts(1);
  *task.mutable_view() = now_in_force;
  auto program = settings_.app->evaluation(task, unpaid_);
  auto present = view::from_message(now_in_force);
  if (!program || !present) return self_->quit();
  shards_ = present->shards();
  loop_ = std::make_unique<evaluation_loop>(client_settings_of(settings_.plan),
                                            table_shapes_of(settings_.plan), std::move(*present),
                                            std::move(*program), unpaid_);
  loop_->start(now_of(self_));
  flush();
}

void probe_state::flush() {
  for (;;) {
    auto messages = loop_->take_outgoing();
    auto reads = loop_->take_reads();
    for (auto& m : messages) send(std::move(m));
    for (auto& r : reads) loop_->on_read(r.number, r.job(), now_of(self_));
    if (messages.empty() && reads.empty()) break;
  }
  if (!loop_->outcome()) return;
  if (!loop_->outcome()->first.done()) return self_->quit();
  summarise();
}

void probe_state::send(outgoing message) {
  const auto* pull = std::get_if<outgoing_pull>(&message.message);
  auto server = settings_.find->server(message.server);
  if (pull == nullptr || !server) return self_->quit();
  self_->request(server, caf::infinite, pull_atom::value, pull->header, pull->keys)
      .then(
          [this, number = message.number](const pb::PullReply& reply, const blob& keys,
                                          const blob& values) {
            if (reply.outcome() != pb::DONE) return self_->quit();
            loop_->on_reply(number, now_of(self_), reply, keys, values);
            flush();
          },
          [this](const caf::error&) { self_->quit(); });
}

void probe_state::summarise() {
  const auto& [part, scores] = *loop_->outcome();
  settings_.scores->add(part, scores);
  const auto tables = static_cast<std::uint32_t>(settings_.plan.tables_size());
  for (std::uint32_t t = 0; t < tables; ++t) {
    tables_.emplace_back().set_table(t);
    pb::Summarise request;
    request.set_table(t);
    for (const auto& shard : shards_) {
      request.set_shard(shard.number);
      auto server = settings_.find->server(shard.primary());
      if (!server) return self_->quit();
      ++open_;
      self_->request(server, caf::infinite, summary_atom::value, request)
          .then([this](const pb::TableSummary& summary) { on_summary(summary); },
                [this](const caf::error&) { self_->quit(); });
    }
  }
}

void probe_state::on_summary(const pb::TableSummary& part) {
  add_summary(tables_[part.table()], part);
  if (--open_ > 0) return;
  for (const auto& figure : settings_.scores->figures(tables_))
    if (figure.name() == "objective" && figure.known()) settings_.on_objective(figure.value());
  self_->quit();
}

}  // namespace troupe
