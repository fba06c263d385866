#pragma once
// The server: an actor around `shard_host`. It keeps the promises of requests that are being held,
// carries changes to copies and leave to answer, writes shards in the background, and watches the
// deadlines.

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "actors/server/saving.hpp"
#include "actors/server/shard_host.hpp"
#include "actors/supervision/background_jobs.hpp"
#include "actors/supervision/environment.hpp"
#include "actors/supervision/joining.hpp"
#include "messages/filters/ends.hpp"
#include "messages/server_interface.hpp"

namespace troupe {

class server_state {
 public:
  using pointer = server_actor::stateful_pointer<server_state>;
  using push_promise = caf::typed_response_promise<pb::PushReply>;
  using pull_promise = caf::typed_response_promise<pb::PullReply, blob, blob>;
  using adopt_promise = caf::typed_response_promise<pb::SlotNumbers>;
  using copy_promise = caf::typed_response_promise<pb::CopyReply>;
  static constexpr const char* name = "server";

  explicit server_state(pointer self) : self_(self) {}
  server_actor::behavior_type start(environment env);

 private:
  void on_joined(const pb::JoinReply& reply);
  caf::result<pb::PushReply> on_push(const pb::PushHeader& header, const blob& keys,
                                     const blob& values);
  caf::result<pb::PullReply, blob, blob> on_pull(const pb::PullHeader& header, const blob& keys);
  caf::result<pb::SlotNumbers> on_adopt(const pb::AdoptSlot& request);
  caf::result<pb::CopyReply> on_copy(const pb::CopyHeader& header, const blob& keys,
                                     const blob& rows);
  pb::ViewReply on_view(const pb::View& message);
  pb::LeaseReply on_lease_request(const pb::LeaseRequest& request);
  caf::result<pb::TableSummary> on_summarise(const pb::Summarise& request);
  caf::result<pb::SavedPart> on_save(const pb::SavePart& request);
  caf::result<pb::LoadedPart> on_load(const pb::LoadPart& request);
  void on_tick();
  void on_wake();
  void install(view next);
  void ask_for_leases();
  void deliver(answers out);
  void send(copy_message message);
  void save_on();
  void report(bool even_if_nothing_new);
  void wake_in_time();
  void leave_if_taken_for_dead();
  instant now() const { return now_of(self_); }

  pointer self_;
  environment env_;
  joining joining_;
  background_jobs jobs_;
  std::optional<pb::JobPlan> plan_;
  std::optional<shard_host> host_;
  asker next_asker_ = 1;
  // Found by number, never walked.
  std::unordered_map<asker, push_promise> pushes_;
  struct asked_pull {
    pull_promise promise;
    std::optional<pb::PullHeader> header;  // where filters need it for the reply
  };
  std::unordered_map<asker, asked_pull> pulls_;
  std::optional<server_end> filters_;  // where the plan has any
  std::unordered_map<asker, adopt_promise> adoptions_;
  std::unordered_map<asker, copy_promise> copies_;
  struct save_under_way {
    std::uint64_t number;
    saving work;
    caf::typed_response_promise<pb::SavedPart> promise;
  };
  std::map<std::uint32_t, save_under_way> savings_;  // by shard
  std::optional<instant> wake_at_, leases_asked_, reported_;
  std::string reported_text_;
  std::set<std::uint32_t> loads_;  // shards whose rows are being replaced
  bool was_member_ = false;
};

server_actor::behavior_type server(server_state::pointer self, environment env);

}  // namespace troupe
