#include "sim/disk/modelled_disk.hpp"

#include <algorithm>
#include <filesystem>

namespace troupe::sim {
namespace {

error io_error(const std::string& path, const char* why) {
  return {errc::io, path + ": " + why + " (modelled)"};
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool is_within(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

std::string content_of(file_system& files, const std::string& path, std::uint64_t most) {
  auto file = files.open(path);
  if (!file) return {};
  std::string text(std::min(most, (*file)->size()), '\0');
  std::uint64_t at = 0;
  while (at < text.size()) {
    const auto got =
        (*file)->read_at(at, {reinterpret_cast<std::byte*>(text.data()) + at, text.size() - at});
    if (!got || *got == 0) break;
    at += *got;
  }
  text.resize(at);
  return text;
}

void put(file_system& files, const std::string& path, const std::string& text) {
  if (auto file = files.create(path))
    if ((*file)->append({reinterpret_cast<const std::byte*>(text.data()), text.size()}))
      (void)(*file)->close().ok();
}

}  // namespace

class modelled_disk::reader final : public readable_file {
 public:
  reader(modelled_disk& disk, std::unique_ptr<readable_file> under)
      : disk_(disk), under_(std::move(under)) {}
  result<std::size_t> read_at(std::uint64_t offset, span<std::byte> buffer) const override {
    auto got = under_->read_at(offset, buffer);
    disk_.spend(got ? *got : 0, disk_.settings_.read_rate);
    return got;
  }
  std::uint64_t size() const override { return under_->size(); }

 private:
  modelled_disk& disk_;
  const std::unique_ptr<readable_file> under_;
};

class modelled_disk::writer final : public writable_file {
 public:
  writer(modelled_disk& disk, std::string path, std::unique_ptr<writable_file> under)
      : disk_(disk),
        path_(std::move(path)),
        power_cuts_(disk.power_cuts_),
        under_(std::move(under)) {}

  result<void> append(span<const std::byte> bytes) override {
    if (const auto may = usable(); !may) return may;
    if (disk_.trouble_.short_writes && bytes.size() > 1) {
      const auto half = bytes.size() / 2;
      if (disk_.grow(path_, half)) (void)under_->append(bytes.subspan(0, half)).ok();
      return io_error(path_, "only a part was written");
    }
    if (const auto grown = disk_.grow(path_, bytes.size()); !grown) return grown;
    disk_.spend(bytes.size(), disk_.settings_.write_rate);
    return under_->append(bytes);
  }
  result<void> sync() override {
    if (const auto may = usable(); !may) return may;
    disk_.spend(0, 0);
    if (disk_.trouble_.lies) return {};
    auto& file = disk_.files_[path_];
    file.synced = file.size;
    return under_->sync();
  }
  result<void> close() override {
    if (power_cuts_ != disk_.power_cuts_) return lost();
    return under_->close();
  }

 private:
  result<void> lost() const { return io_error(path_, "the power was cut while it was open"); }
  result<void> usable() const {
    return power_cuts_ != disk_.power_cuts_ ? lost() : disk_.change(path_);
  }

  modelled_disk& disk_;
  const std::string path_;  // a file is not renamed while it is written
  const std::uint64_t power_cuts_;
  const std::unique_ptr<writable_file> under_;
};

modelled_disk::modelled_disk(disk_settings settings, std::shared_ptr<file_system> under,
                             random_source random)
    : settings_(settings), under_(std::move(under)), random_(random) {}

duration modelled_disk::take_elapsed() {
  return std::exchange(elapsed_, duration::zero());
}

void modelled_disk::spend(std::uint64_t bytes, double rate) {
  elapsed_ += settings_.latency;
  if (rate > 0)
    elapsed_ += duration(static_cast<std::int64_t>(static_cast<double>(bytes) / rate * 1e9));
}

result<void> modelled_disk::change(const std::string& path) {
  if (good_changes_ && *good_changes_ == 0) return io_error(path, "the disk fails");
  if (good_changes_) --*good_changes_;
  if (trouble_.fails) return io_error(path, "input/output error");
  if (settings_.write_failure > 0 && random_.unit() < settings_.write_failure)
    return io_error(path, "input/output error");
  return {};
}

result<void> modelled_disk::grow(const std::string& path, std::uint64_t bytes) {
  if (trouble_.full) return io_error(path, "no space left on device");
  if (settings_.capacity > 0 && used_ + bytes > settings_.capacity)
    return io_error(path, "no space left on device");
  used_ += bytes;
  files_[path].size += bytes;
  return {};
}

void modelled_disk::forget(const std::string& path) {
  for (auto f = files_.begin(); f != files_.end();) {
    if (f->first != path && !is_within(f->first, path)) {
      ++f;
      continue;
    }
    used_ -= f->second.size;
    f = files_.erase(f);
  }
}

result<std::unique_ptr<readable_file>> modelled_disk::open(const std::string& path) {
  spend(0, 0);
  if (trouble_.no_descriptors) return io_error(path, "too many open files");
  auto file = under_->open(path);
  if (!file) return file;
  return std::unique_ptr<readable_file>(std::make_unique<reader>(*this, std::move(*file)));
}

result<std::unique_ptr<writable_file>> modelled_disk::create(const std::string& path) {
  spend(0, 0);
  if (const auto may = change(path); !may) return may.failure();
  if (trouble_.no_descriptors) return io_error(path, "too many open files");
  const bool there = under_->exists(path);
  auto file = under_->create(path);
  if (!file) return file;
  forget(path);
  files_[path] = {};
  if (!there)
    name_changes_.push_back({folder_of(path), [this, path] { (void)under_->remove(path).ok(); }});
  return std::unique_ptr<writable_file>(std::make_unique<writer>(*this, path, std::move(*file)));
}

result<void> modelled_disk::rename(const std::string& from, const std::string& to) {
  spend(0, 0);
  if (const auto may = change(to); !may) return may;
  std::vector<std::pair<std::string, std::string>> replaced;
  if (under_->exists(to)) keep_for_undo(to, replaced);
  const auto renamed = under_->rename(from, to);
  if (!renamed) return renamed;
  if (all_)
    for (auto* disk : *all_) disk->on_renamed(from, to);
  else
    on_renamed(from, to);
  name_changes_.push_back({folder_of(to), [this, from, to, replaced] {
                             if (under_->rename(to, from)) {
                               if (all_)
                                 for (auto* disk : *all_) disk->on_renamed(to, from);
                               else
                                 on_renamed(to, from);
                             }
                             restore(replaced);
                           }});
  return {};
}

void modelled_disk::on_renamed(const std::string& from, const std::string& to) {
  forget(to);
  std::map<std::string, written_file> moved;
  for (auto f = files_.begin(); f != files_.end();) {
    if (f->first != from && !is_within(f->first, from)) {
      ++f;
      continue;
    }
    moved[to + f->first.substr(from.size())] = f->second;
    f = files_.erase(f);
  }
  files_.insert(moved.begin(), moved.end());
}

result<void> modelled_disk::remove(const std::string& path) {
  spend(0, 0);
  if (const auto may = change(path); !may) return may;
  std::vector<std::pair<std::string, std::string>> removed;
  keep_for_undo(path, removed);
  const auto gone = under_->remove(path);
  if (!gone) return gone;
  forget(path);
  name_changes_.push_back({folder_of(path), [this, removed] { restore(removed); }});
  return {};
}

result<void> modelled_disk::create_folders(const std::string& path) {
  spend(0, 0);
  std::vector<std::string> fresh;  // the deepest first
  for (auto folder = path; !folder.empty() && !under_->exists(folder); folder = folder_of(folder)) {
    fresh.push_back(folder);
    if (folder_of(folder) == folder) break;
  }
  const auto made = under_->create_folders(path);
  if (!made) return made;
  std::reverse(fresh.begin(), fresh.end());
  for (const auto& folder : fresh)
    name_changes_.push_back(
        {folder_of(folder), [this, folder] { (void)under_->remove(folder).ok(); }});
  return {};
}

result<void> modelled_disk::sync_folder(const std::string& path) {
  spend(0, 0);
  if (const auto may = change(path); !may) return may;
  if (trouble_.lies) return {};
  const auto synced = under_->sync_folder(path);
  if (!synced) return synced;
  auto here = path.empty() ? std::string(".") : path;
  while (here.size() > 1 && here.back() == '/') here.pop_back();
  name_changes_.erase(std::remove_if(name_changes_.begin(), name_changes_.end(),
                                     [&](const name_change& c) { return c.folder == here; }),
                      name_changes_.end());
  return {};
}

result<std::vector<std::string>> modelled_disk::list(const std::string& path) {
  spend(0, 0);
  return under_->list(path);
}

result<file_facts> modelled_disk::facts(const std::string& path) {
  spend(0, 0);
  return under_->facts(path);
}

bool modelled_disk::exists(const std::string& path) {
  spend(0, 0);
  return under_->exists(path);
}

result<std::unique_ptr<file_lock>> modelled_disk::lock(const std::string& path) {
  spend(0, 0);
  return under_->lock(path);
}

void modelled_disk::lose_unsynced() {
  ++power_cuts_;
  for (auto& [path, file] : files_)
    if (file.synced < file.size) {
      put(*under_, path, content_of(*under_, path, file.synced));
      used_ -= file.size - file.synced;
      file.size = file.synced;
    }
  for (auto c = name_changes_.rbegin(); c != name_changes_.rend(); ++c) c->undo();
  name_changes_.clear();
  for (auto f = files_.begin(); f != files_.end();) {
    if (under_->exists(f->first)) {
      ++f;
      continue;
    }
    used_ -= f->second.size;
    f = files_.erase(f);
  }
}

void modelled_disk::keep_for_undo(const std::string& path,
                                  std::vector<std::pair<std::string, std::string>>& into) {
  const auto what = under_->facts(path);
  if (!what) return;
  if (!what->folder) {
    into.emplace_back(path, content_of(*under_, path, UINT64_MAX));
    return;
  }
  if (const auto names = under_->list(path))
    for (const auto& name : *names) keep_for_undo(path + "/" + name, into);
}

void modelled_disk::restore(const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [path, text] : files) {
    (void)under_->create_folders(folder_of(path)).ok();
    put(*under_, path, text);
  }
}

}  // namespace troupe::sim
