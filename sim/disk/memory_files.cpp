#include "sim/disk/memory_files.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace troupe::sim {
namespace {

using content = std::shared_ptr<std::string>;

error io_error(const std::string& path, const char* why) {
  return {errc::io, path + ": " + why + " (in memory)"};
}

std::string clean(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool is_within(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

class reader final : public readable_file {
 public:
  explicit reader(content text) : text_(std::move(text)) {}
  result<std::size_t> read_at(std::uint64_t offset, span<std::byte> buffer) const override {
    if (offset >= text_->size()) return std::size_t{0};
    const auto n = std::min<std::size_t>(buffer.size(), text_->size() - offset);
    std::copy_n(reinterpret_cast<const std::byte*>(text_->data()) + offset, n, buffer.data());
    return n;
  }
  std::uint64_t size() const override { return text_->size(); }

 private:
  const content text_;
};

class writer final : public writable_file {
 public:
  explicit writer(content text) : text_(std::move(text)) {}
  result<void> append(span<const std::byte> bytes) override {
    text_->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  result<void> sync() override { return {}; }
  result<void> close() override { return {}; }

 private:
  const content text_;
};

class memory final : public file_system {
 public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    const auto found = files_.find(clean(path));
    if (found == files_.end()) return io_error(path, "no such file");
    return std::unique_ptr<readable_file>(std::make_unique<reader>(found->second));
  }
  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    const auto name = clean(path);
    if (folders_.count(name)) return io_error(path, "is a folder");
    if (!is_folder(folder_of(name))) return io_error(path, "no such folder");
    // Readers of the old content keep it.
    auto& text = files_[name] = std::make_shared<std::string>();
    return std::unique_ptr<writable_file>(std::make_unique<writer>(text));
  }
  result<void> rename(const std::string& from, const std::string& to) override {
    const auto old = clean(from), name = clean(to);
    if (!exists(old)) return io_error(from, "no such file or folder");
    if (!is_folder(folder_of(name))) return io_error(to, "no such folder");
    if (old == name) return {};
    if (folders_.count(old)) {
      if (files_.count(name)) return io_error(to, "is not a folder");
      if (folders_.count(name) && !names_in(name).empty()) return io_error(to, "is not empty");
    } else if (folders_.count(name)) {
      return io_error(to, "is a folder");
    }
    move_all(files_, old, name);
    std::set<std::string> folders;
    for (const auto& f : folders_)
      folders.insert(f == old || is_within(f, old) ? name + f.substr(old.size()) : f);
    folders_ = std::move(folders);
    return {};
  }
  result<void> remove(const std::string& path) override {
    const auto name = clean(path);
    if (!exists(name)) return io_error(path, "no such file or folder");
    for (auto f = files_.begin(); f != files_.end();)
      f = f->first == name || is_within(f->first, name) ? files_.erase(f) : std::next(f);
    for (auto f = folders_.begin(); f != folders_.end();)
      f = *f == name || is_within(*f, name) ? folders_.erase(f) : std::next(f);
    return {};
  }
  result<void> create_folders(const std::string& path) override {
    for (auto name = clean(path); !is_folder(name); name = folder_of(name)) {
      if (files_.count(name)) return io_error(name, "is not a folder");
      folders_.insert(name);
    }
    return {};
  }
  result<void> sync_folder(const std::string& path) override {
    if (!is_folder(clean(path))) return io_error(path, "no such folder");
    return {};
  }
  result<std::vector<std::string>> list(const std::string& path) override {
    if (!is_folder(clean(path))) return io_error(path, "no such folder");
    return names_in(clean(path));
  }
  result<file_facts> facts(const std::string& path) override {
    file_facts f;
    if (is_folder(clean(path))) {
      f.folder = true;
      return f;
    }
    const auto found = files_.find(clean(path));
    if (found == files_.end()) return io_error(path, "no such file or folder");
    f.size = found->second->size();
    return f;
  }
  bool exists(const std::string& path) override {
    return is_folder(clean(path)) || files_.count(clean(path)) > 0;
  }
  result<std::unique_ptr<file_lock>> lock(const std::string& path) override {
    // Nobody could give it up while this one thread waited.
    auto& held = locks_[clean(path)];
    if (!held.expired()) return io_error(path, "is locked");
    if (!exists(path))
      if (auto made = create(path); !made) return made.failure();
    auto token = std::make_shared<int>();
    held = token;
    return std::unique_ptr<file_lock>(std::make_unique<lock_on>(std::move(token)));
  }

 private:
  struct lock_on final : file_lock {
    explicit lock_on(std::shared_ptr<int> t) : token(std::move(t)) {}
    std::shared_ptr<int> token;
  };

  bool is_folder(const std::string& name) const {
    return name == "." || name == "/" || folders_.count(name) > 0;
  }
  std::vector<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    const auto add = [&](const std::string& path) {
      if (folder_of(path) == folder && path != folder)
        names.insert(path.substr(path.rfind('/') + 1));
    };
    for (const auto& [path, text] : files_) add(path);
    for (const auto& path : folders_) add(path);
    return {names.begin(), names.end()};
  }
  static void move_all(std::map<std::string, content>& files, const std::string& old,
                       const std::string& name) {
    std::map<std::string, content> moved;
    for (auto f = files.begin(); f != files.end();) {
      if (f->first != old && !is_within(f->first, old)) {
        ++f;
        continue;
      }
      moved[name + f->first.substr(old.size())] = f->second;
      f = files.erase(f);
    }
    for (auto& [path, text] : moved) files[path] = std::move(text);
  }

  std::map<std::string, content> files_;
  std::set<std::string> folders_;
  std::map<std::string, std::weak_ptr<int>> locks_;
};

}  // namespace

std::shared_ptr<file_system> memory_files() {
  return std::make_shared<memory>();
}

}  // namespace troupe::sim
