#pragma once
// Whose turn it is to compute. A node works on one item at a time and takes what comes meanwhile in
// the order of its coming; what it sends leaves when its turn is over. Nodes that share a host also
// wait for one of its cores, first come first served.

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "sim/network/nodes.hpp"

namespace troupe::sim {

struct host_settings {
  std::uint32_t count = 0;  // 0: every node has a processor of its own
  std::uint32_t cores = 1;  // of each host; nodes are dealt out to hosts in turn
};

template <class Item>  // movable
class processors {
 public:
  struct hooks {
    std::function<duration(node_number, Item, instant)> work;  // does it; says how long it takes
    std::function<void(node_number, instant)> over_at;         // call turn_over(node) then
    std::function<void(node_number, instant)> leave;           // what the node sent leaves now
  };

  processors(std::size_t nodes, host_settings hosts, hooks h)
      : settings_(hosts), hooks_(std::move(h)), nodes_(nodes), hosts_(hosts.count) {}

  void offer(node_number n, Item item, instant now) {
    nodes_[n].inbox.push_back(std::move(item));
    go_on(n, now);
    give_cores(n, now);
  }

  void turn_over(node_number n, instant now) {
    if (nodes_[n].pauses > 0) {  // it stood still with its turn unfinished
      nodes_[n].owes_end = true;
      return;
    }
    end_turn(n, now);
    give_cores(n, now);  // first to those who have waited
    go_on(n, now);
    give_cores(n, now);
  }

  // Pauses add up: the node goes on when each has ended.
  void pause(node_number n) { ++nodes_[n].pauses; }
  void resume(node_number n, instant now) {
    auto& node = nodes_[n];
    if (node.pauses == 0 || --node.pauses > 0) return;
    if (std::exchange(node.owes_end, false)) return turn_over(n, now);
    go_on(n, now);
    give_cores(n, now);
  }
  // A crash: its turn and all that waits for it are gone. A turn_over() asked for must not come.
  void clear(node_number n, instant now) {
    auto& node = nodes_[n];
    auto* h = host_of(n);
    if (node.busy && h != nullptr) --h->taken;
    node = {};
    give_cores(n, now);
  }

  const Item* next_item(node_number n) const {
    return nodes_[n].inbox.empty() ? nullptr : &nodes_[n].inbox.front();
  }
  bool busy(node_number n) const { return nodes_[n].busy; }
  std::size_t waiting(node_number n) const { return nodes_[n].inbox.size(); }

 private:
  struct node_state {
    std::deque<Item> inbox;
    bool busy = false, owes_end = false;
    std::uint32_t pauses = 0;
    bool wants_core = false;  // it stands in its host's queue
  };
  struct host {
    std::uint32_t taken = 0;
    std::deque<node_number> queue;
  };

  host* host_of(node_number n) { return hosts_.empty() ? nullptr : &hosts_[n % hosts_.size()]; }

  // `granted`: a core is kept for it.
  void go_on(node_number n, instant now, bool granted = false) {
    auto& node = nodes_[n];
    auto* h = host_of(n);
    while (!node.busy && node.pauses == 0 && !node.wants_core && !node.inbox.empty()) {
      if (h != nullptr && !std::exchange(granted, false) &&
          (h->taken == settings_.cores || !h->queue.empty())) {
        node.wants_core = true;
        h->queue.push_back(n);
        return;
      }
      Item item = std::move(node.inbox.front());
      node.inbox.pop_front();
      node.busy = true;
      if (h != nullptr) ++h->taken;
      const auto takes = hooks_.work(n, std::move(item), now);
      if (takes > duration::zero()) return hooks_.over_at(n, now + takes);
      end_turn(n, now);
    }
  }

  void end_turn(node_number n, instant now) {
    nodes_[n].busy = false;
    if (auto* h = host_of(n)) --h->taken;
    hooks_.leave(n, now);
  }

  void give_cores(node_number of, instant now) {
    auto* h = host_of(of);
    while (h != nullptr && h->taken < settings_.cores && !h->queue.empty()) {
      const auto next = h->queue.front();
      h->queue.pop_front();
      // It may have crashed meanwhile.
      if (std::exchange(nodes_[next].wants_core, false)) go_on(next, now, true);
    }
  }

  const host_settings settings_;
  const hooks hooks_;
  std::vector<node_state> nodes_;
  std::vector<host> hosts_;
};

}  // namespace troupe::sim
