#include "apps/linear/blocks/column_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr char head[] = "TRPCOLS\n", tail[] = "TRPCEND\n";
constexpr std::uint32_t version = 1;
constexpr std::size_t head_bytes = 16, trailer_bytes = 32;

struct entry {
  std::uint32_t row;
  float value;
};

// A slot's entries by feature of the plan.
class transposition {
 public:
  transposition(const dataset& data, const block_plan& plan, row_range part)
      : data_(data), plan_(plan), part_(part), features_(plan.blocks) {}

  result<void> run() {
    std::vector<std::uint64_t> count(plan_.keys.size() + 1);
    auto counted =
        each_entry([&](std::size_t feature, std::uint32_t, float) { ++count[feature + 1]; });
    if (!counted) return counted;
    for (std::size_t f = 1; f < count.size(); ++f) count[f] += count[f - 1];
    if (count.back() > ~std::uint32_t{0})
      return error{errc::bad_config,
                   "a slot has more than 2^32 features in its rows; raise cluster.slots"};
    begin_ = count;
    entries_.resize(count.back());
    auto filled = each_entry([&](std::size_t feature, std::uint32_t row, float value) {
      auto& next = count[feature];
      if (next > begin_[feature] && entries_[next - 1].row == row) {
        entries_[next - 1].value += value;  // twice in a row
      } else {
        entries_[next++] = {row, value};
      }
    });
    end_ = std::move(count);
    for (std::size_t f = 0; f < plan_.keys.size(); ++f)
      if (end_[f] > begin_[f]) features_[plan_.block[f]].push_back(f);
    for (auto& of : features_)
      std::sort(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
        return mix(plan_.keys[a]) < mix(plan_.keys[b]);
      });
    return filled;
  }

  column_block block(std::uint32_t number) {
    column_block out;
    bool all_one = true;
    last_block_.resize(part_.rows(), ~std::uint32_t{0});
    out.begin.push_back(0);
    for (const auto f : features_[number]) {
      out.keys.push_back(plan_.keys[f]);
      for (auto e = begin_[f]; e < end_[f]; ++e) {
        const auto& one = entries_[e];
        out.row.push_back(one.row);
        out.value.push_back(one.value);
        all_one = all_one && one.value == 1;
        out.exclusive = out.exclusive && last_block_[one.row] != number;
        last_block_[one.row] = number;
      }
      out.begin.push_back(static_cast<std::uint32_t>(out.row.size()));
    }
    if (all_one) out.value.clear();
    return out;
  }

  std::vector<double> labels, weights;

 private:
  template <class Visit>
  result<void> each_entry(Visit visit) {
    const bool first = labels.empty();
    std::vector<std::size_t> features;
    for (std::size_t b = 0; b < data_.blocks().size(); ++b) {
      const auto& place = data_.blocks()[b];
      const auto from = std::max(place.first_row, part_.first),
                 to = std::min(place.first_row + place.rows, part_.end);
      if (from >= to) continue;
      const auto loaded = data_.load_block(b);
      if (!loaded) return loaded.failure();
      const auto& rows = **loaded;
      features.clear();
      for (const auto key : rows.keys)
        features.push_back(static_cast<std::size_t>(
            std::lower_bound(plan_.keys.begin(), plan_.keys.end(), key) - plan_.keys.begin()));
      for (auto r = from; r < to; ++r) {
        const auto own = r - place.first_row;
        if (first) {
          labels.push_back(rows.label[own]);
          if (data_.facts().has_weights)
            weights.push_back(rows.weight.empty() ? 1 : rows.weight[own]);
        }
        for (auto e = rows.row_begin[own]; e < rows.row_begin[own + 1]; ++e)
          visit(features[rows.column[e]], static_cast<std::uint32_t>(r - part_.first),
                rows.value.empty() ? 1.0f : rows.value[e]);
      }
    }
    return {};
  }

  const dataset& data_;
  const block_plan& plan_;
  const row_range part_;
  std::vector<std::uint64_t> begin_, end_;
  std::vector<entry> entries_;
  std::vector<std::vector<std::size_t>> features_;  // of each block that occur, ascending by mix
  std::vector<std::uint32_t> last_block_;           // of each row
};

}  // namespace

result<std::shared_ptr<column_file>> column_file::open(std::shared_ptr<file_system> files,
                                                       const dataset& rows, const block_plan& plan,
                                                       std::uint32_t slots, std::uint32_t slot,
                                                       std::uint64_t most_bytes) {
  running_hash what;
  for (const std::uint64_t part : {std::uint64_t{version}, rows.digest(), plan.digest(),
                                   std::uint64_t{slots}, std::uint64_t{slot}})
    what.add(&part, sizeof part);
  const auto digest = what.digest();
  const auto path =
      rows.cache_path() + format(".blocks-%016llx", static_cast<unsigned long long>(digest));
  std::shared_ptr<column_file> opened(new column_file(files, path, most_bytes));
  if (files->exists(path) && opened->read(digest)) return opened;
  auto alone = files->lock(path + ".lock");
  if (!alone) return alone.failure();
  if (files->exists(path) && opened->read(digest)) return opened;  // made by somebody else
  if (auto made = opened->make(rows, plan, slot_part(rows.rows(), slots, slot), digest); !made)
    return made.failure();
  if (auto read = opened->read(digest); !read) return read.failure();
  return opened;
}

result<void> column_file::make(const dataset& rows, const block_plan& plan, row_range part,
                               std::uint64_t digest) {
  transposition columns(rows, plan, part);
  if (auto done = columns.run(); !done) return done;
  const auto beside = path_ + ".part";
  auto file = files_->create(beside);
  if (!file) return file.failure();
  std::uint64_t offset = 0;
  const auto append = [&](const byte_writer& bytes) {
    offset += bytes.size();
    return (*file)->append(bytes.bytes());
  };
  byte_writer out;
  out.append(head, 8);
  out.put(version);
  out.put(std::uint32_t{0});
  if (auto done = append(out); !done) return done;
  byte_writer footer;
  footer.put(digest);
  footer.put(part.rows());
  footer.put_all(span<const double>(columns.labels));
  footer.put(static_cast<std::uint64_t>(columns.weights.size()));
  footer.put_all(span<const double>(columns.weights));
  footer.put(static_cast<std::uint64_t>(plan.blocks));
  std::uint64_t entries = 0;
  for (std::uint32_t b = 0; b < plan.blocks; ++b) {
    const auto one = columns.block(b);
    entries += one.entries();
    out.clear();
    encode(one, out);
    footer.put(offset);
    footer.put(static_cast<std::uint64_t>(out.size()));
    footer.put(xxh3(out.bytes()));
    if (auto done = append(out); !done) return done;
  }
  footer.put(entries);
  const auto at = offset;
  if (auto done = append(footer); !done) return done;
  out.clear();
  out.put(at);
  out.put(static_cast<std::uint64_t>(footer.size()));
  out.put(xxh3(footer.bytes()));
  out.append(tail, 8);
  if (auto done = append(out); !done) return done;
  if (auto done = (*file)->sync(); !done) return done;
  if (auto done = (*file)->close(); !done) return done;
  return files_->rename(beside, path_);
}

error column_file::damaged(const std::string& why) const {
  return {errc::damaged, path_ + ": " + why};
}

result<std::vector<std::byte>> column_file::bytes_at(std::uint64_t offset,
                                                     std::uint64_t size) const {
  if (offset > file_->size() || size > file_->size() - offset) return damaged("it is cut short");
  std::vector<std::byte> bytes(size);
  for (std::size_t have = 0; have < size;) {
    const auto got = file_->read_at(offset + have, {bytes.data() + have, size - have});
    if (!got) return got.failure();
    if (*got == 0) return damaged("it is cut short");
    have += *got;
  }
  return bytes;
}

result<void> column_file::read(std::uint64_t digest) {
  auto file = files_->open(path_);
  if (!file) return file.failure();
  file_ = std::move(*file);
  if (file_->size() < head_bytes + trailer_bytes) return damaged("it is cut short");
  const auto trailer = bytes_at(file_->size() - trailer_bytes, trailer_bytes);
  if (!trailer) return trailer.failure();
  byte_reader end(*trailer);
  const auto at = end.get<std::uint64_t>(), size = end.get<std::uint64_t>(),
             checksum = end.get<std::uint64_t>();
  if (std::memcmp(trailer->data() + 24, tail, 8) != 0) return damaged("it has no end");
  const auto footer = bytes_at(at, size);
  if (!footer) return footer.failure();
  if (xxh3(*footer) != checksum) return damaged("its index is damaged");
  byte_reader in(*footer);
  if (in.get<std::uint64_t>() != digest) return damaged("it was made from other rows");
  labels_ = in.get_all<double>(in.get<std::uint64_t>());
  weights_ = in.get_all<double>(in.get<std::uint64_t>());
  const auto blocks = in.get<std::uint64_t>();
  places_.clear();
  for (std::uint64_t b = 0; b < blocks && in.ok(); ++b) {
    place p;
    p.offset = in.get<std::uint64_t>();
    p.size = in.get<std::uint64_t>();
    p.checksum = in.get<std::uint64_t>();
    places_.push_back(p);
  }
  entries_ = in.get<std::uint64_t>();
  if (!in.finished()) return damaged("its index does not fit");
  return {};
}

std::shared_ptr<const column_block> column_file::find(std::size_t index) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto found = by_index_.find(index);
  if (found == by_index_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->columns;
}

result<std::shared_ptr<const column_block>> column_file::load(std::size_t index) {
  if (auto there = find(index)) return there;
  const auto& p = places_[index];
  const auto bytes = bytes_at(p.offset, p.size);
  if (!bytes) return bytes.failure();
  if (xxh3(*bytes) != p.checksum)
    return damaged(format("block %zu is damaged; remove the file, and it is made again", index));
  auto columns = decode_columns(*bytes, rows());
  if (!columns) return damaged(format("block %zu does not fit its rows", index));
  auto shared = std::make_shared<const column_block>(std::move(*columns));
  keep(index, shared);
  return shared;
}

void column_file::keep(std::size_t index, std::shared_ptr<const column_block> columns) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (by_index_.count(index)) return;
  bytes_ += columns->bytes();
  by_use_.push_front({index, std::move(columns)});
  by_index_[index] = by_use_.begin();
  while (bytes_ > most_bytes_ && by_use_.size() > 1) {
    bytes_ -= by_use_.back().columns->bytes();
    by_index_.erase(by_use_.back().index);
    by_use_.pop_back();
  }
}

}  // namespace troupe
