#include "apps/model/inspection.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "apps/model/sorted_rows.hpp"
#include "apps/model/text_export.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

void line(std::ostream& out, const char* name, const std::string& text) {
  out << format("  %-12s", name) << text << '\n';
}

std::string count_of(std::uint64_t count, const char* thing) {
  return human_count(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string labels_of(const pb::ModelLabels& labels) {
  const auto one = [](bool there, double label) {
    return there ? format("%.9g", label) : std::string("none");
  };
  return (labels.maps() ? "negative " : "numbers; classes: negative ") +
         one(labels.has_negative(), labels.negative()) + ", positive " +
         one(labels.has_positive(), labels.positive());
}

std::string reader_of(const pb::ModelManifest& m) {
  auto text = m.data_format() + format(", a key is a feature's number less %u", m.index_base());
  if (m.hash_bits() > 0 || m.hash_seed() > 0)
    text +=
        format("; names hash to %u bits with seed %llu", m.hash_bits() == 0 ? 64 : m.hash_bits(),
               static_cast<unsigned long long>(m.hash_seed()));
  return text;
}

struct norms {
  double largest = 0;
  std::size_t not_finite = 0;
};
norms norms_of(const table& t) {
  norms n;
  for_each_row(t, [&](key_id, const std::byte* row) {
    for (std::size_t i = 0; i < t.spec().width; ++i) {
      const double value = number_at(t.spec().type, row, i);
      if (std::isfinite(value))
        n.largest = std::max(n.largest, std::fabs(value));
      else
        ++n.not_finite;
    }
  });
  return n;
}

void print_table(const pb::ModelTable& record, const table& t, std::ostream& out) {
  const auto n = norms_of(t);
  const auto& spec = record.spec();
  out << format("  table %s: %s, %u to a key, trained by %s\n", spec.name().c_str(),
                spec.value_type().c_str(), spec.width(), spec.function().c_str());
  line(out, "  rows",
       count_of(record.rows(), "row") + ", " + count_of(record.nonzeros(), "non-zero"));
  line(out, "  norms",
       format("L1 %.6g, L2 %.6g, largest %.6g", record.sum_absolutes(),
              std::sqrt(record.sum_squares()), n.largest));
  if (record.l1() > 0 || record.l2() > 0)
    line(out, "  penalties", format("l1 %.6g, l2 %.6g", record.l1(), record.l2()));
  line(out, "  state",
       record.state_bytes() > 0 ? count_of(record.state_bytes(), "byte") + " to a row"
                                : std::string("none was saved"));
  line(out, "  parts", count_of(static_cast<std::uint64_t>(record.parts_size()), "file"));
  if (n.not_finite > 0) line(out, "  beware", count_of(n.not_finite, "value") + " not finite");
}

}  // namespace

void print_inspection(const saved_model& model, const dictionary& names, std::size_t largest,
                      std::ostream& out) {
  const auto& m = model.manifest;
  out << model.folder << ": a model of the app '" << m.app() << "', written by Troupe "
      << m.troupe() << '\n';
  line(out, "job",
       m.job() + ", seed " + std::to_string(m.seed()) +
           (m.clocks() > 0 ? ", " + count_of(m.clocks(), "clock") : ""));
  line(out, "loss", m.loss() + (m.bias() ? ", with a bias" : ", without a bias"));
  line(out, "labels", labels_of(m.labels()));
  line(out, "reads", reader_of(m));
  if (m.score_offset() != 0)
    line(out, "scores", format("%+.6g, for negative rows that were dropped", m.score_offset()));
  line(out, "digest", m.model_digest());
  for (int i = 0; i < m.tables_size(); ++i)
    print_table(m.tables(i), *model.tables[static_cast<std::size_t>(i)], out);
  for (const auto& metric : m.metrics())
    out << format("  %-28s", metric.name().c_str())
        << (metric.known() ? format("%.6g", metric.value()) : std::string("not defined")) << '\n';
  if (model.tables.empty() || largest == 0) return;
  const auto& weights = *model.tables.front();
  if (weights.spec().width != 1) return;
  out << "  the largest weights" << (names.empty() ? ", by key" : "") << ":\n";
  print(most_telling(weights, names, largest), out);
}

}  // namespace troupe
