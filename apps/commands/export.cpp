#include "apps/commands/export.hpp"

#include <ostream>
#include <sstream>

#include "apps/commands/command.hpp"
#include "apps/linear/liblinear_format.hpp"
#include "apps/model/inspection.hpp"
#include "apps/model/npz.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

struct named_model {
  saved_model model;
  dictionary names;
  std::string names_text;
};

result<named_model> load(file_system& files, const std::string& folder,
                         const std::string& dictionary_path,
                         model_content content = model_content::values) {
  auto model = load_model(files, folder, content);
  if (!model) return model.failure();
  named_model loaded{std::move(*model), {}, {}};
  const auto path = dictionary_path.empty() ? loaded.model.dictionary() : dictionary_path;
  if (path.empty()) return loaded;
  auto text = read_text(files, path, dictionary::most_bytes);
  if (!text) return text.failure();
  auto names = dictionary::parse(*text, path);
  if (!names) return names.failure();
  loaded.names = std::move(*names);
  loaded.names_text = std::move(*text);
  return loaded;
}

error unknown_format(const std::string& what, const std::string& word) {
  const auto likely = nearest(word, {"text", "npz", "liblinear"});
  return {errc::bad_usage, "there is no " + what + " format '" + word + "'" +
                               (likely.empty() ? "; there are text, npz and liblinear"
                                               : "; did you mean " + likely + "?")};
}

// A text to a file or to `out`; `write` makes it.
template <class Write>
result<void> write_to(file_system& files, const std::string& path, std::ostream& out, Write write) {
  if (path.empty()) return write(out);
  std::ostringstream text;
  if (auto done = write(text); !done) return done;
  return write_text_atomically(files, path, text.str());
}

// What a file is, by its first bytes.
result<std::string> format_of(file_system& files, const std::string& path) {
  const auto file = files.open(path);
  if (!file) return file.failure();
  std::byte head[16];
  const auto got = (*file)->read_at(0, head);
  if (!got) return got.failure();
  const std::string_view begin(reinterpret_cast<const char*>(head), *got);
  if (begin.substr(0, 4) == "PK\x03\x04") return std::string("npz");
  if (begin.substr(0, 1) == "#") return std::string("text");
  if (begin.substr(0, 11) == "solver_type") return std::string("liblinear");
  return error{errc::bad_data, path + " is no model in text, npz or liblinear form"};
}

}  // namespace

result<void> export_model(file_system& files, const export_options& options, std::ostream& out) {
  const bool npz = options.format == "npz", liblinear = options.format == "liblinear";
  if (!npz && !liblinear && options.format != "text")
    return unknown_format("export", options.format);
  if (npz && options.output.empty())
    return error{errc::bad_usage, "an npz archive needs a file to go to; see --output"};
  const bool with_state = !options.text.weights_only && !liblinear;
  const auto loaded = load(files, options.model, options.dictionary,
                           with_state ? model_content::values_and_state : model_content::values);
  if (!loaded) return as_bad_input(loaded.failure());
  if (npz) {
    const auto partial = options.output + ".partial";
    if (auto done =
            write_npz(loaded->model, loaded->names_text, options.text.weights_only, partial);
        !done)
      return done;
    return files.rename(partial, options.output);
  }
  return write_to(files, options.output, out, [&](std::ostream& to) {
    return liblinear ? write_liblinear(loaded->model, to)
                     : export_text(loaded->model, loaded->names, options.text, to);
  });
}

result<void> import_model(file_system& files, const import_options& options, std::ostream& out) {
  auto format_word = options.format;
  if (format_word.empty()) {
    auto found = format_of(files, options.input);
    if (!found) return as_bad_input(found.failure());
    format_word = std::move(*found);
  }
  if (format_word != "text" && format_word != "npz" && format_word != "liblinear")
    return unknown_format("import", format_word);
  auto model = format_word == "text"  ? read_text_model(files, options.input)
               : format_word == "npz" ? read_npz(options.input)
                                      : read_liblinear(files, options.input);
  if (!model) return as_bad_input(model.failure());
  const auto before = model->manifest.model_digest();
  const auto saved = save_imported(files, std::move(*model), options.model);
  if (!saved) return saved.failure();
  out << options.model << ": digest " << saved->model_digest();
  if (!before.empty())
    out << (before == saved->model_digest() ? ", that of the exported model"
                                            : "; the exported model's was " + before);
  out << '\n';
  return {};
}

result<void> inspect_model(file_system& files, const std::string& model,
                           const std::string& dictionary_path, std::size_t largest,
                           std::ostream& out) {
  const auto loaded = load(files, model, dictionary_path);
  if (!loaded) return loaded.failure();
  print_inspection(loaded->model, loaded->names, largest, out);
  return {};
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
