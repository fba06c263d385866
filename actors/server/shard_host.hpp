#pragma once
// A server without its actor: the shards that views give it, the leave to answer that it asks for
// and grants, and the saving of rows while they change.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/server/leases.hpp"
#include "actors/server/shard.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"
#include "messages/view.hpp"

namespace troupe {

struct host_settings {
  shard_settings shard;
  std::uint64_t incarnation = 1;
  duration lease{};                                  // 0: none is needed
  duration copy_patience = std::chrono::seconds(2);  // a copy that is silent for longer is reported
};

// A request for leave, to a server or to leases::scheduler.
struct lease_request {
  std::uint32_t to = 0;
  pb::LeaseRequest request;
};

class shard_host {
 public:
  using make_tables = std::function<std::vector<std::shared_ptr<table>>()>;

  shard_host(host_settings settings, make_tables tables, meter& work_done);

  // Older and equal views change nothing.
  answers install(view next, instant now);
  const view& present() const { return view_; }

  answers on_push(asker from, const pb::PushHeader& header, const blob& keys, const blob& values,
                  instant now);
  answers on_pull(asker from, const pb::PullHeader& header, const blob& keys, instant now);
  answers on_adopt(asker from, const pb::AdoptSlot& request, instant now);
  answers on_copy(asker from, const pb::CopyHeader& header, const blob& keys, const blob& rows,
                  instant now);
  answers on_copied(const copy_message& message, const pb::CopyReply& reply, instant now);
  answers on_copy_failure(const copy_message& message, const std::string& why, instant now);
  answers on_time(instant now);
  // Something is due then.
  std::optional<instant> next_wake(instant now) const;

  // Leave to answer: whom to ask, every third of its length; and what came of it.
  std::vector<lease_request> lease_requests() const;
  answers on_lease(std::uint32_t from, const pb::LeaseReply& reply, instant asked, instant now);
  pb::LeaseReply grant(const pb::LeaseRequest& request, instant now);

  pb::ServerReport report(instant now) const;
  shard* find(std::uint32_t number);
  const shard* find(std::uint32_t number) const;
  std::size_t shards() const { return shards_.size(); }

 private:
  template <class Header, class Reply, class Put>
  shard* find_or_refuse(const Header& header, Put put);
  std::vector<closed_range> ranges_with_heirs(const shard_entry& of) const;
  void renew(shard& s, instant now, answers& out);
  std::vector<std::uint32_t> granters_of(const shard_entry& e) const;
  shard_place place_of(const shard_entry& e, const shard* held, instant now) const;

  const host_settings settings_;
  const make_tables make_tables_;
  meter& meter_;
  view view_, before_;
  leases leases_;
  std::map<std::uint32_t, std::unique_ptr<shard>> shards_;
};

}  // namespace troupe
