// Every registered type, with every field set to something that is not its default, survives the
// wire.

#include <doctest/doctest.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include "messages/registration.hpp"

using namespace troupe;

namespace {

struct system_config : caf::actor_system_config {
  system_config() { register_message_types(*this); }
};

void fill(google::protobuf::Message& message, int& counter, int depth = 0);

void fill_field(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                int& counter, int depth) {
  using google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const int n = ++counter;
  const auto set = [&](auto add, auto set_one, auto value) {
    if (field.is_repeated())
      (reflection.*add)(&message, &field, value);
    else
      (reflection.*set_one)(&message, &field, value);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      set(&R::AddInt32, &R::SetInt32, -n);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      set(&R::AddInt64, &R::SetInt64, -(std::int64_t{1} << 40));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      set(&R::AddUInt32, &R::SetUInt32, 0xffffff00u + n % 200);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      set(&R::AddUInt64, &R::SetUInt64, (std::uint64_t{1} << 63) + n);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      set(&R::AddDouble, &R::SetDouble, 0.1 + n);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      set(&R::AddBool, &R::SetBool, true);
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const auto text = "text " + std::to_string(n);
      if (field.is_repeated())
        reflection.AddString(&message, &field, text);
      else
        reflection.SetString(&message, &field, text);
      break;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field.enum_type()->value(field.enum_type()->value_count() - 1);
      if (field.is_repeated())
        reflection.AddEnum(&message, &field, value);
      else
        reflection.SetEnum(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      REQUIRE(depth < 8);
      fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                               : *reflection.MutableMessage(&message, &field),
           counter, depth + 1);
      break;
    default:
      FAIL("a field of a type that this test does not know: " << field.full_name());
  }
}

void fill(google::protobuf::Message& message, int& counter, int depth) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto& field = *message.GetDescriptor()->field(i);
    fill_field(message, field, counter, depth);
    if (field.is_repeated()) fill_field(message, field, counter, depth);
  }
}

bool equal(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}
bool equal(const blob& a, const blob& b) {
  return a == b;
}

bool has_no_fields(const google::protobuf::Message& m) {
  return m.GetDescriptor()->field_count() == 0;
}
bool has_no_fields(const blob&) {
  return false;
}

template <class T>
T filled() {
  T value;
  if constexpr (std::is_same_v<T, blob>) {
    const std::vector<std::uint64_t> numbers{1, ~std::uint64_t{0}, 7};
    value = blob::copy_of(span<const std::uint64_t>(numbers));
  } else {
    int counter = 0;
    fill(value, counter);
  }
  return value;
}

// Through the type-erased path that a message between nodes takes, where an unregistered type would
// arrive empty.
template <class T>
T round_tripped(caf::actor_system& system, const T& value) {
  std::vector<char> bytes;
  auto out = caf::make_message(value);
  caf::binary_serializer sink(system, bytes);
  REQUIRE_FALSE(sink(out));
  caf::message in;
  caf::binary_deserializer source(system, bytes);
  REQUIRE_FALSE(source(in));
  REQUIRE(in.size() == 1);
  REQUIRE(in.match_element<T>(0));
  return in.get_as<T>(0);
}

}  // namespace

TEST_CASE("every registered message type survives the wire with every field") {
  system_config config;
  caf::actor_system system(config);
  int types = 0;
  for_each_message_type([&](auto prototype, const char* name) {
    INFO(std::string(name));
    const auto value = filled<decltype(prototype)>();
    CHECK(equal(value, prototype) == has_no_fields(prototype));
    CHECK(equal(round_tripped(system, value), value));
    CHECK(equal(round_tripped(system, prototype), prototype));
    ++types;
  });
  CHECK(types >= 27);
}

TEST_CASE("a blob whose length exceeds what follows is refused, not allocated") {
  system_config config;
  caf::actor_system system(config);
  std::vector<char> bytes;
  caf::binary_serializer sink(system, bytes);
  std::size_t claimed = std::size_t{1} << 29;
  REQUIRE_FALSE(sink.begin_sequence(claimed));
  bytes.resize(bytes.size() + 16);
  blob read;
  caf::binary_deserializer source(system, bytes);
  CHECK(source(read));
  CHECK(read.empty());
}
