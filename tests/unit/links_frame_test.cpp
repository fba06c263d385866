// Frames: what is written is read, and what strangers write harms nobody.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstring>

#include "actors/links/frame.hpp"
#include "tests/support/linked_pair.hpp"

namespace troupe {
namespace {

using testing::bytes;

// Feeds bytes in pieces of at most `step`.
struct reading_outcome {
  std::vector<frame> frames;
  std::string failure;
};

reading_outcome read_all(frame_reader& reader, span<const std::byte> all, std::size_t step) {
  reading_outcome out;
  while (!all.empty()) {
    const auto space = reader.space();
    REQUIRE(!space.empty());
    const auto size = std::min({space.size(), all.size(), step});
    std::memcpy(space.data(), all.data(), size);
    all = all.subspan(size, all.size() - size);
    auto complete = reader.filled(size);
    if (!complete) {
      out.failure = complete.failure().text;
      return out;
    }
    if (*complete) out.frames.push_back(*std::move(*complete));
  }
  return out;
}

std::vector<std::byte> frame_bytes(frame_header h, const blob& payload) {
  std::vector<std::byte> all(sizeof h + payload.size());
  std::memcpy(all.data(), &h, sizeof h);
  if (!payload.empty()) std::memcpy(all.data() + sizeof h, payload.data(), payload.size());
  return all;
}

frame_header header(frame_type type, std::uint32_t size, std::uint64_t total = 0,
                    std::uint64_t number = 0) {
  frame_header h;
  h.type = static_cast<std::uint8_t>(type);
  h.size = size;
  h.total = total;
  h.number = number;
  return h;
}

std::string failure_of(frame_header h, std::uint64_t most = 1000) {
  frame_reader reader(most);
  return read_all(reader, frame_bytes(h, {}), 1000).failure;
}

}  // namespace

TEST_CASE("frames are read in whatever pieces they come") {
  const auto payload = bytes(100);
  auto all = frame_bytes(header(frame_type::hello, 100), payload);
  const auto beat = frame_bytes(header(frame_type::beat, 0), {});
  all.insert(all.end(), beat.begin(), beat.end());
  for (const std::size_t step : {1, 7, 32, 33, 1000}) {
    frame_reader reader(1000);
    const auto got = read_all(reader, all, step);
    REQUIRE(got.failure == "");
    REQUIRE(got.frames.size() == 2);
    CHECK(got.frames[0].payload == payload);
    CHECK(got.frames[1].header.type == static_cast<std::uint8_t>(frame_type::beat));
  }
}

TEST_CASE("a message in pieces is put together, and others pass between its pieces") {
  const auto payload = bytes(250);
  std::vector<std::byte> all;
  const auto add = [&](frame_header h, const blob& part) {
    const auto one = frame_bytes(h, part);
    all.insert(all.end(), one.begin(), one.end());
  };
  add(header(frame_type::message, 104, 250, 9), payload.part(0, 104));
  add(header(frame_type::beat, 0), {});
  add(header(frame_type::message, 24, 24, 10), bytes(24, 50));
  add(header(frame_type::more, 104, 250, 9), payload.part(104, 104));
  add(header(frame_type::more, 42, 250, 9), payload.part(208, 42));
  frame_reader reader(1000);
  const auto got = read_all(reader, all, 11);
  REQUIRE(got.failure == "");
  REQUIRE(got.frames.size() == 3);
  CHECK(got.frames[1].payload == bytes(24, 50));
  CHECK(got.frames[2].payload == payload);
  CHECK(got.frames[2].header.number == 9);
}

TEST_CASE("what is no frame of ours is refused before anything is kept") {
  CHECK(failure_of(header(frame_type::hello, 1001)).find("1001 bytes, where 1000") !=
        std::string::npos);
  CHECK(failure_of(header(frame_type::message, 10, 0xffffffff)).find("4294967295") !=
        std::string::npos);
  CHECK(failure_of(header(static_cast<frame_type>(99), 0)) != "");
  CHECK(failure_of(header(frame_type::more, 10, 20)) == "a piece that belongs to no message");
  CHECK(failure_of(header(frame_type::message, 0, 20)) == "a message that begins with nothing");
  CHECK(failure_of(header(frame_type::message, 30, 20)) == "a message that is larger than itself");
  // One that says two sizes must not be written to where neither was allowed.
  for (const auto type :
       {frame_type::hello, frame_type::refusal, frame_type::beat, frame_type::book})
    CHECK(failure_of(header(type, 10, 11)).find("no message") != std::string::npos);
  auto other = header(frame_type::beat, 0);
  other.version = 7;
  CHECK(failure_of(other).find("version 7") != std::string::npos);
  const unsigned char tls[32] = {0x16, 0x03, 0x01};
  frame_header spoken;
  std::memcpy(&spoken, tls, sizeof spoken);
  CHECK(failure_of(spoken) == "it speaks TLS, and this node plain TCP");
  std::memcpy(&spoken, "GET / HTTP/1.1\r\nHost: example.org", sizeof spoken);
  CHECK(failure_of(spoken) == "what it sends are no frames of Troupe");
}

TEST_CASE("pieces that do not add up are refused") {
  const auto fails = [](frame_header second) {
    frame_reader reader(1000);
    auto all = frame_bytes(header(frame_type::message, 100, 200, 1), bytes(100));
    const auto next = frame_bytes(second, bytes(second.size));
    all.insert(all.end(), next.begin(), next.end());
    return read_all(reader, all, 1000).failure;
  };
  CHECK(fails(header(frame_type::more, 101, 200, 1)) == "a piece that belongs to no message");
  CHECK(fails(header(frame_type::more, 50, 200, 2)) == "a piece that belongs to no message");
  CHECK(fails(header(frame_type::more, 0, 200, 1)) == "a piece that belongs to no message");
  CHECK(fails(header(frame_type::message, 100, 200, 2)) == "two messages in pieces at once");
  CHECK(fails(header(frame_type::book, 500, 501)).find("no message") != std::string::npos);
  CHECK(fails(header(frame_type::more, 100, 200, 1)) == "");
}

TEST_CASE("random bytes never make a reader read beyond them, nor keep more than it may") {
  rc::check([] {
    frame_reader reader(4096);
    auto all = *rc::gen::arbitrary<std::vector<unsigned char>>();
    // Often enough the beginning of a frame.
    if (all.size() > 4 && *rc::gen::arbitrary<bool>()) {
      all[0] = 0x54;
      all[1] = 0x52;
      all[2] = 1;
      all[3] = static_cast<unsigned char>(1 + all[3] % 6);
      for (std::size_t i = 9; i < std::min<std::size_t>(all.size(), 32); ++i)
        if (i != 24) all[i] = 0;  // small sizes
    }
    const auto got =
        read_all(reader, {reinterpret_cast<const std::byte*>(all.data()), all.size()}, 13);
    for (const auto& f : got.frames) RC_ASSERT(f.payload.size() <= 4096u);
  });
}

TEST_CASE("the parts of a message are views of it, aligned, and fill it exactly") {
  parts_prefix prefix{5, 0, {16, 3}};
  auto [payload, writable] = blob::uninitialised(payload_size(prefix));
  std::memset(writable, 0, payload.size());
  std::memcpy(writable, &prefix, sizeof prefix);
  std::memcpy(writable + 24, "hello", 5);
  std::memcpy(writable + 32, "0123456789abcdef", 16);
  std::memcpy(writable + 48, "xyz", 3);
  const auto parts = parts_of(payload);
  REQUIRE(parts.ok());
  CHECK(parts->text == "hello");
  CHECK(parts->first.data() == payload.data() + 32);
  CHECK(reinterpret_cast<std::uintptr_t>(parts->first.data()) % 8 == 0);
  CHECK(parts->second.size() == 3);
  for (const std::uint64_t lie : {std::uint64_t{7}, std::uint64_t{17}, ~std::uint64_t{0}}) {
    prefix.blobs[0] = lie;
    std::memcpy(writable, &prefix, sizeof prefix);
    CHECK(!parts_of(payload).ok());
  }
  CHECK(!parts_of(payload.part(0, 16)).ok());
  CHECK(!parts_of({}).ok());
}

}  // namespace troupe
