#include "apps/model/model_import.hpp"

#include "actors/server/plan.hpp"
#include "actors/server/row_file.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// What publish() fills in.
void forget_figures(pb::ModelManifest& manifest) {
  manifest.clear_metrics();
  manifest.clear_dictionary();
  manifest.clear_history();
  manifest.clear_model_digest();
  for (auto& table : *manifest.mutable_tables()) table.clear_parts();
}

}  // namespace

result<pb::ModelManifest> save_imported(file_system& files, imported_model model,
                                        const std::string& folder) {
  const model_folder place(folder);
  if (auto ready = place.prepare(files); !ready) return ready.failure();
  auto& manifest = model.manifest;
  const std::vector<pb::Metric> metrics(manifest.metrics().begin(), manifest.metrics().end());
  forget_figures(manifest);
  std::vector<std::string> parts;
  std::vector<pb::TableSummary> summaries;
  for (std::size_t i = 0; i < model.tables.size(); ++i) {
    const auto& message = manifest.tables(static_cast<int>(i)).spec();
    const auto& rows = model.tables[i];
    auto plain = message;
    // Without state the function need not be known here.
    if (rows.state_numbers == 0) {
      plain.set_function("add");
      plain.clear_parameters();
    }
    const auto spec = table_spec_of(plain);
    if (!spec) return error{errc::bad_data, spec.failure().text};
    const auto made = table_of(*spec, manifest.seed(), rows);
    if (!made) return made.failure();
    parts.push_back(message.name() + ".part-0.rows");
    const auto written =
        write_rows(files, place.partial() + "/" + parts.back(), **made, rows.state_numbers > 0);
    if (!written) return written.failure();
    summaries.push_back(summary_of(**made, static_cast<std::uint32_t>(i)));
  }
  std::string names;
  if (!model.names.empty()) {
    // Beside the folder's own files until it is copied among them.
    names = place.partial() + "/names.tsv";
    if (auto done = write_text_atomically(files, names, model.names); !done) return done.failure();
  }
  const auto description = manifest;
  if (auto done = place.publish(files, description, parts, summaries, metrics, names); !done)
    return done.failure();
  auto saved = load_model(files, place.path());
  if (!saved) return saved.failure();
  return std::move(saved->manifest);
}

}  // namespace troupe
