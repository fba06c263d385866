#include "apps/commands/export.hpp"

namespace troupe {
namespace {

struct named_model {
  saved_model model;
  dictionary names;
};

result<named_model> load(file_system& files, const std::string& folder,
                         const std::string& dictionary_path) {
  auto model = load_model(files, folder);
  if (!model) return model.failure();
  named_model loaded{std::move(*model), {}};
  const auto path = dictionary_path.empty() ? loaded.model.dictionary() : dictionary_path;
  if (path.empty()) return loaded;
  auto names = dictionary::load(files, path);
  if (!names) return names.failure();
  loaded.names = std::move(*names);
  return loaded;
}

}  // namespace

result<void> export_model(file_system& files, const export_options& options, std::ostream& out) {
  if (options.format != "text")
    return error{errc::bad_usage,
                 "there is no export format '" + options.format + "'; there is text"};
  const auto loaded = load(files, options.model, options.dictionary);
  if (!loaded) return loaded.failure();
  return export_text(loaded->model, loaded->names, options.text, out);
}

result<void> print_telling_features(file_system& files, const std::string& model,
                                    const std::string& dictionary_path, std::size_t count,
                                    std::ostream& out) {
  const auto loaded = load(files, model, dictionary_path);
  if (!loaded) return loaded.failure();
  const auto& tables = loaded->model.tables;
  if (tables.empty() || tables[0]->spec().width != 1)
    return error{errc::bad_usage, model + " has no single weight to a feature"};
  print(most_telling(*tables[0], loaded->names, count), out);
  return {};
}

}  // namespace troupe
