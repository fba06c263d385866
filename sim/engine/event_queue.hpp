#pragma once
// What is still to happen, earliest first; at one time in the order in which it was added. A heap
// of small entries, four children to a node: the top levels stay in the cache.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace troupe::sim {

template <class Event>  // movable
class event_queue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // The next event, and then some of those that may come soon after: at most five in all.
  template <class Visit>
  void peek(Visit visit) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(5, heap_.size()); ++i)
      visit(heap_[i].what, i == 0);
  }
  instant next() const { return {heap_.front().at}; }  // not when empty

  void add(instant at, Event what) {
    heap_.push_back({at.ns, next_number_++, std::move(what)});
    rise(heap_.size() - 1);
  }

  Event take() {  // not when empty
    Event first = std::move(heap_.front().what);
    entry last = std::move(heap_.back());
    heap_.pop_back();
    if (!heap_.empty()) sink(std::move(last));
    return first;
  }

  template <class Visit>
  void each(Visit visit) const {  // in no order
    for (const auto& e : heap_) visit(e.what);
  }
  void clear() { heap_.clear(); }

 private:
  struct entry {
    std::int64_t at;
    std::uint64_t number;
    Event what;

    bool before(const entry& other) const {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  void rise(std::size_t i) {
    entry e = std::move(heap_[i]);
    while (i > 0) {
      const auto parent = (i - 1) / 4;
      if (!e.before(heap_[parent])) break;
      heap_[i] = std::move(heap_[parent]);
      i = parent;
    }
    heap_[i] = std::move(e);
  }

  void sink(entry e) {
    std::size_t i = 0;
    for (;;) {
      const auto first = 4 * i + 1;
      if (first >= heap_.size()) break;
      auto least = first;
      for (auto c = first + 1; c < std::min(first + 4, heap_.size()); ++c)
        if (heap_[c].before(heap_[least])) least = c;
      if (!heap_[least].before(e)) break;
      heap_[i] = std::move(heap_[least]);
      i = least;
    }
    heap_[i] = std::move(e);
  }

  std::uint64_t next_number_ = 0;
  std::vector<entry> heap_;
};

}  // namespace troupe::sim
