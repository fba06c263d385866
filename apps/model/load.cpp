// The reading half of model_folder.hpp.

#include "actors/server/plan.hpp"
#include "actors/server/row_file.hpp"
#include "apps/model/file_digest.hpp"
#include "apps/model/manifest.hpp"
#include "apps/model/model_digest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

result<void> verify_file(file_system& files, const std::string& folder,
                         const pb::ModelFile& record) {
  const auto path = folder + "/" + record.name();
  if (!files.exists(path)) return error{errc::damaged, path + " is missing, a part of the model"};
  const auto found = describe_file(files, folder, record.name());
  if (!found) return found.failure();
  if (found->size() != record.size())
    return error{errc::damaged, format("%s has %llu bytes, and was written with %llu", path.c_str(),
                                       static_cast<unsigned long long>(found->size()),
                                       static_cast<unsigned long long>(record.size()))};
  if (found->digest() != record.digest())
    return error{errc::damaged, path + " is damaged: it does not have its checksum"};
  return {};
}

// A table to read from: the function that trained it need not be known here.
result<std::unique_ptr<table>> empty_table(pb::TableSpec spec, std::uint64_t seed,
                                           bool with_state) {
  if (!with_state) spec.set_function("add");
  if (!with_state) spec.clear_parameters();
  spec.set_schedule("constant");
  spec.clear_schedule_parameters();
  spec.set_clip("none");
  spec.set_l1(0);
  spec.set_l2(0);
  const auto plain = table_spec_of(spec);
  if (!plain) return plain.failure();
  auto made = table::make(*plain, seed);
  if (made) (*made)->add_segment(all_keys);
  return made;
}

result<void> read_part(file_system& files, const std::string& path, const pb::ModelFile& record,
                       bool with_state, table& into) {
  const auto file = row_file::open(files, path);
  if (!file) return file.failure();
  const auto& facts = file->facts();
  const auto& spec = into.spec();
  if (facts.table != spec.name || facts.type != spec.type || facts.width != spec.width ||
      facts.rows != record.rows() || (with_state && facts.state_bytes != into.state_bytes()))
    return error{errc::damaged, path + " does not have the rows that the manifest says"};
  for (std::size_t i = 0; i < file->blocks(); ++i) {
    const auto rows = file->read(i);
    if (!rows) return rows.failure();
    if (auto done = into.put(rows->positions, rows->values.data(),
                             with_state ? rows->state.data() : nullptr);
        !done)
      return error{errc::damaged, path + ": " + done.failure().text};
  }
  return {};
}

result<std::shared_ptr<const table>> load_table(file_system& files, const std::string& folder,
                                                const pb::ModelTable& record, std::uint64_t seed,
                                                model_content content, hash128& digest) {
  const bool with_state = content == model_content::values_and_state && record.state_bytes() > 0;
  auto made = empty_table(record.spec(), seed, with_state);
  if (!made) return error{errc::damaged, folder + ": " + made.failure().text};
  for (const auto& part : record.parts()) {
    if (auto done = verify_file(files, folder, part); !done) return done.failure();
    if (auto done = read_part(files, folder + "/" + part.name(), part, with_state, **made); !done)
      return done.failure();
  }
  const auto summary = (*made)->summary();
  const auto written = hash_from_hex(record.digest());
  if (!written) return error{errc::damaged, folder + ": " + written.failure().text};
  if (summary.rows != record.rows() || summary.digest != *written)
    return error{errc::damaged, folder + ": the rows of table '" + record.spec().name() +
                                    "' do not have the digest that they were written with"};
  digest = summary.digest;
  return std::shared_ptr<const table>(std::move(*made));
}

}  // namespace

std::string saved_model::dictionary() const {
  return manifest.has_dictionary() ? folder + "/" + manifest.dictionary().name() : std::string();
}

result<saved_model> load_model(file_system& files, const std::string& folder,
                               model_content content) {
  const model_folder place(folder);
  if (!is_model(files, place.path()))
    return error{errc::bad_usage,
                 place.path() + " is no model's folder: it has no " + manifest_name +
                     (is_model(files, place.old()) ? "; an older model is in " + place.old() : "")};
  auto manifest = read_manifest(files, place.path());
  if (!manifest) return manifest.failure();
  saved_model model{place.path(), std::move(*manifest), {}};
  std::vector<hash128> digests;
  for (const auto& record : model.manifest.tables()) {
    digests.emplace_back();
    auto loaded =
        load_table(files, model.folder, record, model.manifest.seed(), content, digests.back());
    if (!loaded) return loaded.failure();
    model.tables.push_back(std::move(*loaded));
  }
  if (to_hex(model_digest(digests)) != model.manifest.model_digest())
    return error{errc::damaged, model.folder + ": its tables do not give its digest"};
  for (const auto* beside :
       {model.manifest.has_dictionary() ? &model.manifest.dictionary() : nullptr,
        model.manifest.has_history() ? &model.manifest.history() : nullptr})
    if (beside != nullptr)
      if (auto done = verify_file(files, model.folder, *beside); !done) return done.failure();
  return model;
}

}  // namespace troupe
