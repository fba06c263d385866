#pragma once
// Checkpoints on disk (docs/formats.md): "checkpoint-N" in a folder that the scheduler and all
// servers share.
//
//   TABLE.shard-M.rows   the rows of a table that one shard had (actors/server/row_file.hpp)
//   manifest.json        pb::Checkpoint: what it is, and size and checksum of every file
//   manifest.xxh3        the checksum of manifest.json
//
// It is written into "checkpoint-N.partial"; publish() describes it, writes the manifest last, and
// gives the folder its name. So what has that name was whole once; whether it still is, is found
// out before it is used. These calls block.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/scheduler/coordinator.hpp"
#include "core/file.hpp"
#include "core/result.hpp"
#include "messages/durable.pb.h"

namespace troupe {

constexpr std::uint32_t checkpoint_format = 1;

struct listed_checkpoint {
  std::uint64_t number = 0;
  std::string folder;
  std::optional<pb::Checkpoint> manifest;  // none: it cannot be read
  std::string fault;                       // why
};

class checkpoint_store {
 public:
  // `keep` of them are kept; `configuration` and `model` go into each manifest.
  checkpoint_store(std::shared_ptr<file_system> files, std::string folder, std::uint32_t keep = 3,
                   std::string configuration = {}, std::string model = {});

  // The same on another disk.
  std::shared_ptr<checkpoint_store> on(std::shared_ptr<file_system> files) const {
    return std::make_shared<checkpoint_store>(std::move(files), folder_, keep_, configuration_,
                                              model_);
  }

  // The folder must be there for all; removes what crashes left behind.
  result<void> prepare() const;
  result<void> publish(pb::Checkpoint manifest) const;
  result<void> discard(std::uint64_t number) const;
  // The latest whose files are all whole; what stands in the way of later ones is logged.
  result<std::optional<found_checkpoint>> latest() const;
  // By their manifests, ascending; files are not read.
  result<std::vector<listed_checkpoint>> list() const;

 private:
  const std::shared_ptr<file_system> files_;
  const std::string folder_;
  const std::uint32_t keep_;
  const std::string configuration_, model_;
};

// errc::damaged: what is missing, damaged, or of a newer format, by name.
result<pb::Checkpoint> read_checkpoint_manifest(file_system& files, const std::string& folder);
// And every file of it, byte by byte.
result<pb::Checkpoint> verify_checkpoint(file_system& files, const std::string& folder);

}  // namespace troupe
