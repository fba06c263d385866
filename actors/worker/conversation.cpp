#include "actors/worker/conversation.hpp"

#include <utility>

namespace troupe {

conversation::conversation(client_settings settings, std::vector<table_shape> tables,
                           std::optional<slot_identity> slot, view present, meter& work_done)
    : client_(settings, std::move(tables), slot, work_done) {
  client_.use(std::move(present));
}

void conversation::use(view next, instant now) {
  at(now);
  const auto before = client_.present_view().number();
  client_.use(std::move(next));
  if (client_.present_view().number() == before) return;
  view_changed();
  go_on();
}

void conversation::on_failure(std::uint64_t number, const std::string& reason, instant now) {
  at(now);
  client_.on_failure(number, reason);
  go_on();
}

void conversation::on_read(std::uint64_t number, result<void> outcome, instant now) {
  at(now);
  auto node = readers_.extract(number);
  if (node.empty()) return;
  node.mapped()(std::move(outcome));
  go_on();
}

void conversation::on_time(instant now) {
  at(now);
  client_.on_time();
  due(now);
  go_on();
}

// What the client answers at once (a pull of no keys) may make more to send, so this goes on until
// all is out.
std::vector<outgoing> conversation::take_outgoing() {
  std::vector<outgoing> all;
  while (client_.has_outgoing()) {
    for (auto& message : client_.take_outgoing()) all.push_back(std::move(message));
    go_on();
  }
  return all;
}

std::vector<read_order> conversation::take_reads() {
  return std::exchange(reads_, {});
}

void conversation::read(work_item job, on_read_done then) {
  const auto number = next_read_++;
  readers_.emplace(number, std::move(then));
  reads_.push_back({number, std::move(job)});
}

void conversation::at(instant now) {
  now_ = now;
  client_.at(now);
}

}  // namespace troupe
