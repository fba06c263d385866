#pragma once
// Who has not been heard of for too long. Deaths are inferred from silence and from nothing else. A
// detector that was late itself (paused, starved of its processor) cannot tell its own silence from
// the others': what it slept is not held against them.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/time.hpp"
#include "messages/roles.hpp"

namespace troupe {

struct detector_settings {
  duration suspect_after = std::chrono::seconds(1);
  duration death_after = std::chrono::seconds(2);
};

class failure_detector {
 public:
  explicit failure_detector(detector_settings settings) : settings_(settings) {}

  // From now on the node is watched.
  void heard(role_id id, instant now) {
    auto& n = nodes_[id];
    if (!asked_) asked_ = now;  // it may fall asleep before it is asked for the first time
    n.heard = now;
    n.suspected = false;
  }
  void forget(role_id id) { nodes_.erase(id); }
  bool watches(role_id id) const { return nodes_.count(id) > 0; }
  bool suspects(role_id id) const {
    const auto found = nodes_.find(id);
    return found != nodes_.end() && found->second.suspected;
  }
  duration silence(role_id id, instant now) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? duration{} : now - found->second.heard;
  }

  struct verdicts {
    std::vector<role_id> suspected;  // newly
    std::vector<role_id> dead;       // no longer watched
  };
  // To be called several times within `suspect_after`.
  verdicts on_time(instant now) {
    verdicts v;
    if (asked_ && now - *asked_ > settings_.suspect_after / 2)
      for (auto& [id, n] : nodes_) n.heard = n.heard + (now - *asked_);
    asked_ = now;
    for (auto i = nodes_.begin(); i != nodes_.end();) {
      const auto silent = now - i->second.heard;
      if (silent >= settings_.death_after) {
        v.dead.push_back(i->first);
        i = nodes_.erase(i);
        continue;
      }
      if (silent >= settings_.suspect_after && !i->second.suspected) {
        i->second.suspected = true;
        v.suspected.push_back(i->first);
      }
      ++i;
    }
    return v;
  }

 private:
  struct node {
    instant heard;
    bool suspected = false;
  };
  const detector_settings settings_;
  std::optional<instant> asked_;
  std::map<role_id, node> nodes_;
};

}  // namespace troupe
