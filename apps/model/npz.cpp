#include "apps/model/npz.hpp"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "apps/model/manifest.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// ---- one array

// The header of an array in C order, padded to a multiple of 64 bytes.
std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape) {
  std::string dimensions;
  for (const auto n : shape) dimensions += std::to_string(n) + ", ";
  if (shape.size() > 1) dimensions.resize(dimensions.size() - 2);
  std::string text =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + dimensions + "), }";
  constexpr std::size_t fixed = 10;
  text.append(63 - (fixed + text.size()) % 64, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

struct npy {
  std::string type;                // "<f4"
  std::vector<std::size_t> shape;  // one or two
  std::string_view bytes;
  std::size_t width() const { return shape.size() > 1 ? shape[1] : 1; }
};

// What stands between two marks behind `key`.
std::string_view between(std::string_view text, std::string_view key, char open, char close) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  const auto begin = text.find(open, at + key.size());
  if (begin == std::string_view::npos) return {};
  const auto end = text.find(close, begin + 1);
  if (end == std::string_view::npos) return {};
  return text.substr(begin + 1, end - begin - 1);
}

std::optional<npy> parse_npy(std::string_view file) {
  if (file.size() < 10 || file.substr(0, 6) != "\x93NUMPY" || file[6] != 1) return std::nullopt;
  const std::size_t length = static_cast<unsigned char>(file[8]) |
                             static_cast<std::size_t>(static_cast<unsigned char>(file[9])) << 8;
  if (file.size() < 10 + length) return std::nullopt;
  const auto header = file.substr(10, length);
  npy array;
  array.type = std::string(between(header, "'descr':", '\'', '\''));
  array.bytes = file.substr(10 + length);
  if (header.find("'fortran_order': False") == std::string_view::npos) return std::nullopt;
  auto shape = std::string(between(header, "'shape':", '(', ')'));
  std::size_t elements = 1;
  for (std::size_t at = 0; at < shape.size();) {
    char* end = nullptr;
    const auto n = std::strtoull(shape.c_str() + at, &end, 10);
    if (end == shape.c_str() + at) break;
    array.shape.push_back(n);
    if (n > 0 && elements > array.bytes.size() / n) return std::nullopt;
    elements *= n;
    at = static_cast<std::size_t>(end - shape.c_str());
    while (at < shape.size() && (shape[at] == ',' || shape[at] == ' ')) ++at;
  }
  const std::size_t size =
      array.type.empty() ? 0 : static_cast<std::size_t>(array.type.back() - '0');
  if (array.shape.empty() || array.shape.size() > 2 || size == 0 || size > 8 ||
      array.bytes.size() != elements * size)
    return std::nullopt;
  return array;
}

// ---- the archive

struct close_archive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using archive_handle = std::unique_ptr<zip_t, close_archive>;

class npz_writer {
 public:
  explicit npz_writer(const std::string& path) : path_(path) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  }
  // The bytes are kept until finish().
  result<void> add(const std::string& name, std::string content) {
    if (!archive_) return failed("cannot be created");
    kept_.push_back(std::make_unique<std::string>(std::move(content)));
    auto* source = zip_source_buffer(archive_.get(), kept_.back()->data(), kept_.back()->size(), 0);
    const auto index = source == nullptr ? -1
                                         : zip_file_add(archive_.get(), (name + ".npy").c_str(),
                                                        source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return failed(zip_strerror(archive_.get()));
    }
    zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    // The same model gives the same bytes.
    zip_file_set_dostime(archive_.get(), static_cast<zip_uint64_t>(index), 0, 0x21, 0);
    return {};
  }
  result<void> finish() {
    if (zip_close(archive_.get()) != 0) return failed(zip_strerror(archive_.get()));
    (void)archive_.release();
    return {};
  }

 private:
  result<void> failed(const std::string& why) const { return error{errc::io, path_ + ": " + why}; }
  const std::string path_;
  archive_handle archive_;
  std::vector<std::unique_ptr<std::string>> kept_;
};

class npz_reader {
 public:
  static result<npz_reader> open(const std::string& path) {
    int code = 0;
    npz_reader reader(path);
    reader.archive_.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    if (reader.archive_) return reader;
    zip_error_t why;
    zip_error_init_with_code(&why, code);
    error e{errc::bad_data, path + ": " + zip_error_strerror(&why)};
    zip_error_fini(&why);
    return e;
  }
  // None: there is no such array.
  result<std::optional<std::string>> read(const std::string& name) const {
    zip_stat_t facts;
    if (zip_stat(archive_.get(), (name + ".npy").c_str(), 0, &facts) != 0)
      return std::optional<std::string>();
    constexpr zip_uint64_t most = zip_uint64_t{64} << 30;
    if (facts.comp_method != ZIP_CM_STORE || facts.size != facts.comp_size || facts.size > most)
      return wrong(name, "is compressed; numpy.savez writes what is read here");
    std::string bytes(facts.size, '\0');
    auto* file = zip_fopen_index(archive_.get(), facts.index, 0);
    const auto got = file == nullptr ? -1 : zip_fread(file, bytes.data(), bytes.size());
    if (file != nullptr) zip_fclose(file);
    if (got != static_cast<zip_int64_t>(bytes.size())) return wrong(name, "cannot be read");
    return std::optional<std::string>(std::move(bytes));
  }
  error wrong(const std::string& name, const std::string& why) const {
    return {errc::bad_data, path_ + ": the array '" + name + "' " + why};
  }

 private:
  explicit npz_reader(std::string path) : path_(std::move(path)) {}
  std::string path_;
  archive_handle archive_;
};

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// An array that must be there and have that type; its bytes are those of `file`.
result<npy> array_in(const npz_reader& reader, const std::string& name, const std::string& type,
                     std::size_t dimensions, std::optional<std::string>& file) {
  auto read = reader.read(name);
  if (!read) return read.failure();
  if (!*read) return reader.wrong(name, "is missing");
  file = std::move(*read);
  auto array = parse_npy(*file);
  if (!array) return reader.wrong(name, "is no array in .npy form, version 1.0, in C order");
  if (array->type != type)
    return reader.wrong(name, "has the type " + array->type + ", and " + type + " is wanted");
  if (array->shape.size() != dimensions)
    return reader.wrong(
        name, format("has %zu dimensions, and %zu are wanted", array->shape.size(), dimensions));
  return *array;
}

result<std::vector<std::byte>> numbers_in(const npz_reader& reader, const std::string& name,
                                          const std::string& type, std::size_t rows,
                                          std::size_t& width) {
  std::optional<std::string> file;
  const auto array = array_in(reader, name, type, 2, file);
  if (!array) return array.failure();
  if (array->shape[0] != rows || (width > 0 && array->width() != width))
    return reader.wrong(name, format("does not have %zu rows of the table's width", rows));
  width = array->width();
  const auto* bytes = reinterpret_cast<const std::byte*>(array->bytes.data());
  return std::vector<std::byte>(bytes, bytes + array->bytes.size());
}

result<sorted_rows> table_in(const npz_reader& reader, const pb::TableSpec& spec) {
  std::optional<std::string> file;
  const auto keys = array_in(reader, spec.name() + ".keys", "<u8", 1, file);
  if (!keys) return keys.failure();
  sorted_rows rows;
  rows.keys.resize(keys->shape[0]);
  if (!rows.keys.empty()) std::memcpy(rows.keys.data(), keys->bytes.data(), keys->bytes.size());
  if (std::adjacent_find(rows.keys.begin(), rows.keys.end(), std::greater_equal<key_id>()) !=
      rows.keys.end())
    return reader.wrong(spec.name() + ".keys", "does not ascend");
  const std::string type = spec.value_type() == "f64" ? "<f8" : "<f4";
  std::size_t width = spec.width();
  auto values = numbers_in(reader, spec.name() + ".values", type, rows.keys.size(), width);
  if (!values) return values.failure();
  rows.values = std::move(*values);
  const auto state = reader.read(spec.name() + ".state");
  if (!state) return state.failure();
  if (!*state) return rows;
  std::size_t numbers = 0;
  auto read = numbers_in(reader, spec.name() + ".state", type, rows.keys.size(), numbers);
  if (!read) return read.failure();
  rows.state = std::move(*read);
  rows.state_numbers = numbers;
  return rows;
}

}  // namespace

result<void> write_npz(const saved_model& model, const std::string& names, bool weights_only,
                       const std::string& path) {
  const auto manifest = manifest_line(model.manifest);
  if (!manifest) return manifest.failure();
  npz_writer out(path);
  const auto bytes = [](const std::string& text) {
    return npy_header("|u1", {text.size()}) + text;
  };
  if (auto done = out.add("manifest", bytes(*manifest)); !done) return done;
  for (const auto& t : model.tables) {
    const auto rows = rows_of(*t, weights_only);
    const auto count = rows.keys.size();
    const std::string type = t->spec().type == value_type::f64 ? "<f8" : "<f4";
    const auto& name = t->spec().name;
    std::string keys(reinterpret_cast<const char*>(rows.keys.data()), count * sizeof(key_id));
    if (auto done = out.add(name + ".keys", npy_header("<u8", {count}) + keys); !done) return done;
    if (auto done = out.add(name + ".values",
                            npy_header(type, {count, t->spec().width}) + text_of(rows.values));
        !done)
      return done;
    if (rows.state_numbers == 0) continue;
    if (auto done = out.add(name + ".state",
                            npy_header(type, {count, rows.state_numbers}) + text_of(rows.state));
        !done)
      return done;
  }
  if (!names.empty())
    if (auto done = out.add("names", bytes(names)); !done) return done;
  return out.finish();
}

result<imported_model> read_npz(const std::string& path) {
  const auto reader = npz_reader::open(path);
  if (!reader) return reader.failure();
  std::optional<std::string> file;
  const auto text = array_in(*reader, "manifest", "|u1", 1, file);
  if (!text) return text.failure();
  auto manifest = parse_manifest_line(std::string(text->bytes));
  if (!manifest) return reader->wrong("manifest", manifest.failure().text);
  imported_model model;
  model.manifest = std::move(*manifest);
  for (const auto& table : model.manifest.tables()) {
    auto rows = table_in(*reader, table.spec());
    if (!rows) return rows.failure();
    model.tables.push_back(std::move(*rows));
  }
  const auto names = reader->read("names");
  if (!names) return names.failure();
  if (*names) {
    const auto array = array_in(*reader, "names", "|u1", 1, file);
    if (!array) return array.failure();
    model.names = std::string(array->bytes);
  }
  return model;
}

}  // namespace troupe
