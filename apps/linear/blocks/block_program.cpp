#include "apps/linear/blocks/block_program.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "apps/linear/arithmetic.hpp"

namespace troupe {
namespace {

std::vector<double> mapped_labels(const column_file& columns, const linear_model& model) {
  std::vector<double> labels;
  for (const double label : columns.labels()) labels.push_back(model.labels(label));
  return labels;
}

std::vector<double> row_weights(const column_file& columns, const linear_model& model) {
  std::vector<double> weights;
  bool plain = true;
  for (std::size_t i = 0; i < columns.labels().size(); ++i) {
    const double own = columns.weights().empty() ? 1 : columns.weights()[i];
    weights.push_back(model.row_weight(own, model.labels(columns.labels()[i])));
    plain = plain && weights.back() == 1;
  }
  if (plain) weights.clear();
  return weights;
}

// A bias is a feature that every row has.
column_block column_of_ones(std::uint64_t rows) {
  column_block one;
  one.keys = {bias_key};
  one.begin = {0, static_cast<std::uint32_t>(rows)};
  one.row.resize(rows);
  std::iota(one.row.begin(), one.row.end(), 0u);
  return one;
}

template <class T>
blob blob_of(const std::vector<double>& numbers) {
  auto [bytes, out] = blob::uninitialised(numbers.size() * sizeof(T));
  auto* to = reinterpret_cast<T*>(out);
  for (const double x : numbers) *to++ = static_cast<T>(x);
  return bytes;
}

}  // namespace

block_program::block_program(const block_training& training, std::uint64_t rows, opening open,
                             meter* work_done)
    : training_(training),
      rows_(rows),
      open_(std::move(open)),
      meter_(work_done),
      order_(training.blocks(), static_cast<std::uint32_t>(training.delay + 1), training.seed,
             training.shuffle),
      known_(training.blocks()) {}

std::size_t block_program::table_of(std::uint32_t b) const {
  return b < training_.feature_blocks ? weights_table : bias_table;
}

bool block_program::doubles(std::uint32_t b) const {
  return b < training_.feature_blocks ? training_.model.weights_are_doubles
                                      : training_.model.bias_is_double;
}

// At once if the block is at hand, else after a read in the background.
void block_program::with_columns(slot_session& session, std::uint32_t b,
                                 std::function<void(columns)> then) {
  if (b >= training_.feature_blocks) return then(bias_column_);
  if (auto there = columns_->find(b)) return then(std::move(there));
  auto box = std::make_shared<columns>();
  session.read(
      [file = columns_, b, box]() -> result<void> {
        auto read = file->load(b);
        if (!read) return read.failure();
        *box = std::move(*read);
        return {};
      },
      [&session, box, then = std::move(then)](const result<void>& outcome) {
        if (!outcome) return session.fail(outcome.failure());
        then(std::move(*box));
      });
}

bool block_program::prepare(slot_session& session, std::uint32_t b, const column_block& of) {
  auto& known = known_[b];
  if (known.keys) return true;
  auto keys = session.kv().keys(table_of(b), of.keys);
  if (!keys) {
    session.fail(keys.failure());
    return false;
  }
  known.keys = std::move(*keys);
  known.value.assign(of.columns(), 0);
  known.region.assign(of.columns(), training_.first_region);
  known.rests.assign(of.columns(), 0);
  return true;
}

void block_program::run(slot_session& session, std::uint64_t clock) {
  if (!columns_) return open(session, clock);
  if (!begun_) return pull_all(session, clock);
  // What is due now: with a delay of 0 the clock before.
  if (visits_.empty() || visits_.front().clock + training_.delay >= clock)
    return step(session, clock);
  auto due = std::move(visits_.front());
  visits_.pop_front();
  const auto b = order_.at(due.clock);
  with_columns(session, b, [this, &session, b, clock, due = std::move(due)](columns of) mutable {
    if (training_.delay > 0) scores_->arrive(*of, due.which);
    pull(session, b, std::move(of), std::move(due),
         [this, &session, clock] { run(session, clock); });
  });
}

void block_program::open(slot_session& session, std::uint64_t clock) {
  auto box = std::make_shared<std::shared_ptr<column_file>>();
  session.read(
      [open = open_, box]() -> result<void> {
        auto opened = open();
        if (!opened) return opened.failure();
        *box = std::move(*opened);
        return {};
      },
      [this, &session, clock, box](const result<void>& outcome) {
        if (!outcome) return session.fail(outcome.failure());
        columns_ = std::move(*box);
        const auto& model = training_.model;
        scores_.emplace(model.loss, mapped_labels(*columns_, model), row_weights(*columns_, model));
        if (model.bias)
          bias_column_ = std::make_shared<const column_block>(column_of_ones(columns_->rows()));
        run(session, clock);
      });
}

// A life of the slot begins: what all earlier clocks did is in the model.
void block_program::pull_all(slot_session& session, std::uint64_t clock) {
  scores_->clear();
  awaited_ = training_.blocks();
  for (std::uint32_t b = 0; b < training_.blocks(); ++b)
    with_columns(session, b, [this, &session, b, clock](columns of) {
      if (!prepare(session, b, *of)) return;
      visit whole;
      whole.which.resize(of->columns());
      std::iota(whole.which.begin(), whole.which.end(), 0u);
      whole.keys = *known_[b].keys;
      pull(session, b, std::move(of), std::move(whole), [this, &session, clock] {
        if (--awaited_ > 0) return;
        begun_ = true;
        step(session, clock);
      });
    });
}

void block_program::pull(slot_session& session, std::uint32_t b, columns of, visit what,
                         std::function<void()> then) {
  if (what.which.empty()) return then();
  auto keys = what.keys;
  session.kv().pull(table_of(b), std::move(keys), {},
                    [this, &session, b, of = std::move(of), what = std::move(what),
                     then = std::move(then)](const result<pulled>& got) {
                      if (!got) return session.fail(got.failure());
                      take(b, *of, what.which, got->values);
                      then();
                    });
}

// Rows of a value and its region.
void block_program::take(std::uint32_t b, const column_block& of,
                         const std::vector<std::uint32_t>& which, const blob& rows) {
  auto& known = known_[b];
  const auto before = known.value;
  const auto each = [&](auto* number) {
    for (const auto k : which) {
      known.value[k] = static_cast<double>(number[0]);
      known.rests[k] = number[0] == 0 && std::signbit(number[0]);
      known.region[k] = number[1] > 0 ? static_cast<double>(number[1]) : training_.first_region;
      number += 2;
    }
  };
  doubles(b) ? each(rows.as<double>().data()) : each(rows.as<float>().data());
  scores_->move(of, before, known.value);
}

void block_program::step(slot_session& session, std::uint64_t clock) {
  const auto b = order_.at(clock);
  with_columns(session, b, [this, &session, b, clock](const columns& of) {
    const auto stage = session.stage(clock);
    auto& known = known_[b];
    visit now;
    now.clock = clock;
    for (std::uint32_t k = 0; k < of->columns(); ++k)
      if (!stage.filters() || !known.rests[k]) now.which.push_back(k);
    if (now.which.size() == of->columns()) {
      now.keys = *known.keys;
    } else {
      std::vector<key_id> ids;
      for (const auto k : now.which) ids.push_back(of->keys[k]);
      auto some = session.kv().keys(table_of(b), ids);
      if (!some) return session.fail(some.failure());
      now.keys = std::move(*some);
    }
    numbers_.resize(2 * now.which.size());
    scores_->gradient(*of, known.region, now.which, numbers_);
    std::uint64_t entries = 0;
    for (const auto k : now.which) entries += of->begin[k + 1] - of->begin[k];
    if (meter_ != nullptr) {
      meter_->add(work::examples, scores_->rows());
      meter_->add(work::features, entries);
    }
    std::vector<double> told;
    if (stage.filters()) told.push_back(stage.slack());
    session.push(table_of(b), now.keys,
                 doubles(b) ? blob_of<double>(numbers_) : blob_of<float>(numbers_),
                 stage.penalty() / training_.slots, std::move(told));
    if (training_.delay > 0) scores_->depart(*of, now.which);
    visits_.push_back(std::move(now));
    session.end_clock({});
  });
}

}  // namespace troupe
