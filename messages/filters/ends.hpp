#pragma once
// The two ends of filtered traffic: a worker's, which encodes requests and decodes replies, and a
// server's, which does the reverse. Plain classes: the actors hand their messages through.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/blob.hpp"
#include "messages/control.pb.h"
#include "messages/data.pb.h"
#include "messages/filters/chain.hpp"

namespace troupe {

// What is remembered: at a worker, for each server, hashes of the keys that it knows; at a server
// the keys themselves; at either end values, for all its peers together.
constexpr std::size_t worker_keys_bytes = std::size_t{1} << 20;
constexpr std::size_t server_keys_bytes = std::size_t{64} << 20;
constexpr std::size_t values_bytes = std::size_t{256} << 20;

class worker_end {
 public:
  worker_end() = default;
  explicit worker_end(const pb::JobPlan& plan);

  bool empty() const { return tables_.empty(); }
  // Whoever talks to servers through this end: bytes are counted for each.
  using talker = std::uint64_t;
  // `near`: bytes are cheap on the way there, and are not encoded, nor are those of the reply.
  void encode(std::uint32_t server, talker who, bool near, pb::PushHeader& header, blob& keys,
              blob& values);
  void encode(std::uint32_t server, talker who, bool near, pb::PullHeader& header, blob& keys);
  // The server has answered CONTENT_UNKNOWN: it is sent everything plainly until it knows it.
  void forget(std::uint32_t server) { peers_.erase(server); }
  // `asked`: the keys of the request. False: it does not fit its encoding.
  bool decode(std::uint32_t server, talker who, std::uint32_t table, const blob& asked,
              const pb::PullReply& reply, blob& keys, blob& values);
  std::size_t remembered_bytes() const { return values_->bytes(); }
  // It talks no more: what was counted for it goes.
  void end(talker who);
  // Adds what was counted, and takes what filters saved off the bytes that the slot counts itself.
  void report(talker who, pb::SlotProgress& progress) const;

 private:
  struct peer {
    explicit peer(std::shared_ptr<content_memory> values)
        : memories(worker_keys_bytes, std::move(values)) {}
    content_memories memories;
    std::map<std::pair<std::uint32_t, direction>, transmission_chain> chains;
  };
  struct counted {
    std::uint64_t messages = 0;
    byte_counts sent, received;
  };
  transmission_chain& chain(std::uint32_t server, std::uint32_t table, direction way);
  counted& counts(talker who, std::uint32_t table, direction way, std::uint32_t server) {
    return counts_[{who, table, way, server}];
  }

  std::vector<pb::TableSpec> tables_;
  std::shared_ptr<content_memory> values_ = std::make_shared<content_memory>(values_bytes);
  std::map<std::uint32_t, std::unique_ptr<peer>> peers_;
  std::map<std::tuple<talker, std::uint32_t, direction, std::uint32_t>, counted> counts_;
};

class server_end {
 public:
  server_end() = default;
  explicit server_end(const pb::JobPlan& plan);

  // Done: header, keys and values are as they were before the worker's filters.
  undone decode(pb::PushHeader& header, blob& keys, blob& values);
  undone decode(pb::PullHeader& header, blob& keys);
  // The reply to that request.
  void encode(const pb::PullHeader& asked, pb::PullReply& reply, blob& keys, blob& values);

 private:
  struct table_chains {
    transmission_chain pushes, pulls;
    value_chain replies;
  };
  std::uint64_t seed_ = 0;
  std::unique_ptr<content_memories> memories_;
  std::vector<table_chains> tables_;
  byte_counts uncounted_;
};

}  // namespace troupe
