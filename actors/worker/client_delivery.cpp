// The client's other half: requests cut into parts, one message to a server each, and what replies
// do to them.

#include <algorithm>
#include <cassert>
#include <limits>

#include "actors/worker/client.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// A range pull's rows come in replies of about this size.
constexpr std::uint64_t bytes_per_range_reply = std::uint64_t{4} << 20;

// The elements of some slices, one after the other; the whole without a copy when they are the
// whole.
blob gathered(const blob& whole, const std::vector<slice>& slices, std::size_t element) {
  if (slices.empty()) return {};
  if (slices.size() == 1 && slices[0].from == 0 && slices[0].to * element == whole.size())
    return whole;
  std::size_t count = 0;
  for (const auto& s : slices) count += s.to - s.from;
  auto [bytes, out] = blob::uninitialised(count * element);
  for (const auto& s : slices) {
    const auto size = (s.to - s.from) * element;
    std::memcpy(out, whole.data() + s.from * element, size);
    out += size;
  }
  return bytes;
}

std::string whom(const google::protobuf::RepeatedPtrField<pb::WaitedFor>& waiting) {
  std::string text;
  for (const auto& w : waiting)
    text += format("%sslot %u at clock %llu", text.empty() ? "waits for " : ", ", w.slot(),
                   static_cast<unsigned long long>(w.clock()));
  return text.empty() ? "waits for nobody it can name" : text;
}

}  // namespace

void kv_client::add_part(ticket t, std::uint32_t shard, std::vector<slice> slices,
                         closed_range range) {
  part p;
  p.of = t;
  p.shard = shard;
  p.slices = std::move(slices);
  p.range = range;
  p.view = view_.number();
  const auto number = next_part_++;
  parts_.emplace(number, std::move(p));
  ++requests_.at(t).parts_left;
  to_send_.push_back(number);
}

std::vector<outgoing> kv_client::take_outgoing() {
  while (!answered_at_once_.empty()) {
    const auto t = answered_at_once_.back();
    answered_at_once_.pop_back();
    if (requests_.count(t)) complete(t, std::nullopt);
  }
  std::vector<outgoing> out;
  out.reserve(to_send_.size());
  for (const auto number : std::exchange(to_send_, {}))
    if (parts_.count(number)) out.push_back(message_of(number));
  return out;
}

outgoing kv_client::message_of(std::uint64_t number) {
  auto& p = parts_.at(number);
  const auto& r = requests_.at(p.of);
  p.retry_at.reset();
  p.transmission = ++transmissions_;
  // Never past the patience by more than the request's own timeout.
  const auto hold = std::max(duration::zero(), std::min(settings_.hold, r.deadline - now_));
  p.answer_due = now_ + hold + settings_.request_timeout;
  wake_by(*p.answer_due);
  const auto* where = view_.find(p.shard);
  p.epoch = where->epoch;
  outgoing out;
  out.number = number;
  out.server = where->primary();
  if (r.what == kind::push) {
    outgoing_push m;
    m.header = r.number;
    m.header.set_shard(p.shard);
    m.header.set_shard_epoch(p.epoch);
    if (p.with_base) set_base(p.shard, m.header);
    m.header.set_hold_ns(hold.count());
    m.keys = gathered(r.keys.bytes(), p.slices, sizeof(position));
    m.values = gathered(r.values, p.slices, tables_[r.table].pushed_bytes());
    traffic_.bytes_pushed += m.header.ByteSizeLong() + m.keys.size() + m.values.size();
    meter_.add(work::bytes_encoded, m.keys.size() + m.values.size());
    out.message = std::move(m);
    return out;
  }
  outgoing_pull m;
  m.header.set_shard(p.shard);
  m.header.set_shard_epoch(p.epoch);
  m.header.set_table(static_cast<std::uint32_t>(r.table));
  m.header.set_observer(!slot_);
  m.header.set_slot(slot_ ? slot_->slot : 0);
  m.header.set_clock(r.clock);
  m.header.set_completed(std::min(r.clock, oldest_clock_under_way()));
  m.header.set_hold_ns(hold.count());
  if (r.what == kind::pull_range) {
    m.header.set_range(true);
    m.header.set_first(p.range.first);
    m.header.set_last(p.range.last);
    m.header.set_limit(
        std::max<std::uint64_t>(1, bytes_per_range_reply / tables_[r.table].row_bytes()));
  } else {
    m.keys = gathered(r.keys.bytes(), p.slices, sizeof(position));
  }
  traffic_.bytes_pulled += m.header.ByteSizeLong() + m.keys.size();
  meter_.add(work::bytes_encoded, m.keys.size());
  out.message = std::move(m);
  return out;
}

// What push and pull replies have in common: anything but success. True when the part is settled
// for now.
template <class Reply>
bool kv_client::settle(std::uint64_t number, const Reply& reply) {
  auto& p = parts_.at(number);
  p.answer_due.reset();
  switch (reply.outcome()) {
    case pb::DONE:
    case pb::REJECTED:
      return false;
    case pb::WAITING:
      p.trouble = reply.text().empty() ? whom(reply.waiting()) : reply.text();
      if (now_ >= requests_.at(p.of).deadline)
        fail(number, errc::timeout, p.trouble);
      else
        to_send_.push_back(number);
      return true;
    case pb::STALE_VIEW:
      learn(number, reply.view());
      return true;
    case pb::UNKNOWN_SLOT:
      p.with_base = true;
      to_send_.push_back(number);
      return true;
    case pb::STALE_EPOCH:
      fail(number, errc::stale, reply.text());
      return true;
    case pb::BAD_REQUEST:
      fail(number, errc::bad_request, reply.text());
      return true;
    case pb::LATER:
      retry_later(number, reply.text().empty() ? whom(reply.waiting()) : reply.text());
      return true;
    case pb::NOT_SERVING:
      retry_later(number, "does not serve yet");
      return true;
    default:
      retry_later(number, "gave no outcome");
      return true;
  }
}

void kv_client::on_reply(std::uint64_t number, const pb::PushReply& reply) {
  if (!parts_.count(number)) return;  // answered twice, or its request has ended
  traffic_.bytes_pushed += reply.ByteSizeLong();
  if (reply.outcome() == pb::MISSING) {
    resend_missing(number, reply.expected_clock(), reply.expected_index());
    return;
  }
  if (settle(number, reply)) return;
  auto& r = requests_.at(parts_.at(number).of);
  r.rejected = r.rejected || reply.outcome() == pb::REJECTED;
  part_done(number);
}

void kv_client::on_reply(std::uint64_t number, const pb::PullReply& reply, const blob& keys,
                         const blob& values) {
  if (!parts_.count(number)) return;
  traffic_.bytes_pulled += reply.ByteSizeLong() + keys.size() + values.size();
  if (settle(number, reply)) return;
  auto& p = parts_.at(number);
  auto& r = requests_.at(p.of);
  const auto row_bytes = pulled_bytes(r);
  r.staleness = std::max(r.staleness, reply.staleness());
  meter_.add(work::bytes_encoded, keys.size() + values.size());

  if (r.what == kind::pull_range) {
    if (!keys.divides<position>() || keys.size() / sizeof(position) * row_bytes != values.size())
      return fail(number, errc::bad_request, "sent keys and values of different numbers");
    r.range_answers[p.range.first] = {keys, values};
    if (reply.more() && reply.next() > p.range.first && reply.next() <= p.range.last)
      add_part(p.of, p.shard, {}, {reply.next(), p.range.last});
    return part_done(number);
  }
  std::size_t count = 0;
  for (const auto& s : p.slices) count += s.to - s.from;
  if (values.size() != count * row_bytes)
    return fail(number, errc::bad_request,
                format("sent %zu bytes of values for %zu keys of %zu bytes", values.size(), count,
                       row_bytes));
  if (count == r.keys.size()) {
    r.answer = values;
  } else {
    if (r.answer_bytes == nullptr)
      std::tie(r.answer, r.answer_bytes) = blob::uninitialised(r.keys.size() * row_bytes);
    const auto* from = values.data();
    for (const auto& s : p.slices) {
      std::memcpy(r.answer_bytes + s.from * row_bytes, from, (s.to - s.from) * row_bytes);
      from += (s.to - s.from) * row_bytes;
    }
  }
  part_done(number);
}

void kv_client::on_failure(std::uint64_t number, const std::string& reason) {
  const auto found = parts_.find(number);
  if (found == parts_.end()) return;
  auto& p = found->second;
  // Where nobody is to be found, or the connection ends at once, nothing was tried: a server that
  // is away for longer than a few quick failures take is waited for all the same.
  const bool tried = !p.answer_due || *p.answer_due - now_ < settings_.request_timeout / 2;
  p.untried += tried ? 0 : 1;
  p.answer_due.reset();
  retry_later(number, reason);
}

void kv_client::retry_later(std::uint64_t number, std::string trouble) {
  auto& p = parts_.at(number);
  const auto& r = requests_.at(p.of);
  p.trouble = std::move(trouble);
  ++p.failures;
  if (now_ >= r.deadline) return fail(number, errc::timeout, p.trouble);
  if (r.what != kind::push && p.failures - p.untried > settings_.pull_retries)
    return fail(number, errc::timeout, format("%s, after %u tries", p.trouble.c_str(), p.failures));
  const auto doubled = settings_.backoff * (std::int64_t{1} << std::min(p.failures - 1, 20u));
  p.retry_at = now_ + std::min(doubled, settings_.backoff_limit);
  wake_by(*p.retry_at);
}

// A shard lacks an earlier push of ours. Messages of one client to one server keep their order, so
// an earlier push that was sent before this one and is still unanswered has been lost: it is sent
// again at once, and this one after it. One that waits for its own retry, or was sent again
// meanwhile, is on its way; then this one waits too.
void kv_client::resend_missing(std::uint64_t number, std::uint64_t clock, std::uint32_t index) {
  auto& refused = parts_.at(number);
  refused.answer_due.reset();
  std::vector<std::uint64_t> lost;
  for (const auto& [other, p] : parts_) {
    if (other == number) break;
    const auto& r = requests_.at(p.of);
    const bool asked_for = std::pair(r.number.clock(), r.number.index()) >= std::pair(clock, index);
    if (p.shard == refused.shard && r.what == kind::push && asked_for && p.answer_due &&
        p.transmission < refused.transmission)
      lost.push_back(other);
  }
  if (lost.empty())
    return retry_later(number, format("waits for the push (%llu, %u) of its slot",
                                      static_cast<unsigned long long>(clock), index));
  for (const auto other : lost)
    parts_.at(other).answer_due.reset();  // until it is sent, just below
  to_send_.insert(to_send_.end(), lost.begin(), lost.end());
  to_send_.push_back(number);
}

// The part was sent by a view that is not the server's. With a newer one everything is routed
// again; else the server will catch up.
void kv_client::learn(std::uint64_t number, const pb::View& theirs) {
  if (theirs.number() > view_.number()) {
    auto newer = view::from_message(theirs);
    if (!newer) return retry_later(number, newer.failure().text);
    parts_.at(number).epoch = 0;  // so that this one is sent again in any case
    return use(std::move(*newer));
  }
  const auto& p = parts_.at(number);
  // It had been sent before we knew.
  if (const auto* now_at = view_.find(p.shard); now_at != nullptr && now_at->epoch != p.epoch)
    return to_send_.push_back(number);
  retry_later(number,
              format("has an older view (%llu)", static_cast<unsigned long long>(theirs.number())));
}

// What is under way goes to where its shard is now. Under its old number: what had been applied is
// known there, and acknowledged.
void kv_client::route_all_again() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, p] : parts_) numbers.push_back(number);
  for (const auto number : numbers) {
    const auto found = parts_.find(number);
    if (found == parts_.end()) continue;
    auto& p = found->second;
    const auto heirs = view_.heirs(p.shard, p.view);
    if (heirs.empty() && slot_) {
      fail(number, errc::stale, "the job has gone back, and this slot's life is over");
    } else if (heirs.size() != 1 || heirs.front() != p.shard) {
      cut_again(number, heirs);
    } else {
      p.view = view_.number();
      if (view_.find(p.shard)->epoch == p.epoch) continue;
      // Under way, or about to be tried again: now. Under a new number of ours, so that an answer
      // from where the shard was is none: if it was restored since, that has been forgotten.
      auto moved = std::move(p);
      parts_.erase(found);
      to_send_.erase(std::remove(to_send_.begin(), to_send_.end(), number), to_send_.end());
      moved.answer_due.reset();
      moved.retry_at.reset();
      if (planted("rerouted-push-is-empty") && requests_.at(moved.of).what == kind::push)
        moved.slices.clear();
      to_send_.push_back(next_part_);
      parts_.emplace(next_part_++, std::move(moved));
    }
  }
}

void kv_client::cut_again(std::uint64_t number, const std::vector<std::uint32_t>& heirs) {
  const auto old = std::move(parts_.at(number));
  parts_.erase(number);
  const auto t = old.of;
  auto& r = requests_.at(t);
  --r.parts_left;
  const auto before = next_part_;
  if (r.what == kind::pull_range) {
    for (const auto& s : view_.segments()) {
      const closed_range inside{std::max(s.range.first, old.range.first),
                                std::min(s.range.last, old.range.last)};
      if (inside.first <= inside.last) add_part(t, s.shard, {}, inside);
    }
  } else {
    // The old part's elements, by their new owners. A push has a part for each of these, so that
    // each gets its number.
    std::map<std::uint32_t, std::vector<slice>> by_shard;
    if (r.what == kind::push)
      for (const auto heir : heirs) by_shard[heir];
    const auto positions = r.keys.positions();
    for (const auto& run : old.slices)
      for (auto& share : view_.cut(positions.subspan(run.from, run.to - run.from)))
        for (const auto& s : share.slices)
          by_shard[share.shard].push_back({run.from + s.from, run.from + s.to});
    for (auto& [shard, slices] : by_shard) add_part(t, shard, std::move(slices), {});
  }
  if (next_part_ == before && r.parts_left == 0) answered_at_once_.push_back(t);
}

// The oldest push of ours that the shard has not acknowledged: parts ascend with numbers.
void kv_client::set_base(std::uint32_t shard, pb::PushHeader& header) const {
  for (const auto& [number, p] : parts_) {
    const auto& r = requests_.at(p.of);
    if (p.shard != shard || r.what != kind::push) continue;
    header.set_has_base(true);
    header.set_base_clock(r.number.clock());
    header.set_base_index(r.number.index());
    return;
  }
}

void kv_client::part_done(std::uint64_t number) {
  const auto t = parts_.at(number).of;
  parts_.erase(number);
  if (--requests_.at(t).parts_left == 0) complete(t, std::nullopt);
}

void kv_client::fail(std::uint64_t number, errc code, const std::string& why) {
  const auto& p = parts_.at(number);
  const auto t = p.of;
  complete(t, error{code, describe(p) + ": " + why});
}

std::string kv_client::describe(const part& p) const {
  const auto& r = requests_.at(p.of);
  const auto clock = r.what == kind::push ? r.number.clock() : r.clock;
  const char* what = r.what == kind::push ? (r.number.finish() ? "finish" : "push to") : "pull of";
  auto text = server_of(p) + ": " + what;
  if (!r.number.finish()) text += " table '" + tables_[r.table].name + "'";
  if (slot_)
    text +=
        format(" by slot %u at clock %llu", slot_->slot, static_cast<unsigned long long>(clock));
  return text + format(", asked %.1f s ago", seconds_of(now_ - r.begun));
}

std::string kv_client::server_of(const part& p) const {
  const auto* where = view_.find(p.shard);
  return where == nullptr ? format("shard %u", p.shard) : format("server %u", where->primary());
}

std::optional<instant> kv_client::next_wake() const {
  return parts_.empty() ? std::nullopt : wake_bound_;
}

void kv_client::wake_by(instant when) {
  if (!wake_bound_ || when < *wake_bound_) wake_bound_ = when;
}

void kv_client::on_time() {
  if (!wake_bound_ || now_ < *wake_bound_) return;
  std::vector<std::uint64_t> lost;
  wake_bound_.reset();
  for (auto& [number, p] : parts_) {
    if (p.retry_at && *p.retry_at <= now_) {
      p.retry_at.reset();
      to_send_.push_back(number);
    }
    if (p.answer_due && *p.answer_due <= now_) lost.push_back(number);
    if (p.retry_at) wake_by(*p.retry_at);
    if (p.answer_due && now_ < *p.answer_due) wake_by(*p.answer_due);
  }
  for (const auto number : lost) on_failure(number, "no reply in time");
}

std::string kv_client::waiting_for() const {
  const part* oldest = nullptr;
  for (const auto& [number, p] : parts_)
    if (oldest == nullptr || requests_.at(p.of).begun < requests_.at(oldest->of).begun) oldest = &p;
  if (oldest == nullptr) return {};
  return describe(*oldest) + (oldest->trouble.empty() ? "" : "; " + oldest->trouble);
}

}  // namespace troupe
