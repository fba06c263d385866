#include "actors/worker/data/facts.hpp"

#include <algorithm>

namespace troupe {

void data_facts::add(const block& more) {
  for (std::size_t r = 0; r < more.rows(); ++r) {
    const double label = more.label[r];
    smallest_label = rows + r == 0 ? label : std::min(smallest_label, label);
    largest_label = rows + r == 0 ? label : std::max(largest_label, label);
    const auto found = labels.find(label);
    if (found != labels.end())
      ++found->second;
    else if (labels.size() < most_labels)
      labels.emplace(label, 1);
    else
      labels_complete = false;
    longest_row = std::max<std::uint64_t>(longest_row, more.row_begin[r + 1] - more.row_begin[r]);
  }
  for (const auto key : more.keys) {
    smallest_key = std::min(smallest_key, key);
    largest_key = std::max(largest_key, key);
  }
  for (const auto field : more.field) largest_field = std::max(largest_field, field);
  rows += more.rows();
  entries += more.entries();
  all_values_one &= more.value.empty();
  has_weights |= !more.weight.empty();
  has_groups |= !more.has_group.empty();
  has_ids |= !more.has_id.empty();
}

void encode(const data_facts& facts, byte_writer& out) {
  out.put(facts.rows);
  out.put(facts.entries);
  out.put(facts.longest_row);
  out.put(facts.smallest_key);
  out.put(facts.largest_key);
  out.put(facts.largest_field);
  out.put(facts.smallest_label);
  out.put(facts.largest_label);
  out.put(static_cast<std::uint32_t>(facts.labels.size()));
  for (const auto& [label, rows] : facts.labels) {
    out.put(label);
    out.put(rows);
  }
  for (const bool flag : {facts.labels_complete, facts.all_values_one, facts.has_weights,
                          facts.has_groups, facts.has_ids})
    out.put(static_cast<std::uint8_t>(flag));
}

data_facts decode_facts(byte_reader& in) {
  data_facts facts;
  facts.rows = in.get<std::uint64_t>();
  facts.entries = in.get<std::uint64_t>();
  facts.longest_row = in.get<std::uint64_t>();
  facts.smallest_key = in.get<key_id>();
  facts.largest_key = in.get<key_id>();
  facts.largest_field = in.get<std::uint32_t>();
  facts.smallest_label = in.get<double>();
  facts.largest_label = in.get<double>();
  const auto labels = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < labels && in.ok(); ++i) {
    const auto label = in.get<double>();
    facts.labels[label] = in.get<std::uint64_t>();
  }
  for (bool* flag : {&facts.labels_complete, &facts.all_values_one, &facts.has_weights,
                     &facts.has_groups, &facts.has_ids})
    *flag = in.get<std::uint8_t>() != 0;
  return facts;
}

void encode(const skipped_rows& skipped, byte_writer& out) {
  out.put(skipped.count);
  out.put(static_cast<std::uint32_t>(skipped.first.size()));
  for (const auto& one : skipped.first) out.put_text(one);
}

skipped_rows decode_skipped(byte_reader& in) {
  skipped_rows skipped;
  skipped.count = in.get<std::uint64_t>();
  const auto reported = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < reported && in.ok(); ++i) skipped.first.push_back(in.get_text());
  return skipped;
}

}  // namespace troupe
