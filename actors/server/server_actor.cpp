#include "actors/server/server_actor.hpp"

#include <caf/all.hpp>

#include "actors/server/loading.hpp"
#include "actors/server/plan.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {

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
      [this](adopt_atom, const pb::AdoptSlot& request) {
        pb::SlotNumbers none;
        none.set_outcome(pb::NOT_SERVING);
        return shard_ ? shard_->on_adopt(request) : none;
      },
      [this](view_atom, const pb::View& message) { return on_view(message); },
      [this](summary_atom, const pb::Summarise& request) { return on_summarise(request); },
      [this](save_atom, const pb::SavePart& request) { return on_save(request); },
      [this](load_atom, const pb::LoadPart& request) { return on_load(request); },
      [this](tick_atom) { on_tick(); },
      [this](done_atom, std::uint64_t job) { jobs_.finished(job); },
  };
}

void server_state::on_tick() {
  self_->delayed_send(self_, env_.tick, tick_atom::value);
  joining_.ask(self_, env_, [this](const pb::JoinReply& reply) { on_joined(reply); });
  if (shard_) deliver(shard_->on_time(now_of(self_)));
}

void server_state::on_joined(const pb::JoinReply& reply) {
  auto tables = make_tables(reply.plan());
  if (!tables) {
    // The plan was checked before the job started, so this is a bug or a build that differs.
    log("server", log_level::error, tables.failure().text);
    self_->quit(caf::make_error(caf::sec::runtime_error, tables.failure().text));
    return;
  }
  shard_.emplace(shard_settings_of(reply.plan(), env_.role.index), std::move(*tables),
                 *env_.work_done);
}

caf::result<pb::PushReply> server_state::on_push(const pb::PushHeader& header, const blob& keys,
                                                 const blob& values) {
  if (!shard_) {
    pb::PushReply none;
    none.set_outcome(pb::NOT_SERVING);
    return none;
  }
  auto promise = self_->make_response_promise<pb::PushReply>();
  const auto number = next_asker_++;
  pushes_.emplace(number, promise);
  deliver(shard_->on_push(number, header, keys, values, now_of(self_)));
  return promise;
}

caf::result<pb::PullReply, blob, blob> server_state::on_pull(const pb::PullHeader& header,
                                                             const blob& keys) {
  if (!shard_) {
    pb::PullReply none;
    none.set_outcome(pb::NOT_SERVING);
    return {none, blob{}, blob{}};
  }
  auto promise = self_->make_response_promise<pb::PullReply, blob, blob>();
  const auto number = next_asker_++;
  pulls_.emplace(number, promise);
  deliver(shard_->on_pull(number, header, keys, now_of(self_)));
  return promise;
}

void server_state::deliver(answers out) {
  for (auto& answer : out.pushes)
    if (auto node = pushes_.extract(answer.to); !node.empty())
      node.mapped().deliver(std::move(answer.reply));
  for (auto& answer : out.pulls)
    if (auto node = pulls_.extract(answer.to); !node.empty())
      node.mapped().deliver(std::move(answer.reply), std::move(answer.keys),
                            std::move(answer.values));
}

pb::ViewReply server_state::on_view(const pb::View& message) {
  pb::ViewReply reply;
  if (!shard_) {
    reply.set_text("it has not joined");
    return reply;
  }
  auto next = view::from_message(message);
  const auto installed = next ? shard_->install(std::move(*next)) : result<void>(next.failure());
  reply.set_installed(installed.ok());
  if (!installed) reply.set_text(installed.failure().text);
  return reply;
}

caf::result<pb::TableSummary> server_state::on_summarise(const pb::Summarise& request) {
  if (!shard_ || request.table() >= shard_->tables().size()) return caf::sec::invalid_argument;
  return summary_of(*shard_, request.table());
}

// The rows are written as they are: pushes are put off until the files are complete.
caf::result<pb::SavedPart> server_state::on_save(const pb::SavePart& request) {
  pb::SavedPart refused;
  if (!shard_) {
    refused.set_text("it has not joined");
    return refused;
  }
  auto promise = self_->make_response_promise<pb::SavedPart>();
  auto me = caf::actor_cast<server_actor>(self_);
  shard_->freeze();
  const auto written = [this, promise](pb::SavedPart part) mutable {
    shard_->thaw();
    promise.deliver(std::move(part));
  };
  const auto job = [files = env_.files, tables = shard_->tables(), request,
                    index = env_.role.index] { return write_part(*files, tables, request, index); };
  const auto tell = [me](std::uint64_t number) { caf::anon_send(me, done_atom::value, number); };
  if (!jobs_.run(*env_.io, job, written, tell)) {
    shard_->thaw();
    refused.set_text("more file work is waiting than the node allows");
    promise.deliver(refused);
  }
  return promise;
}

// The tables are the background's until it has answered: pushes and pulls are put off.
caf::result<pb::LoadedPart> server_state::on_load(const pb::LoadPart& request) {
  pb::LoadedPart refused;
  refused.set_code(static_cast<std::int32_t>(errc::lost));
  if (!shard_ || shard_->view_number() == 0 || shard_->loading()) {
    refused.set_text("it serves no segments yet, or is loading already");
    return refused;
  }
  auto promise = self_->make_response_promise<pb::LoadedPart>();
  auto me = caf::actor_cast<server_actor>(self_);
  shard_->begin_loading();
  const auto loaded = [this, promise](pb::LoadedPart part) mutable {
    shard_->end_loading();
    promise.deliver(std::move(part));
  };
  const auto job = [files = env_.files, tables = shard_->tables(), request] {
    return load_part(*files, tables, request);
  };
  const auto tell = [me](std::uint64_t number) { caf::anon_send(me, done_atom::value, number); };
  if (!jobs_.run(*env_.io, job, loaded, tell)) {
    shard_->end_loading();
    refused.set_text("more file work is waiting than the node allows");
    promise.deliver(refused);
  }
  return promise;
}

}  // namespace troupe
