#pragma once
// Models to save and to damage, made without a cluster: tables filled by hand, each on two servers.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/server/plan.hpp"
#include "actors/server/row_file.hpp"
#include "apps/model/model_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace troupe::testing {

inline pb::TableSpec table_message(const std::string& name, const std::string& type = "f64") {
  pb::TableSpec spec;
  spec.set_name(name);
  spec.set_kind("sparse");
  spec.set_value_type(type);
  spec.set_width(1);
  spec.set_combine("each");
  spec.set_function("ftrl");
  spec.set_schedule("constant");
  spec.set_clip("none");
  spec.set_initialiser("zero");
  return spec;
}

using numbers_by_key = std::map<key_id, double>;

// The rows of one table on the two halves of the ring, as two servers hold them.
struct split_table {
  std::vector<std::shared_ptr<table>> servers;
  pb::TableSummary summary;
};

inline split_table split(const pb::TableSpec& message, const numbers_by_key& numbers,
                         std::uint32_t number) {
  const auto spec = table_spec_of(message);
  REQUIRE(spec.ok());
  constexpr position middle = ~position{0} / 3;
  split_table made;
  hash128 digest;
  made.summary.set_table(number);
  for (const auto range : {closed_range{0, middle}, closed_range{middle + 1, ~position{0}}}) {
    auto part = table::make(*spec, 1);
    REQUIRE(part.ok());
    REQUIRE((*part)->add_segment(range));
    std::map<position, double> rows;
    for (const auto& [key, value] : numbers)
      if (range.contains(spec->keys.position_of(key))) rows[spec->keys.position_of(key)] = value;
    for (const auto& [at, value] : rows) {
      const auto narrow = static_cast<float>(value);
      const void* bytes = &value;
      if (spec->type == value_type::f32) bytes = &narrow;
      REQUIRE((*part)->put({&at, 1}, bytes, nullptr).ok());
    }
    const auto sums = (*part)->summary();
    made.summary.set_rows(made.summary.rows() + sums.rows);
    made.summary.set_nonzeros(made.summary.nonzeros() + sums.nonzeros);
    made.summary.set_l1(made.summary.l1() + sums.absolutes);
    made.summary.set_l2(made.summary.l2() + sums.squares);
    digest += sums.digest;
    made.servers.push_back(std::move(*part));
  }
  made.summary.set_digest_low(digest.low);
  made.summary.set_digest_high(digest.high);
  return made;
}

// Saves tables under `folder`; what becomes of it is in the result.
inline result<void> save(file_system& files, const std::string& folder,
                         pb::ModelManifest description, const std::vector<numbers_by_key>& tables,
                         const std::string& dictionary = {}) {
  const model_folder place(folder);
  if (auto done = place.prepare(files); !done) return done;
  std::vector<std::string> parts;
  std::vector<pb::TableSummary> summaries;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto rows = split(description.tables(static_cast<int>(t)).spec(), tables[t],
                            static_cast<std::uint32_t>(t));
    summaries.push_back(rows.summary);
    for (std::uint32_t server = 0; server < 2; ++server) {
      const auto& part = *rows.servers[server];
      parts.push_back(part.spec().name + ".shard-" + std::to_string(server) + ".rows");
      REQUIRE(write_rows(files, place.partial() + "/" + parts.back(), part, true).ok());
    }
  }
  pb::Metric metric;
  metric.set_name("test_auc");
  metric.set_known(true);
  metric.set_value(0.1 + 0.2);
  return place.publish(files, std::move(description), parts, summaries, {metric}, dictionary);
}

inline pb::ModelManifest description_of(const std::vector<pb::TableSpec>& tables) {
  pb::ModelManifest m;
  m.set_app("linear");
  m.set_job("test");
  m.set_seed(~std::uint64_t{0});
  m.set_loss("logistic");
  m.set_index_base(1);
  m.set_bias(tables.size() > 1);
  for (const auto& spec : tables) *m.add_tables()->mutable_spec() = spec;
  return m;
}

}  // namespace troupe::testing
