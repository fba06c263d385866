#include "actors/scheduler/checkpoint_store.hpp"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "core/file_digest.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

constexpr const char* manifest_name = "manifest.json";
constexpr const char* checksum_name = "manifest.xxh3";
constexpr std::uint64_t most_manifest_bytes = std::uint64_t{1} << 30;
constexpr std::string_view front = "checkpoint-", partial = ".partial";

bool plain(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

struct named {
  std::uint64_t number = 0;
  bool partial = false;
};
std::optional<named> parse(std::string name) {
  named n;
  if (name.rfind(front, 0) != 0) return std::nullopt;
  name.erase(0, front.size());
  if (name.size() > partial.size() && name.substr(name.size() - partial.size()) == partial) {
    n.partial = true;
    name.erase(name.size() - partial.size());
  }
  if (name.empty() || name.size() > 18) return std::nullopt;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    n.number = n.number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return n;
}

result<std::string> json_of(const pb::Checkpoint& manifest) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(manifest, &text, options);
  if (!status.ok())
    return error{errc::internal, "the manifest cannot be written: " + status.ToString()};
  return text;
}

}  // namespace

checkpoint_store::checkpoint_store(std::shared_ptr<file_system> files, std::string folder,
                                   std::uint32_t keep, std::string configuration, std::string model)
    : files_(std::move(files)),
      folder_(std::move(folder)),
      keep_(std::max(1u, keep)),
      configuration_(std::move(configuration)),
      model_(std::move(model)) {}

result<void> checkpoint_store::prepare() const {
  if (auto made = files_->create_folders(folder_); !made) return made;
  const auto names = files_->list(folder_);
  if (!names) return names.failure();
  for (const auto& name : *names)
    if (const auto n = parse(name); n && n->partial)
      if (auto gone = files_->remove(folder_ + "/" + name); !gone) return gone;
  return {};
}

result<void> checkpoint_store::publish(pb::Checkpoint manifest) const {
  const auto partial_folder = partial_checkpoint_folder(folder_, manifest.number());
  const auto folder = checkpoint_folder(folder_, manifest.number());
  manifest.set_format(checkpoint_format);
  manifest.set_troupe(build_version());
  manifest.set_configuration(configuration_);
  manifest.set_model(model_);
  for (const auto& shard : manifest.shards())
    for (const auto& name : shard.files()) {
      const auto sum = sum_of_file(*files_, partial_folder + "/" + name);
      if (!sum) return sum.failure();
      auto* file = manifest.add_files();
      file->set_name(name);
      file->set_size(sum->size);
      file->set_checksum(sum->checksum);
    }
  const auto text = json_of(manifest);
  if (!text) return text.failure();
  // The manifest counts only with its checksum, which is written last.
  if (auto done = write_text_atomically(*files_, partial_folder + "/" + manifest_name, *text);
      !done)
    return done;
  if (auto done = write_text_atomically(*files_, partial_folder + "/" + checksum_name,
                                        checksum_of(*text) + "\n");
      !done)
    return done;
  if (auto done = files_->sync_folder(partial_folder); !done) return done;
  if (files_->exists(folder))
    if (auto gone = files_->remove(folder); !gone) return gone;
  if (auto done = files_->rename(partial_folder, folder); !done) return done;
  if (auto done = files_->sync_folder(folder_); !done) return done;
  // The oldest go, when the new one is there. Damaged ones do not count.
  const auto all = list();
  if (!all) return {};
  std::uint32_t whole = 0;
  for (auto one = all->rbegin(); one != all->rend(); ++one) {
    if (!one->manifest) continue;
    if (++whole <= keep_) continue;
    // Under another name first, so that half a checkpoint never has the name of a whole one.
    const auto aside = partial_checkpoint_folder(folder_, one->number);
    if (files_->rename(one->folder, aside)) (void)files_->remove(aside);
  }
  return {};
}

result<void> checkpoint_store::discard(std::uint64_t number) const {
  const auto folder = partial_checkpoint_folder(folder_, number);
  return files_->exists(folder) ? files_->remove(folder) : result<void>();
}

result<std::vector<listed_checkpoint>> checkpoint_store::list() const {
  std::vector<listed_checkpoint> all;
  if (!files_->exists(folder_)) return all;
  const auto names = files_->list(folder_);
  if (!names) return names.failure();
  for (const auto& name : *names) {
    const auto n = parse(name);
    if (!n || n->partial) continue;
    listed_checkpoint one;
    one.number = n->number;
    one.folder = folder_ + "/" + name;
    if (auto manifest = read_checkpoint_manifest(*files_, one.folder))
      one.manifest = std::move(*manifest);
    else
      one.fault = manifest.failure().text;
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return all;
}

result<std::optional<found_checkpoint>> checkpoint_store::latest() const {
  const auto all = list();
  if (!all) return all.failure();
  for (auto one = all->rbegin(); one != all->rend(); ++one) {
    auto whole = verify_checkpoint(*files_, one->folder);
    if (whole) return std::optional<found_checkpoint>({one->folder, std::move(*whole)});
    log("scheduler", log_level::warning, "a checkpoint is passed over: " + whole.failure().text);
  }
  return std::optional<found_checkpoint>();
}

result<pb::Checkpoint> read_checkpoint_manifest(file_system& files, const std::string& folder) {
  const auto path = folder + "/" + manifest_name;
  const auto damaged = [&](const std::string& why) {
    return error{errc::damaged, path + ": " + why};
  };
  if (!files.exists(path)) return damaged("it is missing, so this is no whole checkpoint");
  const auto text = read_text(files, path, most_manifest_bytes);
  if (!text) return text.failure();
  pb::Checkpoint manifest;
  google::protobuf::util::JsonParseOptions lenient;
  lenient.ignore_unknown_fields = true;
  const bool parsed = google::protobuf::util::JsonStringToMessage(*text, &manifest, lenient).ok();
  if (parsed && manifest.format() > checkpoint_format)
    return damaged(
        format("written by a newer Troupe (%s, format %u); this one reads up to format %u",
               manifest.troupe().c_str(), manifest.format(), checkpoint_format));
  const auto checksum = read_text(files, folder + "/" + checksum_name, 64);
  if (!checksum) return error{errc::damaged, checksum.failure().text};
  if (*checksum != checksum_of(*text) + "\n") return damaged("it does not have its checksum");
  if (!parsed || manifest.format() == 0) return damaged("it is no manifest of a checkpoint");
  if (manifest.shards().empty()) return damaged("it has no shards");
  for (const auto& file : manifest.files())
    if (!plain(file.name())) return damaged("it names a file outside its folder");
  for (const auto& shard : manifest.shards()) {
    if (shard.first_size() != shard.last_size())
      return damaged(format("shard %u has segments without an end", shard.shard()));
    for (const auto& name : shard.files())
      if (!plain(name)) return damaged("it names a file outside its folder");
  }
  return manifest;
}

result<pb::Checkpoint> verify_checkpoint(file_system& files, const std::string& folder) {
  auto manifest = read_checkpoint_manifest(files, folder);
  if (!manifest) return manifest;
  for (const auto& file : manifest->files()) {
    const auto path = folder + "/" + file.name();
    const auto sum = sum_of_file(files, path);
    if (!sum) return error{errc::damaged, sum.failure().text};
    if (sum->size != file.size())
      return error{errc::damaged, format("%s has %llu bytes and not %llu", path.c_str(),
                                         static_cast<unsigned long long>(sum->size),
                                         static_cast<unsigned long long>(file.size()))};
    if (sum->checksum != file.checksum())
      return error{errc::damaged, path + " does not have its checksum"};
  }
  return manifest;
}

}  // namespace troupe
