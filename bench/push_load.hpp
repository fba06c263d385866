#pragma once
// A slot that pushes batches of random keys as fast as they are acknowledged.

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/interleaved.hpp"
#include "bench/load_job.hpp"
#include "core/random.hpp"

namespace troupe::bench {

struct load {
  std::size_t keys = 10'000;  // of a push
  std::size_t key_space = 1'000'000;
  std::size_t pushes = 200;  // or
  double seconds = 0;        // for so long
  int in_flight = 4;
};

struct times {
  double begun = 0, ended = 0;
  std::vector<double> acknowledged;
};

class pushing_program final : public slot_program {
 public:
  pushing_program(load l, times& out) : load_(l), out_(out) {}
  std::uint64_t clocks() const override { return 1; }
  std::uint64_t examples_before(std::uint64_t) const override { return 0; }

  void run(slot_session& session, std::uint64_t) override {
    random_source random(7);
    for (int i = 0; i < 16; ++i) {
      std::vector<key_id> ids;
      for (std::size_t k = 0; k < load_.keys; ++k)
        ids.push_back(splitmix64(random.below(load_.key_space)));
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      keys_.push_back(*session.kv().keys(0, ids));
      ones_.push_back(blob::copy_of(span<const float>(std::vector<float>(ids.size(), 1))));
    }
    out_.begun = seconds_now();
    for (int i = 0; i < load_.in_flight; ++i) push_one(session);
  }

 private:
  bool over() const {
    return load_.seconds > 0 ? seconds_now() - out_.begun > load_.seconds : sent_ >= load_.pushes;
  }
  void push_one(slot_session& session) {
    if (over()) return;
    const auto which = sent_++ % keys_.size();
    push_options options;
    options.last = false;
    session.kv().push(0, keys_[which], ones_[which], options, [this, &session](result<pushed>) {
      out_.acknowledged.push_back(seconds_now());
      ++answered_;
      push_one(session);
      if (answered_ < sent_) return;
      out_.ended = seconds_now();
      session.end_clock({});
    });
  }

  const load load_;
  times& out_;
  std::vector<key_set> keys_;
  std::vector<blob> ones_;
  std::size_t sent_ = 0, answered_ = 0;
};

struct pushing_application final : load_only {
  load l;
  times out;
  std::unique_ptr<slot_program> slot(std::uint32_t, meter&) override {
    return std::make_unique<pushing_program>(l, out);
  }
};

}  // namespace troupe::bench
