#pragma once
// What a data format is: a reader that turns one line into one example, registered by name.
// "libsvm", "libffm", "criteo" and "csv" come with Troupe; a program adds its own before it opens
// data:
//
//   row_formats::global().add("mine", {1, [](const format_options& options) { return
//   make_my_reader(options); }});

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worker/data/example.hpp"
#include "actors/worker/data/names.hpp"
#include "core/bytes.hpp"
#include "core/registry.hpp"
#include "core/result.hpp"

namespace troupe {

struct row_fault {
  std::size_t column = 1;  // in bytes, from 1
  std::string reason;
  bool fatal = false;  // the whole file makes no sense (its header): no skip budget lets it pass
};

enum class row_outcome {
  row,      // the example is filled
  nothing,  // a blank line, a comment, a header
  fault,    // the fault is filled
};

class row_reader {
 public:
  virtual ~row_reader() = default;
  // The next lines come from another file: its header, if the format has one, comes first.
  virtual void begin_file() {}
  // `into` arrives cleared; its storage is reused from line to line. Must depend on nothing but the
  // lines of the file.
  virtual row_outcome read(std::string_view line, example& into, row_fault& fault) = 0;
  // The field that features of a namespace have; none: there is no such namespace. Asked after the
  // first row of a file.
  virtual std::optional<std::uint32_t> field_of(std::string_view) const { return std::nullopt; }
};

// What a number of a count's or a CSV column becomes.
enum class number_form {
  value,    // a feature with the number as its value; 0 is no feature
  log,      // the same with sign(x) * log(1 + |x|)
  buckets,  // a feature of value 1, one to each bucket: floor(x) up to 2, floor(log(x)^2) above
};

// The columns of CSV text.
struct csv_layout {
  char separator = ',';
  bool header = true;  // else columns are called 1, 2, 3, ...
  // label, weight, id, group, number, category or ignore, by column; and what the others are.
  std::map<std::string, std::string> columns;
  std::string others = "ignore";
  std::vector<std::string> missing;           // words that mean that nothing is known; empty does
  std::map<std::string, double> label_words;  // labels that are no numbers
};

// All of it is part of a cache's identity, but for `names`.
struct format_options {
  std::uint64_t index_base = 1;  // 0 or 1: an index minus this is the key
  bool labels_optional = false;  // rows without a label are rows too
  bool label_weights = false;    // libsvm, libffm: a label may be label:weight
  bool names_are_keys = false;   // libsvm, libffm: a feature that is no number is a name
  name_hashing hashing;
  number_form numbers = number_form::value;     // criteo, csv
  csv_layout csv;                               // csv
  std::map<std::string, std::string> settings;  // what a format of somebody else's needs
  std::shared_ptr<name_list> names;             // receives what is hashed; may be null
};

void encode(const format_options& options, byte_writer& out);

struct row_format {
  std::uint32_t version =
      1;  // raised when the reader changes its mind about a line: caches are then rebuilt
  std::function<result<std::unique_ptr<row_reader>>(const format_options&)> make;
};

class row_formats : public registry<row_format> {
 public:
  row_formats() : registry("data format") {}
  static row_formats& global();  // has those that come with Troupe
};

}  // namespace troupe
