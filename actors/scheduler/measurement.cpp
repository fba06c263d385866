#include "actors/scheduler/measurement.hpp"

#include <algorithm>

#include "core/hash.hpp"

namespace troupe {
namespace {

// Tasks that may go unanswered before an evaluation is given up.
constexpr std::uint32_t most_given_back = 20;

}  // namespace

void measurement::begin(const std::vector<scored_set>& data_sets, std::uint32_t slots,
                        const view& present, std::size_t shards, std::size_t tables,
                        double penalty) {
  penalty_ = penalty;
  scores_.clear();
  tasks_.clear();
  summaries_.clear();
  failure_.reset();
  given_back_ = 0;
  for (const auto& data_set : data_sets) {
    const auto parts = data_set.parts > 0 ? data_set.parts : slots;
    for (std::uint32_t part = 0; part < parts; ++part) {
      pb::EvaluateTask task;
      task.set_data_set(data_set.name);
      task.set_part(part);
      task.set_parts(parts);
      task.set_sums_only(data_set.sums_only);
      *task.mutable_view() = present.to_message();
      tasks_.push_back(std::move(task));
    }
  }
  std::reverse(tasks_.begin(), tasks_.end());
  tasks_open_ = tasks_.size();
  tables_ = tables;
  begin_summaries(shards);
}

void measurement::begin_summaries(std::size_t shards) {
  summaries_.clear();
  summaries_open_ = shards * tables_;
}

std::optional<pb::EvaluateTask> measurement::take_task() {
  if (tasks_.empty()) return std::nullopt;
  auto task = std::move(tasks_.back());
  tasks_.pop_back();
  task.set_number(++handed_out_);
  return task;
}

bool measurement::give_back(pb::EvaluateTask task, bool tried) {
  tasks_.push_back(std::move(task));
  given_back_ += tried ? 1 : 0;
  return given_back_ <= most_given_back || !tried;
}

void measurement::scored(const pb::EvaluatedPart& part, const blob& scores) {
  scores_.add(part, scores);
  --tasks_open_;
}

void measurement::summarised(std::uint32_t shard, std::uint32_t table,
                             const pb::TableSummary& part) {
  if (summaries_.emplace(std::pair(table, shard), part).second) --summaries_open_;
}

void measurement::give_up(error why) {
  failure_ = std::move(why);
  tasks_.clear();
  tasks_open_ = 0;
}

std::vector<pb::TableSummary> measurement::tables() const {
  std::vector<pb::TableSummary> all(tables_);
  for (const auto& [place, part] : summaries_) add_summary(all[place.first], part);
  for (std::size_t table = 0; table < all.size(); ++table) {
    all[table].set_table(static_cast<std::uint32_t>(table));
    all[table].set_penalty(penalty_);
  }
  return all;
}

std::vector<pb::Metric> measurement::metrics() const {
  return failure_ ? std::vector<pb::Metric>{} : scores_.figures(tables());
}

void add_summary(pb::TableSummary& sum, const pb::TableSummary& part) {
  sum.set_rows(sum.rows() + part.rows());
  sum.set_nonzeros(sum.nonzeros() + part.nonzeros());
  sum.set_l1(sum.l1() + part.l1());
  sum.set_l2(sum.l2() + part.l2());
  sum.set_live_bytes(sum.live_bytes() + part.live_bytes());
  sum.set_rejected(sum.rejected() + part.rejected());
  sum.set_has_largest(sum.has_largest() || part.has_largest());
  sum.set_largest(std::max(sum.largest(), part.largest()));
  hash128 digest{sum.digest_low(), sum.digest_high()};
  digest += {part.digest_low(), part.digest_high()};
  sum.set_digest_low(digest.low);
  sum.set_digest_high(digest.high);
}

}  // namespace troupe
