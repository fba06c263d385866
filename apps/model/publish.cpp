// The writing half of model_folder.hpp.

#include <algorithm>

#include "actors/server/row_file.hpp"
#include "apps/model/file_digest.hpp"
#include "apps/model/manifest.hpp"
#include "apps/model/model_digest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/parent_folder.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

constexpr const char* dictionary_name = "names.tsv";
constexpr std::uint64_t most_dictionary_bytes = std::uint64_t{1} << 30;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Whether we may delete it: it holds nothing but what a model is made of.
bool holds_only_ours(file_system& files, const std::string& folder) {
  const auto names = files.list(folder);
  if (!names) return false;
  return std::all_of(names->begin(), names->end(), [](const std::string& name) {
    return ends_with(name, ".rows") || name.rfind("manifest.", 0) == 0 ||
           name.rfind(dictionary_name, 0) == 0 || name == history_name;
  });
}

result<void> remove_ours(file_system& files, const std::string& folder) {
  if (!files.exists(folder)) return {};
  if (!holds_only_ours(files, folder))
    return error{errc::bad_usage, folder + " is in the way: it has files that no model has"};
  return files.remove(folder);
}

result<void> may_replace(file_system& files, const std::string& path) {
  if (!files.exists(path) || is_model(files, path)) return {};
  const auto names = files.list(path);
  if (names && names->empty()) return {};
  return error{errc::bad_usage, path + " is there and is no model; it is not replaced"};
}

result<void> copy_dictionary(file_system& files, const std::string& from, const std::string& folder,
                             pb::ModelManifest& manifest) {
  const auto text = read_text(files, from, most_dictionary_bytes);
  if (!text) return text.failure();
  if (auto done = write_text_atomically(files, folder + "/" + dictionary_name, *text); !done)
    return done;
  const auto record = describe_file(files, folder, dictionary_name);
  if (!record) return record.failure();
  *manifest.mutable_dictionary() = *record;
  return {};
}

// Adds a row file to the table that it says it belongs to.
result<void> add_part(file_system& files, const std::string& folder, const std::string& name,
                      pb::ModelManifest& manifest) {
  const auto rows = row_file::open(files, folder + "/" + name);
  if (!rows) return rows.failure();
  auto record = describe_file(files, folder, name);
  if (!record) return record.failure();
  record->set_rows(rows->facts().rows);
  for (auto& table : *manifest.mutable_tables())
    if (table.spec().name() == rows->facts().table) {
      table.set_state_bytes(rows->facts().state_bytes);
      *table.add_parts() = std::move(*record);
      return {};
    }
  return error{errc::internal,
               name + " has rows of an unknown table '" + rows->facts().table + "'"};
}

void add_figures(const std::vector<pb::TableSummary>& tables, pb::ModelManifest& manifest) {
  for (const auto& t : tables) {
    auto& table = *manifest.mutable_tables(static_cast<int>(t.table()));
    table.set_rows(t.rows());
    table.set_nonzeros(t.nonzeros());
    table.set_sum_absolutes(t.l1());
    table.set_sum_squares(t.l2());
    table.set_digest(to_hex({t.digest_low(), t.digest_high()}));
  }
  manifest.set_model_digest(model_digest(tables));
}

// Gives the partial folder its name.
result<void> put_in_place(file_system& files, const model_folder& folder) {
  const bool replaces = is_model(files, folder.path());
  if (replaces) {
    if (auto done = remove_ours(files, folder.old()); !done) return done;
    if (auto done = files.rename(folder.path(), folder.old()); !done) return done;
  }
  if (auto done = files.rename(folder.partial(), folder.path()); !done) {
    if (replaces) (void)files.rename(folder.old(), folder.path());
    return done;
  }
  if (auto done = files.sync_folder(parent_folder(folder.path())); !done) return done;
  return replaces ? files.remove(folder.old()) : result<void>();
}

}  // namespace

model_folder::model_folder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

bool is_model(file_system& files, const std::string& folder) {
  return files.exists(folder + "/" + manifest_name);
}

result<void> model_folder::prepare(file_system& files) const {
  if (path_.empty() || path_ == "/" || path_ == "." || path_ == "..")
    return error{errc::bad_usage, "'" + path_ + "' cannot be a model's folder"};
  if (auto done = may_replace(files, path_); !done) return done;
  // A crash between two renames: the older model goes back to its place.
  if (!files.exists(path_) && is_model(files, old()))
    if (auto done = files.rename(old(), path_); !done) return done;
  if (auto done = remove_ours(files, old()); !done) return done;
  for (const auto& folder : {partial(), best()})
    if (auto done = remove_ours(files, folder); !done) return done;
  return files.create_folders(partial());
}

result<void> model_folder::publish(file_system& files, pb::ModelManifest description,
                                   const std::vector<std::string>& parts,
                                   const std::vector<pb::TableSummary>& tables,
                                   const std::vector<pb::Metric>& metrics,
                                   const std::string& dictionary) const {
  auto& manifest = description;
  if (tables.size() != static_cast<std::size_t>(manifest.tables_size()))
    return error{errc::internal, "the model's tables are not those of its description"};
  if (auto done = may_replace(files, path_); !done) return done;
  manifest.set_format(model_format);
  manifest.set_troupe(build_version());
  add_figures(tables, manifest);
  for (const auto& m : metrics) *manifest.add_metrics() = m;
  for (const auto& name : parts)
    if (auto done = add_part(files, partial(), name, manifest); !done) return done;
  if (!dictionary.empty())
    if (auto done = copy_dictionary(files, dictionary, partial(), manifest); !done) return done;
  if (files.exists(partial() + "/" + history_name)) {
    const auto record = describe_file(files, partial(), history_name);
    if (!record) return record.failure();
    *manifest.mutable_history() = *record;
  }
  if (auto done = write_manifest(files, partial(), manifest); !done) return done;
  if (auto done = files.sync_folder(partial()); !done) return done;
  if (auto done = put_in_place(files, *this); !done) return done;
  return remove_ours(files, best());
}

}  // namespace troupe
