#pragma once
// The resolver of the local stage: all nodes live in one process, and a role's handle is the actor
// itself.

#include <map>
#include <mutex>
#include <set>

#include "messages/resolver.hpp"

namespace troupe {

class local_directory final : public resolver {
 public:
  caf::strong_actor_ptr find(role_id id) const override {
    std::lock_guard guard(mutex_);
    const auto found = handles_.find(id);
    return found == handles_.end() ? nullptr : found->second;
  }
  bool near(role_id id) const override {
    std::lock_guard guard(mutex_);
    return far_.count(id) == 0;
  }
  // Null withdraws the role.
  void publish(role_id id, caf::strong_actor_ptr handle, bool near = true) {
    std::lock_guard guard(mutex_);
    if (handle)
      handles_[id] = std::move(handle);
    else
      handles_.erase(id);
    near ? (void)far_.erase(id) : (void)far_.insert(id);
  }

 private:
  mutable std::mutex mutex_;
  std::map<role_id, caf::strong_actor_ptr> handles_;
  std::set<role_id> far_;
};

}  // namespace troupe
