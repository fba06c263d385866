#pragma once
// The rows of a table that one server writes, in a file of their own.
//
//   header    magic "TRPROWS\n", version, table name, value type, width,
//             bytes of state in a row, partitioning
//   blocks    rows in ascending position: their positions, their values and, if kept, their state
//   footer    number of rows, digest (table_summary::digest),
//             size, rows and checksum of every block
//   trailer   place and size of the footer, checksum of header and footer, magic "TRPREND\n"
//
// Everything is covered by a checksum (XXH3), and every number of a file is held against the file's
// size before it is believed. Errors name the file; errc::damaged: it is damaged or of a newer
// version.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/server/table/table.hpp"
#include "core/file.hpp"

namespace troupe {

struct row_file_facts {
  std::string table;
  value_type type = value_type::f32;
  std::uint32_t width = 1;
  std::uint64_t state_bytes = 0;  // of a row; 0: no state was kept
  partitioning keys = partitioning::by_hash();
  std::uint64_t rows = 0;
  hash128 digest;
};

// Writes all rows of `t` and syncs; giving the file its final name is the caller's business.
result<row_file_facts> write_rows(file_system& files, const std::string& path, const table& t,
                                  bool with_state);

// The same, by and by.
class row_file_writer {
 public:
  static result<std::unique_ptr<row_file_writer>> create(file_system& files,
                                                         const std::string& path,
                                                         const table_spec& spec,
                                                         std::size_t state_bytes);
  ~row_file_writer();
  result<void> add(const table_rows& rows);
  result<row_file_facts> finish();  // and syncs

 private:
  struct writing;
  explicit row_file_writer(std::unique_ptr<writing> w);
  std::unique_ptr<writing> writing_;
};

class row_file {
 public:
  static result<row_file> open(file_system& files, const std::string& path);

  const row_file_facts& facts() const { return facts_; }
  std::size_t blocks() const { return blocks_.size(); }
  // Rows in ascending position, those of later blocks after those of earlier ones.
  result<table_rows> read(std::size_t block) const;

 private:
  struct place {
    std::uint64_t offset = 0, size = 0, rows = 0, checksum = 0;
  };

  row_file(std::string path, std::unique_ptr<readable_file> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  result<void> read_ends();
  bool decode_header(span<const std::byte> bytes);
  bool decode_footer(span<const std::byte> bytes, std::uint64_t header, std::uint64_t end);
  std::uint64_t row_bytes() const;
  result<std::vector<std::byte>> bytes_at(std::uint64_t offset, std::uint64_t size) const;
  error damaged(const std::string& why) const;

  std::string path_;
  std::unique_ptr<readable_file> file_;
  row_file_facts facts_;
  std::vector<place> blocks_;
};

}  // namespace troupe
