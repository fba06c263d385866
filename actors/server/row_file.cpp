#include "actors/server/row_file.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "core/bytes.hpp"
#include "core/planted_bug.hpp"

namespace troupe {
namespace {

constexpr std::string_view head_magic = "TRPROWS\n";
constexpr std::string_view tail_magic = "TRPREND\n";
constexpr std::uint32_t version = 1;
constexpr std::uint64_t front_size = 16;    // magic, version, size of the rest of the header
constexpr std::uint64_t trailer_size = 32;  // footer's offset and size, checksum, magic
constexpr std::uint64_t block_place_size = 24;
constexpr std::uint64_t block_bytes = 1 << 20;

std::uint64_t checksum_of(span<const std::byte> header, span<const std::byte> footer) {
  running_hash hash;
  hash.add(header.data(), header.size());
  hash.add(footer.data(), footer.size());
  return hash.digest();
}

byte_writer header_of(const row_file_facts& facts) {
  byte_writer rest;
  rest.put_text(facts.table);
  rest.put(static_cast<std::uint8_t>(facts.type == value_type::f64));
  rest.put(facts.width);
  rest.put(facts.state_bytes);
  rest.put(static_cast<std::uint8_t>(!facts.keys.hashes()));
  rest.put(facts.keys.bounds().first);
  rest.put(facts.keys.bounds().last);
  byte_writer header;
  header.append(head_magic.data(), head_magic.size());
  header.put(version);
  header.put(static_cast<std::uint32_t>(rest.size()));
  header.put_all(span<const std::byte>(rest.bytes()));
  return header;
}

bool equal(span<const std::byte> bytes, std::string_view text) {
  return bytes.size() == text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// The blocks of a table, one after the other.
class block_writer {
 public:
  block_writer(writable_file& file, std::uint64_t offset) : file_(file), offset_(offset) {}

  result<void> add(const table_rows& rows, std::size_t from, std::size_t count) {
    const auto put = [&](const auto& items) {
      const auto each = items.size() / rows.positions.size();
      bytes_.put_all(span(items.data(), items.size()).subspan(from * each, count * each));
    };
    bytes_.clear();
    put(rows.positions);
    put(rows.values);
    put(rows.state);
    footer_.put(static_cast<std::uint64_t>(bytes_.size()));
    footer_.put(static_cast<std::uint64_t>(count));
    footer_.put(xxh3(bytes_.bytes()));
    ++blocks_;
    offset_ += bytes_.size();
    return file_.append(bytes_.bytes());
  }
  byte_writer footer(const row_file_facts& facts) const {
    byte_writer all;
    all.put(facts.rows);
    all.put(facts.digest.low);
    all.put(facts.digest.high);
    all.put(blocks_);
    all.put_all(span<const std::byte>(footer_.bytes()));
    return all;
  }
  std::uint64_t offset() const { return offset_; }

 private:
  writable_file& file_;
  std::uint64_t offset_;
  std::uint64_t blocks_ = 0;
  byte_writer bytes_, footer_;
};

result<void> write_end(writable_file& file, const byte_writer& header, const byte_writer& footer,
                       std::uint64_t offset) {
  byte_writer end;
  end.put_all(span<const std::byte>(footer.bytes()));
  end.put(offset);
  end.put(static_cast<std::uint64_t>(footer.size()));
  end.put(checksum_of(header.bytes(), footer.bytes()));
  end.append(tail_magic.data(), tail_magic.size());
  if (auto written = file.append(end.bytes()); !written) return written;
  if (planted("checkpoint-without-sync")) return file.close();
  if (auto synced = file.sync(); !synced) return synced;
  return file.close();
}

}  // namespace

struct row_file_writer::writing {
  table_spec spec;
  std::size_t state_bytes;
  std::unique_ptr<writable_file> file;
  byte_writer header;
  block_writer blocks;
  table_summary sum;

  writing(const table_spec& of, std::size_t state, std::unique_ptr<writable_file> into,
          byte_writer head)
      : spec(of),
        state_bytes(state),
        file(std::move(into)),
        header(std::move(head)),
        blocks(*file, header.size()) {}
  row_file_facts facts() const {
    return {spec.name, spec.type, spec.width, state_bytes, spec.keys, sum.rows, sum.digest};
  }
};

row_file_writer::row_file_writer(std::unique_ptr<writing> w) : writing_(std::move(w)) {}
row_file_writer::~row_file_writer() = default;

result<std::unique_ptr<row_file_writer>> row_file_writer::create(file_system& files,
                                                                 const std::string& path,
                                                                 const table_spec& spec,
                                                                 std::size_t state_bytes) {
  auto file = files.create(path);
  if (!file) return file.failure();
  const row_file_facts facts{spec.name, spec.type, spec.width, state_bytes, spec.keys, 0, {}};
  auto header = header_of(facts);
  if (auto written = (*file)->append(header.bytes()); !written) return written.failure();
  return std::unique_ptr<row_file_writer>(new row_file_writer(
      std::make_unique<writing>(spec, state_bytes, *std::move(file), std::move(header))));
}

result<void> row_file_writer::add(const table_rows& rows) {
  auto& w = *writing_;
  const auto rows_of_block = std::max<std::uint64_t>(
      1, block_bytes / (sizeof(position) + w.spec.row_bytes() + w.state_bytes));
  const auto count = rows.positions.size();
  for (std::size_t from = 0; from < count; from += rows_of_block)
    if (auto added = w.blocks.add(rows, from, std::min(rows_of_block, count - from)); !added)
      return added;
  add_rows(w.spec, rows, w.sum);
  return {};
}

result<row_file_facts> row_file_writer::finish() {
  auto& w = *writing_;
  const auto facts = w.facts();
  auto ended = write_end(*w.file, w.header, w.blocks.footer(facts), w.blocks.offset());
  if (!ended) return ended.failure();
  return facts;
}

result<row_file_facts> write_rows(file_system& files, const std::string& path, const table& t,
                                  bool with_state) {
  const bool keeps = with_state && t.state_bytes() > 0;
  auto file = row_file_writer::create(files, path, t.spec(), keeps ? t.state_bytes() : 0);
  if (!file) return file.failure();
  closed_range rest = all_keys;
  for (bool more = true; more;) {
    const auto rows = t.read_range(rest, t.rows_for_reading(), keeps);
    if (auto added = (*file)->add(rows); !added) return added.failure();
    more = rows.next.has_value();
    if (more) rest.first = *rows.next;
  }
  return (*file)->finish();
}

// ---- reading

result<row_file> row_file::open(file_system& files, const std::string& path) {
  auto file = files.open(path);
  if (!file) return file.failure();
  row_file rows(path, *std::move(file));
  if (auto read = rows.read_ends(); !read) return read.failure();
  return rows;
}

result<void> row_file::read_ends() {
  const auto size = file_->size();
  if (size < front_size + trailer_size) return damaged("it is too short to hold a table's rows");
  auto front = bytes_at(0, front_size);
  if (!front) return front.failure();
  byte_reader head(*front);
  if (!equal(head.get_all<std::byte>(head_magic.size()), head_magic))
    return damaged("it is no file of rows");
  const auto written_by = head.get<std::uint32_t>();
  if (written_by != version)
    return damaged("it has version " + std::to_string(written_by) + " and not " +
                   std::to_string(version));
  const auto header_size = front_size + head.get<std::uint32_t>();

  auto trailer = bytes_at(size - trailer_size, trailer_size);
  if (!trailer) return trailer.failure();
  byte_reader tail(*trailer);
  const auto offset = tail.get<std::uint64_t>(), length = tail.get<std::uint64_t>();
  const auto checksum = tail.get<std::uint64_t>();
  const bool whole = equal(tail.get_all<std::byte>(tail_magic.size()), tail_magic) &&
                     offset >= header_size && offset <= size - trailer_size &&
                     length == size - trailer_size - offset;
  if (!whole) return damaged("its end is missing");
  auto header = bytes_at(0, header_size);
  if (!header) return header.failure();
  auto footer = bytes_at(offset, length);
  if (!footer) return footer.failure();
  if (checksum_of(*header, *footer) != checksum)
    return damaged("its header or its footer at byte " + std::to_string(offset) +
                   " fails the checksum");
  if (!decode_header(*header)) return damaged("its header makes no sense");
  if (!decode_footer(*footer, header_size, offset))
    return damaged("its footer at byte " + std::to_string(offset) + " makes no sense");
  return {};
}

bool row_file::decode_header(span<const std::byte> bytes) {
  byte_reader in(bytes.subspan(front_size, bytes.size() - front_size));
  facts_.table = in.get_text();
  const auto type = in.get<std::uint8_t>();
  facts_.type = type == 1 ? value_type::f64 : value_type::f32;
  facts_.width = in.get<std::uint32_t>();
  facts_.state_bytes = in.get<std::uint64_t>();
  const auto by_range = in.get<std::uint8_t>();
  const auto first = in.get<std::uint64_t>(), last = in.get<std::uint64_t>();
  if (by_range == 1) facts_.keys = partitioning::by_range({first, last});
  return in.finished() && type <= 1 && by_range <= 1 && first <= last && facts_.width > 0 &&
         facts_.width <= table_spec::max_width && facts_.state_bytes <= std::uint64_t{1} << 32;
}

std::uint64_t row_file::row_bytes() const {
  return sizeof(position) + facts_.width * bytes_of(facts_.type) + facts_.state_bytes;
}

bool row_file::decode_footer(span<const std::byte> bytes, std::uint64_t header, std::uint64_t end) {
  byte_reader in(bytes);
  facts_.rows = in.get<std::uint64_t>();
  facts_.digest.low = in.get<std::uint64_t>();
  facts_.digest.high = in.get<std::uint64_t>();
  const auto count = in.get<std::uint64_t>();
  if (!in.ok() || count != in.remaining() / block_place_size) return false;
  std::uint64_t offset = header, rows = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    place p;
    p.offset = offset;
    p.size = in.get<std::uint64_t>();
    p.rows = in.get<std::uint64_t>();
    p.checksum = in.get<std::uint64_t>();
    const bool fits =
        p.size <= end - offset && p.rows == p.size / row_bytes() && p.size % row_bytes() == 0;
    if (!fits) return false;
    offset += p.size;
    rows += p.rows;
    blocks_.push_back(p);
  }
  return in.finished() && offset == end && rows == facts_.rows;
}

result<table_rows> row_file::read(std::size_t block) const {
  const auto& p = blocks_[block];
  auto bytes = bytes_at(p.offset, p.size);
  if (!bytes) return bytes.failure();
  const auto where = "block " + std::to_string(block) + " at byte " + std::to_string(p.offset);
  if (xxh3(*bytes) != p.checksum) return damaged(where + " fails its checksum");
  byte_reader in(*bytes);
  table_rows rows;
  rows.positions = in.get_all<position>(p.rows);
  rows.values = in.get_all<std::byte>(p.rows * facts_.width * bytes_of(facts_.type));
  rows.state = in.get_all<std::byte>(p.rows * facts_.state_bytes);
  const auto unordered = std::adjacent_find(rows.positions.begin(), rows.positions.end(),
                                            std::greater_equal<position>());
  if (!in.finished() || unordered != rows.positions.end())
    return damaged(where + " makes no sense");
  return rows;
}

result<std::vector<std::byte>> row_file::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (size > file_->size() || offset > file_->size() - size)
    return damaged("it ends before byte " + std::to_string(offset) + " and " +
                   std::to_string(size) + " more");
  std::vector<std::byte> bytes(size);
  for (std::size_t got = 0; got < size;) {
    auto more = file_->read_at(offset + got, {bytes.data() + got, size - got});
    if (!more) return more.failure();
    if (*more == 0) return damaged("it ends at byte " + std::to_string(offset + got));
    got += *more;
  }
  return bytes;
}

error row_file::damaged(const std::string& why) const {
  return {errc::damaged, "the file of rows " + path_ + " is damaged: " + why};
}

}  // namespace troupe
