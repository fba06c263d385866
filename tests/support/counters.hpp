#pragma once
// A job that counts: every push adds one to each of its keys, so what the tables sum up to at the
// end tells exactly whether a push was lost or counted twice.

#include <algorithm>
#include <memory>
#include <vector>

#include "actors/worker/program.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"

namespace troupe::testing {

struct counting {
  std::uint32_t slots = 4;
  std::uint64_t clocks = 200;
  std::size_t keys = 40;
  std::uint64_t key_space = 400;
  std::uint64_t seed = 1;
};

class counting_program final : public slot_program {
 public:
  counting_program(counting c, std::uint32_t slot) : c_(c), slot_(slot) {}
  std::uint64_t clocks() const override { return c_.clocks; }
  std::uint64_t examples_before(std::uint64_t clock) const override { return clock; }

  static std::vector<key_id> keys_of(const counting& c, std::uint32_t slot, std::uint64_t clock) {
    std::vector<key_id> ids;
    random_source random(seed_of(c.seed, slot, clock));
    for (std::size_t i = 0; i < c.keys; ++i) ids.push_back(splitmix64(random.below(c.key_space)));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  void run(slot_session& session, std::uint64_t clock) override {
    const auto ids = keys_of(c_, slot_, clock);
    auto keys = session.kv().keys(0, ids);
    if (!keys) return session.fail(keys.failure());
    session.kv().pull(0, *keys, {}, [this, &session, ids, keys = *keys](result<pulled> got) {
      if (!got) return session.fail(got.failure());
      const std::vector<double> ones(ids.size(), 1.0);
      session.push(0, keys, blob::copy_of(span<const double>(ones)), 0);
      session.end_clock({1, 0, 1});
    });
  }

 private:
  const counting c_;
  const std::uint32_t slot_;
};

class counting_application final : public application {
 public:
  explicit counting_application(counting c) : c_(c) {}
  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter&) override {
    return std::make_unique<counting_program>(c_, slot);
  }
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask&, meter&) override {
    return error{errc::bad_request, "there is nothing to score"};
  }

 private:
  const counting c_;
};

// What the table sums up to when every push counted once.
inline double sum_of(const counting& c) {
  double sum = 0;
  for (std::uint32_t slot = 0; slot < c.slots; ++slot)
    for (std::uint64_t clock = 0; clock < c.clocks; ++clock)
      sum += static_cast<double>(counting_program::keys_of(c, slot, clock).size());
  return sum;
}

}  // namespace troupe::testing
