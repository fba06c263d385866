#include "messages/filters/ends.hpp"

#include <utility>

namespace troupe {

worker_end::worker_end(const pb::JobPlan& plan)
    : tables_(plan.tables().begin(), plan.tables().end()) {}

transmission_chain& worker_end::chain(std::uint32_t server, std::uint32_t table, direction way) {
  auto& p = peers_[server];
  if (!p) p = std::make_unique<peer>(values_);
  const auto key = std::pair(table, way);
  const auto found = p->chains.find(key);
  if (found != p->chains.end()) return found->second;
  return p->chains.emplace(key, transmission_chain(tables_[table], way, &p->memories))
      .first->second;
}

void worker_end::encode(std::uint32_t server, talker who, bool near, pb::PushHeader& header,
                        blob& keys, blob& values) {
  if (header.table() >= tables_.size()) return;
  payload message{std::move(keys), std::move(values)};
  auto& c = counts(who, header.table(), direction::push, server);
  ++c.messages;
  chain(server, header.table(), direction::push)
      .encode(message, *header.mutable_encoding(), c.sent, near);
  keys = std::move(message.keys);
  values = std::move(message.values);
  if (header.encoding().steps_size() == 0) header.clear_encoding();
}

void worker_end::encode(std::uint32_t server, talker who, bool near, pb::PullHeader& header,
                        blob& keys) {
  header.set_plain(near);
  if (header.table() >= tables_.size()) return;
  payload message{std::move(keys), {}};
  auto& c = counts(who, header.table(), direction::pull, server);
  ++c.messages;
  chain(server, header.table(), direction::pull)
      .encode(message, *header.mutable_encoding(), c.sent, near);
  keys = std::move(message.keys);
  header.set_values_held(message.held);
  if (header.encoding().steps_size() == 0) header.clear_encoding();
}

bool worker_end::decode(std::uint32_t server, talker who, std::uint32_t table, const blob& asked,
                        const pb::PullReply& reply, blob& keys, blob& values) {
  if (table >= tables_.size()) return true;
  payload message{keys, values};
  message.asked = &asked;
  const auto outcome =
      chain(server, table, direction::pull)
          .decode(message, reply.encoding(), counts(who, table, direction::pull, server).received);
  if (outcome != undone::done) return false;
  keys = std::move(message.keys);
  values = std::move(message.values);
  return true;
}

void worker_end::end(talker who) {
  const auto first = counts_.lower_bound({who, 0, direction::push, 0});
  counts_.erase(first, counts_.lower_bound({who + 1, 0, direction::push, 0}));
}

void worker_end::report(talker who, pb::SlotProgress& progress) const {
  const auto saved = [](const byte_counts& counts) {
    return counts.empty() ? 0 : static_cast<std::int64_t>(counts.front() - counts.back());
  };
  std::int64_t pushed = 0, pulled = 0;
  for (auto i = counts_.lower_bound({who, 0, direction::push, 0});
       i != counts_.end() && std::get<0>(i->first) == who; ++i) {
    const auto& [key, c] = *i;
    const bool pulls = std::get<2>(key) == direction::pull;
    auto& t = *progress.add_traffic();
    t.set_table(std::get<1>(key));
    t.set_pulls(pulls);
    t.set_server(std::get<3>(key));
    t.set_messages(c.messages);
    for (const auto bytes : c.sent) t.add_sent(bytes);
    for (const auto bytes : c.received) t.add_received(bytes);
    (pulls ? pulled : pushed) += saved(c.sent) + saved(c.received);
  }
  const auto less = [](std::uint64_t bytes, std::int64_t by) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes) - by);
  };
  progress.set_bytes_pushed(less(progress.bytes_pushed(), pushed));
  progress.set_bytes_pulled(less(progress.bytes_pulled(), pulled));
}

server_end::server_end(const pb::JobPlan& plan)
    : seed_(plan.seed()),
      memories_(std::make_unique<content_memories>(server_keys_bytes, values_bytes)) {
  for (const auto& table : plan.tables())
    tables_.push_back({transmission_chain(table, direction::push, memories_.get()),
                       transmission_chain(table, direction::pull, memories_.get()),
                       value_chain(table, direction::pull)});
}

undone server_end::decode(pb::PushHeader& header, blob& keys, blob& values) {
  if (header.encoding().steps_size() == 0) return undone::done;
  if (header.table() >= tables_.size()) return undone::damaged;
  payload message{std::move(keys), std::move(values)};
  const auto outcome =
      tables_[header.table()].pushes.decode(message, header.encoding(), uncounted_);
  keys = std::move(message.keys);
  values = std::move(message.values);
  header.clear_encoding();
  return outcome;
}

undone server_end::decode(pb::PullHeader& header, blob& keys) {
  if (header.encoding().steps_size() == 0) return undone::done;
  if (header.table() >= tables_.size()) return undone::damaged;
  payload message{std::move(keys), {}};
  const auto outcome = tables_[header.table()].pulls.decode(message, header.encoding(), uncounted_);
  keys = std::move(message.keys);
  header.clear_encoding();
  return outcome;
}

void server_end::encode(const pb::PullHeader& asked, pb::PullReply& reply, blob& keys,
                        blob& values) {
  if (reply.outcome() != pb::DONE || asked.observer() || asked.table() >= tables_.size()) return;
  auto& chains = tables_[asked.table()];
  payload message{keys, values};
  message.held = asked.values_held();
  // A range's rows do not look as the chain expects them, and are read once.
  if (asked.range()) return;
  chains.replies.apply(message, {seed_, asked.slot(), asked.clock(), asked.shard()});
  if (!asked.plain()) chains.pulls.encode(message, *reply.mutable_encoding(), uncounted_);
  keys = std::move(message.keys);
  values = std::move(message.values);
  if (reply.encoding().steps_size() == 0) reply.clear_encoding();
}

}  // namespace troupe
