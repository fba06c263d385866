#pragma once
// The rows of some tables as they were at one moment, read by and by while pushes change them: what
// a push is about to overwrite and has not been read yet is kept (copy on write).

#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "actors/server/table/table.hpp"

namespace troupe {

class snapshot {
 public:
  explicit snapshot(const std::vector<std::shared_ptr<table>>& tables, bool with_state);

  // A push has overwritten this.
  void note(std::size_t table, const overwritten::run& run);

  struct piece {
    std::size_t table = 0;
    table_rows rows;
    bool last = false;  // of its table
  };
  // The next rows in ascending position, table after table; nothing: all have been read.
  std::optional<piece> next();

 private:
  const std::vector<std::shared_ptr<table>> tables_;
  const bool with_state_;
  std::size_t table_ = 0;
  position from_ = 0;
  std::vector<overwritten> kept_;                           // by table
  std::vector<std::unordered_set<position>> kept_already_;  // looked up, never walked
};

}  // namespace troupe
