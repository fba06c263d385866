#include "sim/network/link.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::sim {
namespace {

duration drawn(duration most, random_source& random) {
  if (most <= duration::zero()) return {};
  return duration(static_cast<std::int64_t>(random.unit() * static_cast<double>(most.count())));
}

duration time_of(std::uint64_t bytes, double rate) {
  return duration(std::llround(static_cast<double>(bytes) / rate * 1e9));
}

}  // namespace

pipe::passage pipe::pass(instant ready, std::uint64_t bytes, double rate) {
  if (rate <= 0) return {ready, ready};
  const auto begun = std::max(ready, free_);
  free_ = begun + time_of(bytes, rate);
  return {begun, free_};
}

instant pipe::pass_until(instant first_byte, instant last_byte, std::uint64_t bytes, double rate) {
  if (rate <= 0) return last_byte;
  free_ = std::max(last_byte, std::max(free_, first_byte) + time_of(bytes, rate));
  return free_;
}

link::arrivals link::send(pipe::passage before, std::uint64_t bytes, const link_settings& settings,
                          random_source& random) {
  const auto through = wire_.pass(before.begun, bytes, settings.bandwidth);
  const auto ended = std::max(before.ended, through.ended);
  arrivals a;
  auto wait = duration::zero();
  if (settings.loss > 0) {
    auto backoff = settings.retransmit_after;
    while (random.unit() < settings.loss) {
      if (!settings.ordered) {
        a.lost = true;
        return a;
      }
      ++a.retransmissions;
      wait += backoff;
      backoff *= 2;
    }
  }
  const auto on_the_way = settings.latency + drawn(settings.jitter, random) + wait;
  a.first_byte = through.begun + on_the_way;
  a.last_byte = ended + on_the_way;
  if (settings.ordered) {
    a.last_byte = std::max(a.last_byte, last_);
    last_ = a.last_byte;
  } else if (settings.duplication > 0 && random.unit() < settings.duplication) {
    a.again = ended + settings.latency + drawn(settings.jitter, random);
  }
  return a;
}

}  // namespace troupe::sim
