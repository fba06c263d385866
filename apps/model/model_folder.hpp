#pragma once
// A model on disk, "DIR" (docs/models.md has the format):
//
//   manifest.json    what it is: pb::ModelManifest
//   manifest.xxh3    the checksum of manifest.json
//   TABLE.shard-N.rows  the rows of each table (actors/server/row_file.hpp)
//   names.tsv        the dictionary, if there is one
//   history.jsonl    the evaluations, a line of JSON to each
//
// Servers write their parts into "DIR.partial"; publish() describes them and gives the folder its
// name. An older model in its place is kept as "DIR.old" until the new one stands there, so at
// every moment a whole model is on the disk.

#include <memory>
#include <string>
#include <vector>

#include "actors/server/table/table.hpp"
#include "apps/model/model.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

constexpr std::uint32_t model_format = 1;

class model_folder {
 public:
  // A trailing '/' is ignored.
  explicit model_folder(std::string path);

  const std::string& path() const { return path_; }
  std::string partial() const { return path_ + ".partial"; }
  std::string old() const { return path_ + ".old"; }

  // To be called before anything is computed: makes "DIR.partial" afresh, and finishes or undoes
  // what a crash interrupted. Refuses to replace a folder or file that is no model
  // (errc::bad_usage).
  result<void> prepare(file_system& files) const;

  // `description` is the manifest without what follows from the other arguments: `parts`, names of
  // row files in "DIR.partial", by table, and the figures of each table. `dictionary` is a path, or
  // empty.
  result<void> publish(file_system& files, pb::ModelManifest description,
                       const std::vector<std::string>& parts,
                       const std::vector<pb::TableSummary>& tables,
                       const std::vector<pb::Metric>& metrics, const std::string& dictionary) const;

  // Where the best model so far is kept while training goes on; made by prepare(), gone after
  // publish().
  std::string best() const { return path_ + ".best"; }

 private:
  std::string path_;
};

// Whether there is a manifest in the folder.
bool is_model(file_system& files, const std::string& folder);

struct saved_model {
  std::string folder;
  pb::ModelManifest manifest;
  std::vector<std::shared_ptr<const table>> tables;  // for reading

  // The path of the dictionary, or nothing.
  std::string dictionary() const;
};

// Reads all of it, and holds every checksum and digest against what is there. errc::bad_usage:
// there is no model; errc::damaged: a file is missing, damaged or of a newer format.
// Optimiser state only if asked for: then the function that trained a table must be known here.
enum class model_content { values, values_and_state };
result<saved_model> load_model(file_system& files, const std::string& folder,
                               model_content content = model_content::values);

}  // namespace troupe
