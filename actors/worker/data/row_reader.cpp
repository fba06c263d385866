#include "actors/worker/data/row_reader.hpp"

#include "actors/worker/data/criteo.hpp"
#include "actors/worker/data/csv.hpp"
#include "actors/worker/data/libsvm.hpp"
#include "core/text.hpp"

namespace troupe {

namespace {

template <class Map, class PutValue>
void put_map(const Map& map, byte_writer& out, PutValue put_value) {
  out.put(static_cast<std::uint64_t>(map.size()));
  for (const auto& [name, value] : map) {
    out.put_text(name);
    put_value(value);
  }
}

}  // namespace

void encode(const format_options& options, byte_writer& out) {
  out.put(options.index_base);
  for (const bool flag :
       {options.labels_optional, options.label_weights, options.names_are_keys, options.csv.header})
    out.put(static_cast<std::uint8_t>(flag));
  out.put(options.hashing.seed);
  out.put(options.hashing.bits);
  out.put(static_cast<std::uint8_t>(options.numbers));
  out.put(options.csv.separator);
  put_map(options.csv.columns, out, [&](const std::string& role) { out.put_text(role); });
  out.put_text(options.csv.others);
  out.put(static_cast<std::uint64_t>(options.csv.missing.size()));
  for (const auto& word : options.csv.missing) out.put_text(word);
  put_map(options.csv.label_words, out, [&](double label) { out.put(label); });
  put_map(options.settings, out, [&](const std::string& value) { out.put_text(value); });
}

row_formats& row_formats::global() {
  static row_formats formats;
  static const bool filled = [] {
    formats.add("libsvm", {2, make_libsvm_reader});
    formats.add("libffm", {1, make_libffm_reader});
    formats.add("criteo", {1, make_criteo_reader});
    formats.add("csv", {1, make_csv_reader});
    return true;
  }();
  (void)filled;
  return formats;
}

}  // namespace troupe
