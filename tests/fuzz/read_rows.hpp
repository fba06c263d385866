#pragma once
// What a fuzzer, and a test that replays its corpus, do with some bytes: they are lines of a
// format, read with settings that the first byte chooses. What comes out must be whole: finite
// numbers, and rows that make a block which survives being written.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "actors/worker/data/block_builder.hpp"
#include "actors/worker/data/row_stream.hpp"

namespace troupe::fuzz {

inline void require(bool fine) {
  if (!fine) std::abort();
}

inline format_options options_by(std::uint8_t choice) {
  format_options options;
  options.index_base = choice & 1;
  options.labels_optional = choice & 2;
  options.label_weights = choice & 4;
  options.names_are_keys = choice & 8;
  options.hashing.bits = choice & 16 ? 5 : 0;
  options.numbers = choice & 32   ? number_form::buckets
                    : choice & 64 ? number_form::log
                                  : number_form::value;
  auto& csv = options.csv;
  csv.header = choice & 128;
  csv.separator = choice & 8 ? '\t' : ',';
  csv.columns = {{"1", "label"}, {"2", "weight"}, {"3", "id"}, {"4", "group"}, {"5", "category"}};
  if (choice & 4) csv.columns = {{"1", "label"}};
  csv.others = choice & 16 ? "category" : "number";
  csv.missing = {"NA"};
  csv.label_words = {{"yes", 1}};
  return options;
}

inline void check_row(const example& row) {
  require(std::isfinite(row.label) && std::isfinite(row.weight) && row.weight >= 0);
  for (const auto& f : row.features) require(std::isfinite(f.value));
}

inline void read_rows(const char* format, std::string_view bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  row_shape shape;
  // One namespace that every format has, so that rows are crossed and scaled too.
  const std::string format_name = format;
  const std::string space = format_name == "libsvm"   ? ""
                            : format_name == "libffm" ? "1"
                            : format_name == "criteo" ? "C1"
                                                      : "5";
  if (choice & 2) {
    shape.scaling = row_scaling::unit_length;
    shape.interactions = {space + "*" + space};
    shape.factors = {{space, 1e20}};
  }
  auto pipeline = row_pipeline::make(format, options_by(choice), shape);
  require(pipeline.ok());
  pipeline->begin_file();
  block_builder builder({16, 1 << 20});
  example row;
  const auto finish = [&] {
    byte_writer out;
    const auto rows = builder.finish();
    encode(rows, out);
    const auto again = decode_block(out.bytes());
    require(again && again->rows() == rows.rows() && again->entries() == rows.entries());
  };
  while (!bytes.empty()) {
    const auto line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    row.clear();
    row_fault fault;
    const auto outcome = pipeline->read(line, row, fault);
    if (outcome == row_outcome::fault) {
      require(!fault.reason.empty() && fault.column >= 1 && fault.column <= line.size() + 1);
      if (fault.fatal) return;
    }
    if (outcome != row_outcome::row) continue;
    check_row(row);
    builder.add(row);
    if (builder.full()) finish();
  }
  if (!builder.empty()) finish();
}

}  // namespace troupe::fuzz
