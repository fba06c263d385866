#include "actors/worker/data/dataset.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace troupe {
namespace {

// Size, first and last bytes of a file: enough to tell data sets apart without reading them.
result<std::uint64_t> sample(file_system& files, const std::string& path, meter* work_done) {
  auto file = files.open(path);
  if (!file) return file.failure();
  constexpr std::uint64_t sample_size = std::uint64_t{64} << 10;
  const auto size = (*file)->size();
  std::vector<std::byte> bytes(std::min(size, sample_size));
  running_hash hash;
  hash.add(&size, sizeof size);
  for (const auto offset : {std::uint64_t{0}, size - bytes.size()}) {
    auto got = (*file)->read_at(offset, bytes);
    if (!got) return got.failure();
    if (work_done) work_done->add(work::bytes_read, *got);
    hash.add(bytes.data(), *got);
  }
  return hash.digest();
}

}  // namespace

dataset::dataset(std::shared_ptr<file_system> files, std::vector<std::string> sources,
                 data_options options, meter* work_done)
    : files_(std::move(files)),
      sources_(std::move(sources)),
      options_(std::move(options)),
      meter_(work_done) {}

result<std::shared_ptr<const dataset>> dataset::open(std::shared_ptr<file_system> files,
                                                     std::vector<std::string> sources,
                                                     data_options options, meter* work_done) {
  if (sources.empty()) return error{errc::bad_config, "a data set needs at least one file"};
  for (const auto& source : sources)
    if (source == "-")
      return error{errc::bad_config,
                   "a data set is read more than once, and standard input cannot be; write it to a "
                   "file"};
  std::shared_ptr<dataset> set(
      new dataset(std::move(files), std::move(sources), std::move(options), work_done));
  auto digest = digest_of(set->options_);
  if (!digest) return digest.failure();
  set->options_digest_ = *digest;
  auto name = set->name();
  if (!name) return name.failure();
  set->path_ = set->options_.cache_folder + "/" + *name;
  auto cache = set->open_or_build();
  if (!cache) return cache.failure();
  set->cache_ = *cache;
  set->contents_ = (*cache)->contents();
  return std::shared_ptr<const dataset>(std::move(set));
}

std::string dataset::names_path() const {
  const auto path = path_ + ".names";
  return options_.max_names > 0 && files_->exists(path) ? path : std::string();
}

result<std::string> dataset::name() const {
  running_hash hash;
  hash.add(&options_digest_, sizeof options_digest_);
  for (const auto& source : sources_) {
    auto one = sample(*files_, source, meter_);
    if (!one) return one.failure();
    hash.add(&*one, sizeof *one);
  }
  return format("%016llx.blocks", static_cast<unsigned long long>(hash.digest()));
}

// Beside a cache lies a note of what its sources' times were when their content was last compared,
// so that unchanged sources are not read again. This is what the note would say now; empty if a
// source cannot be seen.
std::string dataset::times(std::uint64_t cache_digest) const {
  std::string text = format("%016llx\n", static_cast<unsigned long long>(cache_digest));
  for (const auto& source : sources_) {
    auto facts = files_->facts(source);
    if (!facts) return {};
    text += std::to_string(facts->size) + " " + std::to_string(facts->modified_ns) + "\n";
  }
  return text;
}

result<bool> dataset::fresh(const cache_contents& found) const {
  if (found.options != options_digest_ || found.sources.size() != sources_.size() ||
      found.skipped.count > options_.max_bad_rows)
    return false;
  const auto now = times(found.digest);
  const auto noted = read_text(*files_, path_ + ".times", now.size() + 1);
  if (!now.empty() && noted && *noted == now) return true;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto source = examine_source(*files_, sources_[i], meter_);
    if (!source) return source.failure();
    if (!(*source == found.sources[i])) return false;
  }
  // Only a hint: where it cannot be written, the next job compares the content again.
  (void)write_text_atomically(*files_, path_ + ".times", now);
  return true;
}

// Nothing (a null pointer) where there is no cache, or none that may be used.
result<std::shared_ptr<const cache_file>> dataset::open_fresh() const {
  const std::shared_ptr<const cache_file> none;
  if (!files_->exists(path_)) return none;
  auto cache = cache_file::open(*files_, path_, meter_);
  if (!cache) {
    if (cache.failure().code == errc::damaged) return none;
    return cache.failure();
  }
  auto usable = fresh(cache->contents());
  if (!usable) return usable.failure();
  if (!*usable) return none;
  return std::shared_ptr<const cache_file>(std::make_shared<cache_file>(*std::move(cache)));
}

result<std::shared_ptr<const cache_file>> dataset::open_or_build() const {
  auto found = open_fresh();
  if (!found || *found) return found;
  auto made = files_->create_folders(options_.cache_folder);
  if (!made) return made.failure();
  auto held = files_->lock(path_ + ".lock");
  if (!held) return held.failure();
  // Somebody else may have built it while this one waited.
  found = open_fresh();
  if (!found || *found) return found;
  return build();
}

// Needs the lock.
result<std::shared_ptr<const cache_file>> dataset::build() const {
  const auto part = path_ + ".part";
  const auto before = times(0);
  const auto names =
      options_.max_names > 0 ? std::make_shared<name_list>(options_.max_names) : nullptr;
  auto built = build_cache(*files_, sources_, options_, part, meter_, names);
  // Before the cache: where that is, the names are.
  if (built && names) built = write_text_atomically(*files_, path_ + ".names", names->lines());
  if (built) built = files_->rename(part, path_);
  if (!built) {
    (void)files_->remove(part);
    return built.failure();
  }
  auto synced = files_->sync_folder(options_.cache_folder);
  if (!synced) return synced.failure();
  auto cache = cache_file::open(*files_, path_, meter_);
  if (!cache) return cache.failure();
  if (before == times(0))
    (void)write_text_atomically(*files_, path_ + ".times", times((*cache).contents().digest));
  return std::shared_ptr<const cache_file>(std::make_shared<cache_file>(*std::move(cache)));
}

result<std::shared_ptr<const block>> dataset::load_block(std::size_t index) const {
  assert(index < contents_.blocks.size());
  std::shared_ptr<const cache_file> cache;
  {
    const std::lock_guard guard(mutex_);
    cache = cache_;
  }
  auto loaded = cache->read(index);
  if (loaded || loaded.failure().code != errc::damaged) return loaded;
  return heal(index, loaded.failure());
}

result<std::shared_ptr<const block>> dataset::heal(std::size_t index, const error& damage) const {
  const std::lock_guard guard(mutex_);
  const auto hopeless = [&](const std::string& why) {
    return error{errc::damaged, damage.text + "; it could not be made anew: " + why};
  };
  auto held = files_->lock(path_ + ".lock");
  if (!held) return hopeless(held.failure().text);
  // Another thread or process may have healed it already.
  auto cache = cache_file::open(*files_, path_, meter_);
  if (cache && cache->contents().digest == contents_.digest) {
    auto loaded = cache->read(index);
    if (loaded) {
      cache_ = std::make_shared<cache_file>(*std::move(cache));
      return loaded;
    }
  }
  auto built = build();
  if (!built) return hopeless(built.failure().text);
  if ((*built)->contents().digest != contents_.digest)
    return hopeless("the files it was made from have changed since");
  cache_ = *built;
  return cache_->read(index);
}

}  // namespace troupe
