#pragma once
// The progress of a job as text: one line that is rewritten on a terminal, plain lines now and then
// elsewhere. A plain class: statuses and times go in, bytes to write come out.
//
//   epoch 2/5 [#######.........]  38%  412,345 examples/s  loss 0.3312  staleness <= 3  up 12.1
//   MB  down 15.3 MB  12.0 s left

#include <deque>
#include <optional>
#include <string>

#include "apps/console/run_facts.hpp"
#include "apps/console/totals.hpp"
#include "core/time.hpp"
#include "messages/control.pb.h"

namespace troupe::console {

enum class progress_style { live, plain, none };

// Examples a second over the last few seconds.
class moving_rate {
 public:
  static constexpr duration window = std::chrono::seconds(5);

  void add(instant now, std::uint64_t examples);
  std::optional<double> per_second() const;  // none before two different instants
  bool stalled() const;                      // not one example within a whole window

 private:
  std::deque<std::pair<instant, std::uint64_t>> points_;
};

class progress {
 public:
  // A plain line appears at most every `every`, and whenever the job's phase or the count of
  // restarts changes.
  progress(progress_style style, duration every, run_facts facts);

  // Bytes for the terminal or log that shows it, possibly none. A live line is cut to `width`
  // columns: the fields that matter least go first.
  std::string on_status(const pb::JobStatus& status, instant now, std::size_t width);
  // The same of a job in virtual time: rates are of that time, and the line says how far it is;
  // how often a line appears goes by real time.
  std::string on_status(const pb::JobStatus& status, instant virtual_now, instant now,
                        std::size_t width);
  // Wipes the live line, before anything else is written there.
  std::string wipe();

  // The line itself.
  std::string line(const pb::JobStatus& status, std::size_t width) const;

 private:
  std::string shown(const pb::JobStatus& status, instant now, std::size_t width);
  std::string line_of_phase(const pb::JobStatus& status, std::size_t width) const;
  std::string training_line(const pb::JobStatus& status, std::size_t width) const;
  std::string epoch(const totals& sum) const;
  std::optional<double> seconds_left(const totals& sum) const;
  bool due(const pb::JobStatus& status, instant now) const;

  const progress_style style_;
  const duration every_;
  const run_facts facts_;
  moving_rate rate_;
  std::optional<instant> begun_;        // in real time
  std::optional<instant> virtual_now_;  // of a job in virtual time
  duration real_time_{};
  bool live_line_shown_ = false;
  std::optional<instant> shown_;
  pb::JobStatus::Phase shown_phase_ = pb::JobStatus::GATHERING;
  std::uint32_t shown_restarts_ = 0;
  std::uint32_t evaluation_shown_ = 0;  // the number of the latest
};

}  // namespace troupe::console
