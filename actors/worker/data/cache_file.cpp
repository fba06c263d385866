#include "actors/worker/data/cache_file.hpp"

#include <cstring>
#include <string_view>

namespace troupe {
namespace {

constexpr std::string_view head_magic = "TRPDATA\n";
constexpr std::string_view tail_magic = "TRPDEND\n";
constexpr std::uint32_t version = 2;
constexpr std::uint64_t header_size = 16;
constexpr std::uint64_t trailer_size = 32;

void encode(const cache_contents& contents, byte_writer& out) {
  out.put(contents.options);
  out.put(contents.digest);
  out.put(static_cast<std::uint32_t>(contents.sources.size()));
  for (const auto& source : contents.sources) {
    out.put(source.size);
    out.put(source.digest);
  }
  encode(contents.facts, out);
  encode(contents.skipped, out);
  out.put(contents.dropped_negatives);
  out.put(static_cast<std::uint64_t>(contents.blocks.size()));
  for (const auto& place : contents.blocks) {
    out.put(place.rows);
    out.put(place.size);
    out.put(place.checksum);
  }
}

bool decode(span<const std::byte> bytes, cache_contents& contents) {
  byte_reader in(bytes);
  contents.options = in.get<std::uint64_t>();
  contents.digest = in.get<std::uint64_t>();
  const auto sources = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < sources && in.ok(); ++i) {
    source_facts source;
    source.size = in.get<std::uint64_t>();
    source.digest = in.get<std::uint64_t>();
    contents.sources.push_back(source);
  }
  contents.facts = decode_facts(in);
  contents.skipped = decode_skipped(in);
  contents.dropped_negatives = in.get<std::uint64_t>();
  const auto blocks = in.get<std::uint64_t>();
  std::uint64_t row = 0, offset = header_size;
  for (std::uint64_t i = 0; i < blocks && in.ok(); ++i) {
    block_place place;
    place.first_row = row;
    place.offset = offset;
    place.rows = in.get<std::uint64_t>();
    place.size = in.get<std::uint64_t>();
    place.checksum = in.get<std::uint64_t>();
    row += place.rows;
    offset += place.size;
    contents.blocks.push_back(place);
  }
  return in.finished() && row == contents.facts.rows;
}

bool equal(span<const std::byte> bytes, std::string_view text) {
  return bytes.size() == text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace

cache_writer::cache_writer(std::unique_ptr<writable_file> file, meter* work_done)
    : file_(std::move(file)), meter_(work_done), digest_(std::make_unique<running_hash>()) {}

result<cache_writer> cache_writer::create(file_system& files, const std::string& path,
                                          meter* work_done) {
  auto file = files.create(path);
  if (!file) return file.failure();
  cache_writer writer(*std::move(file), work_done);
  byte_writer header;
  header.append(head_magic.data(), head_magic.size());
  header.put(version);
  header.put(std::uint32_t{0});
  auto written = writer.append(header.bytes());
  if (!written) return written.failure();
  return writer;
}

result<void> cache_writer::append(span<const std::byte> bytes) {
  auto written = file_->append(bytes);
  if (!written) return written;
  offset_ += bytes.size();
  if (meter_) meter_->add(work::bytes_written, bytes.size());
  return {};
}

result<void> cache_writer::add(const block& rows) {
  scratch_.clear();
  encode(rows, scratch_);
  block_place place;
  place.first_row = rows.first_row;
  place.rows = rows.rows();
  place.offset = offset_;
  place.size = scratch_.size();
  place.checksum = xxh3(scratch_.bytes());
  blocks_.push_back(place);
  facts_.add(rows);
  digest_->add(&place.checksum, sizeof place.checksum);
  return append(scratch_.bytes());
}

result<void> cache_writer::finish(cache_contents contents) {
  digest_->add(&contents.options, sizeof contents.options);
  contents.digest = digest_->digest();
  contents.facts = facts_;
  contents.blocks = std::move(blocks_);
  byte_writer footer;
  encode(contents, footer);
  byte_writer trailer;
  trailer.put(offset_);
  trailer.put(static_cast<std::uint64_t>(footer.size()));
  trailer.put(xxh3(footer.bytes()));
  trailer.append(tail_magic.data(), tail_magic.size());
  for (const auto* part : {&footer, &trailer}) {
    auto written = append(part->bytes());
    if (!written) return written;
  }
  auto synced = file_->sync();
  if (!synced) return synced;
  return file_->close();
}

cache_file::cache_file(std::string path, std::unique_ptr<readable_file> file, meter* work_done)
    : path_(std::move(path)), file_(std::move(file)), meter_(work_done) {}

result<cache_file> cache_file::open(file_system& files, const std::string& path, meter* work_done) {
  auto file = files.open(path);
  if (!file) return file.failure();
  cache_file cache(path, *std::move(file), work_done);
  auto read = cache.read_footer();
  if (!read) return read.failure();
  return cache;
}

result<void> cache_file::read_footer() {
  const auto size = file_->size();
  if (size < header_size + trailer_size) return damaged("it is too short to be a data cache");
  auto header = bytes_at(0, header_size);
  if (!header) return header.failure();
  byte_reader head(*header);
  if (!equal(head.get_all<std::byte>(head_magic.size()), head_magic))
    return damaged("it is no data cache");
  const auto written_by = head.get<std::uint32_t>();
  if (written_by != version)
    return damaged("it has version " + std::to_string(written_by) + " and not " +
                   std::to_string(version));
  auto trailer = bytes_at(size - trailer_size, trailer_size);
  if (!trailer) return trailer.failure();
  byte_reader tail(*trailer);
  const auto offset = tail.get<std::uint64_t>();
  const auto length = tail.get<std::uint64_t>();
  const auto checksum = tail.get<std::uint64_t>();
  const bool whole = equal(tail.get_all<std::byte>(tail_magic.size()), tail_magic) &&
                     offset >= header_size && offset <= size - trailer_size &&
                     length == size - trailer_size - offset;
  if (!whole) return damaged("its end is missing");
  auto footer = bytes_at(offset, length);
  if (!footer) return footer.failure();
  if (xxh3(*footer) != checksum || !decode(*footer, contents_))
    return damaged("its footer at byte " + std::to_string(offset) + " fails its checksum");
  const auto& blocks = contents_.blocks;
  const auto end = blocks.empty() ? header_size : blocks.back().offset + blocks.back().size;
  if (end != offset) return damaged("its blocks do not end where its footer begins");
  return {};
}

result<std::vector<std::byte>> cache_file::bytes_at(std::uint64_t offset,
                                                    std::uint64_t size) const {
  // Sizes come from the file: none is believed that reaches beyond its end.
  if (size > file_->size() || offset > file_->size() - size)
    return damaged("it ends before byte " + std::to_string(offset));
  std::vector<std::byte> bytes(size);
  std::size_t got = 0;
  while (got < size) {
    auto more = file_->read_at(offset + got, {bytes.data() + got, size - got});
    if (!more) return more.failure();
    if (*more == 0) return damaged("it ends at byte " + std::to_string(offset + got));
    got += *more;
  }
  if (meter_) meter_->add(work::bytes_read, size);
  return bytes;
}

result<std::shared_ptr<const block>> cache_file::read(std::size_t index) const {
  const auto& place = contents_.blocks[index];
  auto bytes = bytes_at(place.offset, place.size);
  if (!bytes) return bytes.failure();
  std::optional<block> rows;
  if (xxh3(*bytes) == place.checksum) rows = decode_block(*bytes);
  if (!rows || rows->first_row != place.first_row || rows->rows() != place.rows)
    return damaged("block " + std::to_string(index) + " at byte " + std::to_string(place.offset) +
                   " fails its checksum");
  return std::make_shared<const block>(*std::move(rows));
}

error cache_file::damaged(const std::string& reason) const {
  return {errc::damaged, "the data cache " + path_ + " is damaged: " + reason};
}

}  // namespace troupe
