#include "apps/console/progress.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/console/evaluation_line.hpp"
#include "core/text.hpp"

namespace troupe::console {
namespace {

constexpr std::size_t bar_cells = 16;

std::string bar(double fraction) {
  const auto full = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * bar_cells);
  return "[" + std::string(full, '#') + std::string(bar_cells - full, '.') + "]";
}

// A part of a line; the lower its rank, the longer it stays when columns are few.
struct field {
  int rank;
  std::string text;
};

std::string fitted(std::vector<field> fields, std::size_t width) {
  fields.erase(
      std::remove_if(fields.begin(), fields.end(), [](const field& f) { return f.text.empty(); }),
      fields.end());
  for (;;) {
    std::string line;
    for (const auto& f : fields) line += (line.empty() ? "" : "  ") + f.text;
    if (line.size() <= width || fields.size() <= 1) return line.substr(0, width);
    fields.erase(std::max_element(fields.begin(), fields.end(),
                                  [](const field& a, const field& b) { return a.rank < b.rank; }));
  }
}

std::string plural(std::uint64_t count, const char* thing) {
  return human_count(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string restarts_of(const pb::JobStatus& status) {
  return status.restarts() == 0 ? std::string() : plural(status.restarts(), "restart");
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string first_wait(const pb::JobStatus& status) {
  for (const auto& slot : status.slots())
    if (!slot.waiting_for().empty())
      return format("slot %u waits for ", slot.slot()) + slot.waiting_for();
  return {};
}

}  // namespace

void moving_rate::add(instant now, std::uint64_t examples) {
  if (!points_.empty() && (now <= points_.back().first || examples < points_.back().second)) return;
  points_.emplace_back(now, examples);
  // The oldest point that stays is the last one outside the window.
  while (points_.size() > 2 && now - points_[1].first >= window) points_.pop_front();
}

std::optional<double> moving_rate::per_second() const {
  if (points_.size() < 2) return std::nullopt;
  const auto [begun, from] = points_.front();
  const auto [now, to] = points_.back();
  return static_cast<double>(to - from) / seconds_of(now - begun);
}

bool moving_rate::stalled() const {
  return points_.size() >= 2 && points_.front().second == points_.back().second &&
         points_.back().first - points_.front().first >= window;
}

progress::progress(progress_style style, duration every, run_facts facts)
    : style_(style), every_(every), facts_(std::move(facts)) {}

std::string progress::on_status(const pb::JobStatus& status, instant now, std::size_t width) {
  if (status.phase() == pb::JobStatus::TRAINING) rate_.add(now, totals_of(status).examples);
  return shown(status, now, width);
}

std::string progress::on_status(const pb::JobStatus& status, instant virtual_now, instant now,
                                std::size_t width) {
  if (!begun_) begun_ = now;
  virtual_now_ = virtual_now;
  real_time_ = now - *begun_;
  if (status.phase() == pb::JobStatus::TRAINING) rate_.add(virtual_now, totals_of(status).examples);
  return shown(status, now, width);
}

std::string progress::shown(const pb::JobStatus& status, instant now, std::size_t width) {
  if (style_ == progress_style::none) return {};
  std::string evaluated;
  if (status.latest().number() > evaluation_shown_ && !status.latest().final()) {
    evaluation_shown_ = status.latest().number();
    evaluated =
        text_line(status.latest()) + (status.latest().best() ? "  (the best so far)\n" : "\n");
  }
  if (style_ == progress_style::live) {
    live_line_shown_ = true;
    return "\r\x1b[K" + evaluated + line(status, width);
  }
  if (!due(status, now)) return evaluated;
  shown_ = now;
  shown_phase_ = status.phase();
  shown_restarts_ = status.restarts();
  return evaluated + line(status, std::string::npos) + "\n";
}

std::string progress::wipe() {
  return std::exchange(live_line_shown_, false) ? "\r\x1b[K" : "";
}

bool progress::due(const pb::JobStatus& status, instant now) const {
  const bool over =
      status.phase() == pb::JobStatus::FINISHED || status.phase() == pb::JobStatus::FAILED;
  if (over) return false;  // the summary says it
  return !shown_ || now - *shown_ >= every_ || status.phase() != shown_phase_ ||
         status.restarts() != shown_restarts_;
}

std::string progress::line(const pb::JobStatus& status, std::size_t width) const {
  if (virtual_now_) {
    const auto clocks = format("virtual %.3f s, real %.1f s  ",
                               seconds_of(duration(virtual_now_->ns)), seconds_of(real_time_));
    if (clocks.size() >= width) return clocks.substr(0, width);
    return clocks + line_of_phase(status, width - clocks.size());
  }
  return line_of_phase(status, width);
}

std::string progress::line_of_phase(const pb::JobStatus& status, std::size_t width) const {
  const auto with_restarts = [&](std::string text) {
    return fitted({{0, std::move(text)}, {1, restarts_of(status)}}, width);
  };
  switch (status.phase()) {
    case pb::JobStatus::GATHERING:
      return with_restarts(status.waiting_for().empty()
                               ? "gathering"
                               : "gathering: waiting for " + joined(status.waiting_for()));
    case pb::JobStatus::STARTING:
      return with_restarts("starting: servers take their segments");
    case pb::JobStatus::TRAINING:
      return training_line(status, width);
    case pb::JobStatus::EVALUATING:
      return with_restarts("evaluating");
    case pb::JobStatus::SAVING:
      return with_restarts("saving the model");
    case pb::JobStatus::FINISHED:
      return with_restarts("finished");
    case pb::JobStatus::FAILED:
      return with_restarts("failed: " + status.text());
    default:
      return {};
  }
}

std::string progress::training_line(const pb::JobStatus& status, std::size_t width) const {
  const auto sum = totals_of(status);
  const double fraction =
      sum.clocks == 0 ? 0 : static_cast<double>(sum.clocks_done) / static_cast<double>(sum.clocks);
  const auto rate = rate_.per_second();
  const auto left = seconds_left(sum);
  const auto loss = sum.mean_loss();
  return fitted(
      {
          {0, epoch(sum)},
          {8, bar(fraction)},
          {1, format("%3.0f%%", std::min(fraction, 1.0) * 100)},
          {2, rate ? human_count(static_cast<std::uint64_t>(*rate)) + " examples/s" : ""},
          {3, loss ? format("loss %.4f", *loss) : ""},
          {6, format("staleness <= %llu", static_cast<unsigned long long>(sum.max_staleness))},
          {7, "up " + human_bytes(static_cast<double>(sum.bytes_pushed)) + "  down " +
                  human_bytes(static_cast<double>(sum.bytes_pulled))},
          {5, restarts_of(status)},
          {9, sum.rejected == 0 ? "" : plural(sum.rejected, "rejected update")},
          {4, status.interrupted() ? "stopping"
              : left               ? human_seconds(*left) + " left"
                                   : ""},
          {10, rate_.stalled() ? first_wait(status) : ""},
      },
      width);
}

std::string progress::epoch(const totals& sum) const {
  if (facts_.epochs == 0 || facts_.train_rows == 0) return "training";
  const auto done = sum.examples / facts_.train_rows;
  return format("epoch %llu/%llu",
                static_cast<unsigned long long>(std::min(done + 1, facts_.epochs)),
                static_cast<unsigned long long>(facts_.epochs));
}

std::optional<double> progress::seconds_left(const totals& sum) const {
  const auto rate = rate_.per_second();
  const auto all = facts_.epochs * facts_.train_rows;
  if (!rate || !(*rate > 0) || all < sum.examples) return std::nullopt;
  return static_cast<double>(all - sum.examples) / *rate;
}

}  // namespace troupe::console
