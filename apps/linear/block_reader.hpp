#pragma once
// Gets a program the block that it needs next: at once if it is at hand, else after a read in the
// background.

#include <functional>
#include <memory>
#include <utility>

#include "actors/worker/program.hpp"
#include "apps/linear/block_cache.hpp"

namespace troupe {

class block_reader {
 public:
  explicit block_reader(std::shared_ptr<block_cache> blocks) : blocks_(std::move(blocks)) {}

  // Calls then(block), or ends the session with the error.
  void get(session& with, std::size_t index, std::function<void(const block&)> then) {
    if (!present_ || index != index_) {
      index_ = index;
      present_ = blocks_->find(index);
    }
    if (present_) return then(*present_);
    // The read may outlive this program, so it works on what is its own.
    auto box = std::make_shared<std::shared_ptr<const block>>();
    with.read(
        [blocks = blocks_, index, box]() -> result<void> {
          auto rows = blocks->load(index);
          if (!rows) return rows.failure();
          *box = std::move(*rows);
          return {};
        },
        [this, &with, box, then = std::move(then)](const result<void>& outcome) {
          if (!outcome) return with.fail(outcome.failure());
          present_ = std::move(*box);
          then(*present_);
        });
  }

 private:
  const std::shared_ptr<block_cache> blocks_;
  std::size_t index_ = 0;
  std::shared_ptr<const block> present_;  // this program's own, whatever the cache forgets
};

}  // namespace troupe
