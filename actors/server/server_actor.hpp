#pragma once
// The server shard: an actor around `shard`. It keeps the promises of requests that are being held,
// writes its part of a model in the background, and watches the deadlines.

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <memory>
#include <optional>
#include <unordered_map>

#include "actors/server/shard.hpp"
#include "actors/supervision/background_jobs.hpp"
#include "actors/supervision/environment.hpp"
#include "actors/supervision/joining.hpp"
#include "messages/server_interface.hpp"

namespace troupe {

class server_state {
 public:
  using pointer = server_actor::stateful_pointer<server_state>;
  using push_promise = caf::typed_response_promise<pb::PushReply>;
  using pull_promise = caf::typed_response_promise<pb::PullReply, blob, blob>;
  static constexpr const char* name = "server";

  explicit server_state(pointer self) : self_(self) {}
  server_actor::behavior_type start(environment env);

 private:
  void on_joined(const pb::JoinReply& reply);
  caf::result<pb::PushReply> on_push(const pb::PushHeader& header, const blob& keys,
                                     const blob& values);
  caf::result<pb::PullReply, blob, blob> on_pull(const pb::PullHeader& header, const blob& keys);
  pb::ViewReply on_view(const pb::View& message);
  caf::result<pb::TableSummary> on_summarise(const pb::Summarise& request);
  caf::result<pb::SavedPart> on_save(const pb::SavePart& request);
  caf::result<pb::LoadedPart> on_load(const pb::LoadPart& request);
  void on_tick();
  void deliver(answers out);

  pointer self_;
  environment env_;
  joining joining_;
  background_jobs jobs_;
  std::optional<shard> shard_;
  asker next_asker_ = 1;
  std::unordered_map<asker, push_promise> pushes_;  // found by number, never walked
  std::unordered_map<asker, pull_promise> pulls_;
};

server_actor::behavior_type server(server_state::pointer self, environment env);

}  // namespace troupe
