#include "apps/model/manifest.hpp"

#include <google/protobuf/util/json_util.h>

#include <set>

#include "apps/model/file_digest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t most_manifest_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t most_checksum_bytes = 64;

// Names that come from a file must not lead out of the folder.
bool plain(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

bool all_names_plain(const pb::ModelManifest& manifest) {
  std::set<std::string> tables;
  for (const auto& table : manifest.tables())
    if (!plain(table.spec().name()) || !tables.insert(table.spec().name()).second) return false;
  for (const auto& table : manifest.tables())
    for (const auto& part : table.parts())
      if (!plain(part.name())) return false;
  return (!manifest.has_dictionary() || plain(manifest.dictionary().name())) &&
         (!manifest.has_history() || plain(manifest.history().name()));
}

result<std::string> json_of(const pb::ModelManifest& manifest, bool one_line) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = !one_line;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(manifest, &text, options);
  if (!status.ok())
    return error{errc::internal, "the manifest cannot be written: " + status.ToString()};
  return text;
}

bool parse(const std::string& text, pb::ModelManifest& manifest) {
  google::protobuf::util::JsonParseOptions lenient;
  lenient.ignore_unknown_fields = true;
  return google::protobuf::util::JsonStringToMessage(text, &manifest, lenient).ok();
}

std::string too_new(const pb::ModelManifest& manifest) {
  return format(
      "written by a newer Troupe (%s, format %u); this one reads up to "
      "format %u",
      manifest.troupe().c_str(), manifest.format(), model_format);
}

}  // namespace

result<void> write_manifest(file_system& files, const std::string& folder,
                            const pb::ModelManifest& manifest) {
  const auto text = json_of(manifest, false);
  if (!text) return text.failure();
  auto done = write_text_atomically(files, folder + "/" + manifest_name, *text);
  if (!done) return done;
  return write_text_atomically(files, folder + "/" + manifest_checksum_name,
                               checksum_of(*text) + "\n");
}

result<std::string> manifest_line(const pb::ModelManifest& manifest) {
  auto alone = manifest;
  alone.clear_history();
  alone.clear_dictionary();
  for (auto& table : *alone.mutable_tables()) table.clear_parts();
  return json_of(alone, true);
}

result<pb::ModelManifest> parse_manifest_line(const std::string& text) {
  pb::ModelManifest manifest;
  const bool parsed = parse(text, manifest);
  if (parsed && manifest.format() > model_format) return error{errc::bad_data, too_new(manifest)};
  if (!parsed || manifest.format() == 0 || !all_names_plain(manifest))
    return error{errc::bad_data, "it is no manifest of a model"};
  return manifest;
}

result<pb::ModelManifest> read_manifest(file_system& files, const std::string& folder) {
  const auto path = folder + "/" + manifest_name;
  const auto damaged = [&](const std::string& why) {
    return error{errc::damaged, path + ": " + why};
  };
  const auto text = read_text(files, path, most_manifest_bytes);
  if (!text) return text.failure();
  // Its checksum comes second: a newer format may have another one.
  pb::ModelManifest manifest;
  const bool parsed = parse(*text, manifest);
  if (parsed && manifest.format() > model_format) return damaged(too_new(manifest));
  const auto checksum =
      read_text(files, folder + "/" + manifest_checksum_name, most_checksum_bytes);
  if (!checksum) return error{errc::damaged, checksum.failure().text};
  if (*checksum != checksum_of(*text) + "\n") return damaged("it does not have its checksum");
  if (!parsed || manifest.format() == 0 || !all_names_plain(manifest))
    return damaged("it is no manifest of a model");
  return manifest;
}

}  // namespace troupe
