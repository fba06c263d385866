#include <doctest/doctest.h>

#include "actors/worker/data/input_stream.hpp"
#include "actors/worker/data/line_reader.hpp"
#include "core/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using testing::gzipped;
using testing::temporary_folder;
using testing::write_file;
using testing::xzipped;

namespace {

// The content as the stream yields it, or the error.
result<std::string> content_of(const std::string& path, meter* work_done = nullptr) {
  auto source = raw_source::open(*posix_file_system(), path, work_done);
  if (!source) return source.failure();
  auto input = open_input(**source);
  if (!input) return input.failure();
  std::string all, part(1000, '\0');
  for (;;) {
    auto got = (*input)->read({reinterpret_cast<std::byte*>(part.data()), part.size()});
    if (!got) return got.failure();
    if (*got == 0) break;
    all.append(part, 0, *got);
  }
  // The source is consumed to its end, so that its digest is that of the whole file.
  CHECK((*source)->peek()->empty());
  return all;
}

std::string random_text(std::size_t size) {
  random_source random(size);
  std::string text(size, ' ');
  for (auto& c : text) c = "0123456789:\n "[random.below(13)];
  return text;
}

std::vector<std::string> lines_of(const std::string& content, std::uint64_t longest = 1 << 20) {
  const temporary_folder folder;
  write_file(folder / "a", content);
  auto source = raw_source::open(*posix_file_system(), folder / "a", nullptr);
  auto input = open_input(**source);
  line_reader reader("a", **input, longest);
  std::vector<std::string> lines;
  for (std::string_view line;;) {
    auto more = reader.next(line);
    if (!more) lines.push_back("error " + more.failure().text);
    if (!more || !*more) return lines;
    lines.emplace_back(line);
    CHECK(reader.number() == lines.size());
  }
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("packed files are unpacked whatever their name says") {
  const temporary_folder folder;
  const auto text = random_text(700'000), more = random_text(3'000);
  const std::pair<const char*, std::string> files[] = {
      {"plain", text},
      {"empty", ""},
      {"one byte", "\x1F"},
      {"gzip", gzipped(text)},
      {"gzip of nothing", gzipped("")},
      {"gzip members", gzipped(text) + gzipped("") + gzipped(more)},
      {"gzip, padded", gzipped(text) + std::string(512, '\0')},
      {"xz", xzipped(text)},
      {"xz streams", xzipped(text) + xzipped(more)},
      {"xz, padded", xzipped(text) + std::string(8, '\0')},
  };
  const std::string expected[] = {text,        "",   "\x1F", text,        "",
                                  text + more, text, text,   text + more, text};
  for (std::size_t i = 0; i < std::size(files); ++i) {
    CAPTURE(files[i].first);
    write_file(folder / "train.txt", files[i].second);
    meter work_done;
    auto content = content_of(folder / "train.txt", &work_done);
    REQUIRE(content);
    CHECK(*content == expected[i]);
    CHECK(work_done.total(work::bytes_read) == files[i].second.size());
  }
}

TEST_CASE("packed files that are cut short, damaged or followed by something else are refused") {
  const temporary_folder folder;
  const auto text = random_text(100'000);
  const auto gz = gzipped(text), xz = xzipped(text);
  const auto damaged = [](std::string bytes) {
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    return bytes;
  };
  const auto at = [](std::size_t n) { return std::to_string(n); };
  const std::pair<std::string, std::string> cases[] = {
      {gz.substr(0, 5000), "at byte 5000 of the gzip file: the file ends in the middle"},
      {gz.substr(0, gz.size() - 1),
       "at byte " + at(gz.size() - 1) + " of the gzip file: the file ends"},
      {gz.substr(0, 5), "at byte 5 of the gzip file: the file ends"},
      {gz + gz.substr(0, 9), "the file ends in the middle"},
      {damaged(gz), " of the gzip file: "},
      {gz + "1 2:3\n", "at byte " + at(gz.size()) + " of the gzip file: what follows"},
      {gz + std::string(1, '\0') + gz, "what follows the compressed data"},
      {xz.substr(0, 5000), "at byte 5000 of the xz file: the file ends in the middle"},
      {xz.substr(0, xz.size() - 1), "the file ends in the middle"},
      {damaged(xz), " of the xz file: the compressed data is damaged"},
      {xz + "1 2:3\n", "of the xz file: "},
      {std::string("\x28\xB5\x2F\xFD rest"), "packed with zstd, which is not read"},
      {"BZh91AY", "packed with bzip2"},
  };
  for (const auto& [bytes, reason] : cases) {
    CAPTURE(reason);
    write_file(folder / "a", bytes);
    auto content = content_of(folder / "a");
    REQUIRE_FALSE(content);
    CHECK(content.failure().code == errc::bad_data);
    CAPTURE(content.failure().text);
    CHECK(content.failure().text.find(folder / "a") == 0);
    CHECK(content.failure().text.find(reason) != std::string::npos);
  }
}

TEST_CASE("lines end in either way, and the last need not end") {
  CHECK(lines_of("") == list{});
  CHECK(lines_of("\n") == list{""});
  CHECK(lines_of("a") == list{"a"});
  CHECK(lines_of("a\nb\r\n\r\nc") == list{"a", "b", "", "c"});
  CHECK(lines_of("a\rb\n") == list{"a\rb"});
  CHECK(lines_of("a\r") == list{"a"});
}

TEST_CASE("a byte order mark at the start of a file is no part of its first line") {
  CHECK(lines_of("\xEF\xBB\xBF"
                 "1\n2\n") == list{"1", "2"});
  CHECK(lines_of("\xEF\xBB\xBF") == list{""});
  CHECK(lines_of("1\n\xEF\xBB\xBF"
                 "2\n") == list{"1",
                                "\xEF\xBB\xBF"
                                "2"});
}

TEST_CASE("a line may be as long as allowed and no longer") {
  const std::string longest(600'000, 'x');
  CHECK(lines_of("a\n" + longest + "\nb", 600'000) == list{"a", longest, "b"});
  CHECK(lines_of(longest, 600'000) == list{longest});
  const list refused{"a", "error a:2:1: the line is longer than the 599999 bytes allowed"};
  CHECK(lines_of("a\n" + longest + "\nb", 599'999) == refused);
  CHECK(lines_of("a\n" + longest, 599'999) == refused);
  CHECK(lines_of("a\n12345\nb", 4) ==
        list{"a", "error a:2:1: the line is longer than the 4 bytes allowed"});
}
