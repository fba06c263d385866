#include "actors/server/saving.hpp"

#include "core/text.hpp"

namespace troupe {

saving::saving(std::shared_ptr<file_system> files, pb::SavePart request)
    : files_(std::move(files)),
      request_(std::move(request)),
      writer_(std::make_shared<std::unique_ptr<row_file_writer>>()) {}

std::optional<saving::job> saving::next(shard* of) {
  if (writing_ || over_) return std::nullopt;
  if (of == nullptr || !of->primary()) {
    fail("the shard has moved to another server", true);
    return std::nullopt;
  }
  if (!begun_ && of->snapshot_waits()) return std::nullopt;
  auto* rows = of->begun_snapshot();
  if (rows == nullptr) {
    fail("the shard has changed its place meanwhile", true);
    return std::nullopt;
  }
  if (!std::exchange(begun_, true)) {
    for (const auto& record : of->snapshot_slots()) *saved_.add_slots() = record;
    saved_.set_version(of->snapshot_version());
  }
  auto piece = rows->next();
  if (!piece) {
    of->drop_snapshot();
    saved_.set_done(true);
    over_ = saved_;
    return std::nullopt;
  }
  writing_ = true;
  const auto& t = of->tables()[piece->table];
  const auto name = format("%s.shard-%u.rows", t->spec().name.c_str(), request_.shard());
  if (piece->last) saved_.add_files(name);
  const auto state_bytes = request_.with_state() ? t->state_bytes() : 0;
  return [files = files_, folder = request_.folder(), path = request_.folder() + "/" + name,
          spec = t->spec(), state_bytes, writer = writer_,
          p = std::make_shared<snapshot::piece>(*std::move(piece))] {
    auto& file = *writer;
    if (!file) {
      if (auto there = files->create_folders(folder); !there) return there;
      auto made = row_file_writer::create(*files, path, spec, state_bytes);
      if (!made) return result<void>(made.failure());
      file = *std::move(made);
    }
    if (auto added = file->add(p->rows); !added) return added;
    if (!p->last) return result<void>();
    const auto facts = file->finish();
    file.reset();
    return facts ? files->sync_folder(folder) : result<void>(facts.failure());
  };
}

void saving::on_written(const result<void>& outcome) {
  writing_ = false;
  if (!outcome) fail(outcome.failure().text, false);
}

void saving::fail(const std::string& why, bool again) {
  saved_.Clear();
  saved_.set_again(again);
  saved_.set_text(why);
  over_ = saved_;
}

}  // namespace troupe
