#include "apps/model/checkpoint_export.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "actors/scheduler/checkpoint_store.hpp"
#include "actors/server/plan.hpp"
#include "actors/server/row_file.hpp"
#include "apps/model/manifest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

result<void> copy_file(file_system& files, const std::string& from, const std::string& to) {
  const auto in = files.open(from);
  if (!in) return in.failure();
  auto out = files.create(to);
  if (!out) return out.failure();
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  for (std::uint64_t at = 0;;) {
    const auto got = (*in)->read_at(at, buffer);
    if (!got) return got.failure();
    if (*got == 0) break;
    if (auto done = (*out)->append({buffer.data(), *got}); !done) return done;
    at += *got;
  }
  if (auto done = (*out)->sync(); !done) return done;
  return (*out)->close();
}

// Adds a row file's figures to those of its table.
result<void> add_file(file_system& files, const std::string& path,
                      const std::map<std::string, table_spec>& specs,
                      std::map<std::string, table_summary>& sums) {
  const auto file = row_file::open(files, path);
  if (!file) return file.failure();
  const auto spec = specs.find(file->facts().table);
  if (spec == specs.end())
    return error{errc::damaged, path + " is of table '" + file->facts().table +
                                    "', which the checkpoint's manifest does not have"};
  for (std::size_t block = 0; block < file->blocks(); ++block) {
    const auto rows = file->read(block);
    if (!rows) return rows.failure();
    add_rows(spec->second, *rows, sums[spec->first]);
  }
  return {};
}

}  // namespace

result<void> export_checkpoint(file_system& files, const std::string& checkpoint,
                               const std::string& model) {
  const auto manifest = verify_checkpoint(files, checkpoint);
  if (!manifest) return manifest.failure();
  auto description = parse_manifest_line(manifest->model());
  if (!description)
    return error{errc::damaged,
                 checkpoint + " does not say what model it is of: " + description.failure().text};
  std::map<std::string, table_spec> specs;
  for (const auto& t : description->tables()) {
    auto spec = table_spec_of(t.spec());
    if (!spec) return spec.failure();
    specs[t.spec().name()] = std::move(*spec);
  }
  const model_folder place(model);
  if (auto ready = place.prepare(files); !ready) return ready;
  std::map<std::string, table_summary> sums;
  std::vector<std::string> parts;
  for (const auto& file : manifest->files()) {
    const auto path = checkpoint + "/" + file.name();
    if (auto added = add_file(files, path, specs, sums); !added) return added;
    if (auto done = copy_file(files, path, place.partial() + "/" + file.name()); !done) return done;
    parts.push_back(file.name());
  }
  std::vector<pb::TableSummary> summaries;
  for (int t = 0; t < description->tables_size(); ++t) {
    const auto& sum = sums[description->tables(t).spec().name()];
    pb::TableSummary s;
    s.set_table(static_cast<std::uint32_t>(t));
    s.set_rows(sum.rows);
    s.set_nonzeros(sum.nonzeros);
    s.set_l1(sum.absolutes);
    s.set_l2(sum.squares);
    s.set_digest_low(sum.digest.low);
    s.set_digest_high(sum.digest.high);
    summaries.push_back(std::move(s));
  }
  description->set_clocks(manifest->first_clock() + manifest->clock());
  return place.publish(files, std::move(*description), parts, summaries, {}, {});
}

}  // namespace troupe
