// Lossy filters of pushes, as the client applies them.

#include <doctest/doctest.h>

#include "actors/worker/client.hpp"
#include "tests/support/payloads.hpp"
#include "tests/support/views.hpp"

using namespace troupe;
using namespace troupe::testing;

TEST_CASE("what a filter has kept comes with the slot's last push, though that is empty") {
  meter work;
  table_shape weights;
  weights.name = "weights";
  kv_client client({}, {weights}, slot_identity{1, 4}, work);
  client.use(view_of_servers(1));
  auto table = table_with({"significant"}, {});
  auto* threshold = table.mutable_push_filters(0)->add_parameters();
  threshold->set_name("threshold");
  threshold->set_value(10);
  std::vector<value_chain> chains;
  chains.emplace_back(table, direction::push);
  client.filter_pushes(std::move(chains), 1, 2);

  using rows = std::vector<std::pair<key_id, float>>;
  const auto delivered = [&](const std::vector<key_id>& ids, const std::vector<float>& values) {
    client.push(0, *client.keys(0, ids), blob_of(values), {}, nullptr);
    rows all;
    for (const auto& o : client.take_outgoing()) {
      const auto& push = std::get<outgoing_push>(o.message);
      for (std::size_t i = 0; i < push.keys.as<position>().size(); ++i)
        all.emplace_back(unmix(push.keys.as<position>()[i]), push.values.as<float>()[i]);
      pb::PushReply reply;
      reply.set_outcome(pb::DONE);
      client.on_reply(o.number, reply);
    }
    return all;
  };
  CHECK(delivered({5}, {1}).empty());
  CHECK(delivered({}, {}) == rows{{5, 1.0f}});
}
