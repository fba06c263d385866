#include "actors/worker/slot_loop.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr instant never{std::numeric_limits<std::int64_t>::max()};

}  // namespace

slot_loop::slot_loop(slot_settings settings, std::vector<table_shape> tables, view present,
                     std::unique_ptr<slot_program> program, fault_switches& faults,
                     meter& work_done)
    : conversation(settings.client, std::move(tables), settings.slot, std::move(present),
                   work_done),
      settings_(settings),
      program_(std::move(program)),
      faults_(faults) {}

void slot_loop::start(instant now) {
  at(now);
  adopted_by_ = now + settings_.client.patience;
  adopt_everywhere();
}

// Taking over may be repeated, so after a change of the view it begins anew.
void slot_loop::adopt_everywhere() {
  numbers_.clear();
  adoptions_.clear();
  adopt_again_.clear();
  for (const auto& e : client_.present_view().shards()) {
    numbers_[e.number];
    adoptions_.push_back(e.number);
  }
}

void slot_loop::view_changed() {
  if (state_ == state::adopting) adopt_everywhere();
}

void slot_loop::stop(instant now) {
  at(now);
  stopping_ = true;
  go_on();
}

void slot_loop::halt_at(std::optional<std::uint64_t> limit, instant now) {
  at(now);
  if (limit_ && limit && *limit < *limit_) return;
  limit_ = limit;
  go_on();
}

void slot_loop::go_by(const google::protobuf::RepeatedPtrField<pb::Stage>& stages) {
  for (const auto& s : stages) stages_[s.first_clock()] = s;
}

pb::Stage slot_loop::stage(std::uint64_t clock) const {
  const auto after = stages_.upper_bound(clock);
  if (after != stages_.begin()) return std::prev(after)->second;
  pb::Stage plain;
  plain.set_penalty(1);
  return plain;
}

bool slot_loop::halted() const {
  return state_ == state::running && !clock_is_open_ && at_limit() &&
         client_.oldest_clock_under_way() >= clock_;
}

void slot_loop::on_numbers(std::uint32_t shard, const pb::SlotNumbers& numbers, instant now) {
  at(now);
  if (state_ != state::adopting) return;
  if (numbers.outcome() == pb::STALE_EPOCH) {
    state_ = state::fenced;
    return;
  }
  if (numbers.outcome() == pb::STALE_VIEW &&
      numbers.view().number() > client_.present_view().number())
    if (auto newer = view::from_message(numbers.view())) return use(std::move(*newer), now);
  if (numbers.outcome() != pb::DONE) return on_adopt_failure(shard, now);
  if (!numbers_.count(shard)) return;  // asked in an earlier view
  numbers_[shard] = numbers;
  const bool all =
      std::all_of(numbers_.begin(), numbers_.end(), [](const auto& n) { return n.second; });
  if (all) resume();
}

// Backs off as the client does.
void slot_loop::on_adopt_failure(std::uint32_t shard, instant now) {
  at(now);
  if (state_ != state::adopting || !numbers_.count(shard)) return;
  auto& [failures, when] = adopt_again_[shard];
  const auto doubled = settings_.client.backoff * (std::int64_t{1} << std::min(failures++, 20u));
  when = now + std::min(doubled, settings_.client.backoff_limit);
}

void slot_loop::resume() {
  clock_ = std::numeric_limits<std::uint64_t>::max();
  std::size_t finished = 0, known = 0;
  for (const auto& [shard, numbers] : numbers_) {
    if (numbers->unknown()) continue;  // restored: it will go by what comes
    ++known;
    clock_ = std::min(clock_, numbers->next_clock());
    finished += numbers->finished() ? 1 : 0;
    if (numbers->finished()) finish_at_ = std::max(finish_at_.value_or(0), numbers->next_clock());
  }
  if (known == 0) clock_ = 0;
  client_.resume_at(clock_);
  // A finish leaves only when everything before it is acknowledged everywhere. Where it has arrived
  // somewhere, the slot ends there; what others lack of it, in a checkpoint of shards at different
  // moments, is done again.
  state_ = known > 0 && finished == known ? state::finished : state::running;
  go_on();
}

bool slot_loop::may_begin_clock() const {
  return clock_ - std::min(clock_, client_.oldest_clock_under_way()) < settings_.window;
}

void slot_loop::go_on() {
  while (state_ == state::running && !clock_is_open_) {
    if (stopping_ || clock_ >= program_->clocks() || (finish_at_ && clock_ >= *finish_at_)) {
      state_ = state::finishing;
      client_.finish([this](const result<pushed>& outcome) {
        if (!outcome) return fail(outcome.failure());
        state_ = state::finished;
      });
      return;
    }
    if (at_limit() || !may_begin_clock()) return;
    const auto delay = faults_.delay_of(settings_.slot.slot);
    if (delay > duration::zero() && !delayed_until_) delayed_until_ = now() + delay;
    if (delayed_until_ && now() < *delayed_until_) return;
    delayed_until_.reset();
    clock_is_open_ = true;
    program_->run(*this, clock_);
  }
}

void slot_loop::push(std::size_t table, key_set keys, blob values, double share,
                     std::vector<double> told) {
  const auto slot = settings_.slot.slot;
  if (!kept_ && faults_.strikes(slot, clock_, fault_place::compute))
    throw std::runtime_error(format("debug.throws: slot %u throws while it computes clock %llu",
                                    slot, static_cast<unsigned long long>(clock_)));
  if (!values.empty() && faults_.strikes(slot, clock_, fault_place::not_a_number)) {
    auto [spoiled, writable] = blob::uninitialised(values.size());
    std::memset(writable, 0xff, values.size());  // all bits set: a NaN in f32 and f64
    values = std::move(spoiled);
  }
  send_kept(false);
  kept_ = kept_push{table, std::move(keys), std::move(values), share, std::move(told)};
}

void slot_loop::end_clock(const clock_report& report) {
  if (!kept_) kept_ = kept_push{0, {}, {}, 0, {}};  // a clock without pushes is an empty one
  send_kept(true);
  progress_.set_loss(progress_.loss() + report.loss);
  progress_.set_weight(progress_.weight() + report.weight);
  ++clock_;
  clock_is_open_ = false;
}

void slot_loop::send_kept(bool last) {
  if (!kept_) return;
  auto push = std::move(*kept_);
  kept_.reset();
  push_options options;
  options.last = last;
  options.share = push.share;
  options.told = std::move(push.told);
  client_.push(push.table, std::move(push.keys), std::move(push.values), std::move(options),
               [this, clock = clock_, table = push.table](const result<pushed>& outcome) {
                 on_pushed(clock, table, outcome);
               });
}

void slot_loop::on_pushed(std::uint64_t clock, std::size_t table, const result<pushed>& outcome) {
  if (!outcome) return fail(outcome.failure());
  program_->on_pushed(clock, table, outcome->rejected);
  if (outcome->rejected) progress_.set_rejected(progress_.rejected() + 1);
}

void slot_loop::fail(error why) {
  if (state_ == state::fenced || state_ == state::failed) return;
  state_ = why.code == errc::stale ? state::fenced : state::failed;
  failure_ = std::move(why);
}

void slot_loop::due(instant now) {
  if (state_ != state::adopting) return;
  if (adopted_by_ <= now) return fail({errc::timeout, not_adopted_by()});
  for (auto& [shard, again] : adopt_again_)
    if (again.second <= now) {
      adoptions_.push_back(shard);
      again.second = never;  // the number of failures is kept until the slot runs
    }
}

std::vector<adoption> slot_loop::take_adoptions() {
  if (state_ != state::adopting) adoptions_.clear();
  std::vector<adoption> out;
  for (const auto shard : std::exchange(adoptions_, {})) {
    const auto* where = client_.present_view().find(shard);
    adoption a;
    a.server = where->primary();
    a.request.set_slot(settings_.slot.slot);
    a.request.set_epoch(settings_.slot.epoch);
    a.request.set_shard(shard);
    a.request.set_shard_epoch(where->epoch);
    out.push_back(std::move(a));
  }
  return out;
}

std::optional<instant> slot_loop::next_wake() const {
  auto next = client_.next_wake();
  const auto consider = [&](instant when) {
    if (!next || when < *next) next = when;
  };
  if (delayed_until_) consider(*delayed_until_);
  if (state_ == state::adopting) consider(adopted_by_);
  if (state_ == state::adopting)
    for (const auto& [shard, again] : adopt_again_)
      if (!(again.second == never)) consider(again.second);
  return next;
}

std::string slot_loop::not_adopted_by() const {
  std::string text;
  for (const auto& [shard, numbers] : numbers_)
    if (!numbers)
      text += format("%sserver %u", text.empty() ? "" : ", ",
                     client_.present_view().find(shard)->primary());
  return text + format(": has not installed epoch %llu of slot %u",
                       static_cast<unsigned long long>(settings_.slot.epoch), settings_.slot.slot);
}

pb::SlotProgress slot_loop::progress() const {
  auto p = progress_;
  p.set_slot(settings_.slot.slot);
  p.set_epoch(settings_.slot.epoch);
  p.set_clock(clock_);
  p.set_clocks(program_->clocks());
  p.set_examples(program_->examples_before(clock_));
  p.set_bytes_pushed(client_.moved().bytes_pushed);
  p.set_bytes_pulled(client_.moved().bytes_pulled);
  for (const auto count : client_.pulls().staleness) p.add_staleness(count);
  p.set_max_staleness(client_.pulls().max_staleness);
  p.set_waited_ns(client_.pulls().waited.count());
  p.set_finished(state_ == state::finished);
  p.set_halted(halted());
  p.set_waiting_for(state_ == state::adopting ? not_adopted_by() : client_.waiting_for());
  return p;
}

}  // namespace troupe
