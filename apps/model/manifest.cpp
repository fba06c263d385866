#include "apps/model/manifest.hpp"

#include <google/protobuf/util/json_util.h>

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
  for (const auto& table : manifest.tables())
    for (const auto& part : table.parts())
      if (!plain(part.name())) return false;
  return !manifest.has_dictionary() || plain(manifest.dictionary().name());
}

}  // namespace

result<void> write_manifest(file_system& files, const std::string& folder,
                            const pb::ModelManifest& manifest) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(manifest, &text, options);
  if (!status.ok())
    return error{errc::internal, "the manifest cannot be written: " + status.ToString()};
  auto done = write_text_atomically(files, folder + "/" + manifest_name, text);
  if (!done) return done;
  return write_text_atomically(files, folder + "/" + manifest_checksum_name,
                               checksum_of(text) + "\n");
}

result<pb::ModelManifest> read_manifest(file_system& files, const std::string& folder) {
  const auto path = folder + "/" + manifest_name;
  const auto damaged = [&](const std::string& why) {
    return error{errc::damaged, path + ": " + why};
  };
  const auto text = read_text(files, path, most_manifest_bytes);
  if (!text) return text.failure();
  // Its checksum comes second: a newer format may have another one.
  google::protobuf::util::JsonParseOptions lenient;
  lenient.ignore_unknown_fields = true;
  pb::ModelManifest manifest;
  const bool parsed = google::protobuf::util::JsonStringToMessage(*text, &manifest, lenient).ok();
  if (parsed && manifest.format() > model_format)
    return damaged(
        format("written by a newer Troupe (%s, format %u); this one reads up to "
               "format %u",
               manifest.troupe().c_str(), manifest.format(), model_format));
  const auto checksum =
      read_text(files, folder + "/" + manifest_checksum_name, most_checksum_bytes);
  if (!checksum) return error{errc::damaged, checksum.failure().text};
  if (*checksum != checksum_of(*text) + "\n") return damaged("it does not have its checksum");
  if (!parsed || manifest.format() == 0 || !all_names_plain(manifest))
    return damaged("it is no manifest of a model");
  return manifest;
}

}  // namespace troupe
