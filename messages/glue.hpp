#pragma once
// How our types become CAF message elements: any protobuf message, and blobs. Lengths that come
// from a peer are bounded before they are trusted.

#include <google/protobuf/message.h>

#include <caf/binary_deserializer.hpp>
#include <caf/deserializer.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>
#include <limits>
#include <string>
#include <type_traits>

#include "core/blob.hpp"

namespace troupe {

// On the wire: the number of bytes, then the bytes.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, blob& x) {
  if constexpr (std::is_base_of_v<caf::serializer, Inspector>) {
    std::size_t size = x.size();
    if (auto failed = f.begin_sequence(size)) return failed;
    if (size == 0) return caf::none;
    return f.apply_raw(size, const_cast<std::byte*>(x.data()));  // CAF reads through it
  } else if constexpr (std::is_base_of_v<caf::deserializer, Inspector>) {
    std::size_t size = 0;
    if (auto failed = f.begin_sequence(size)) return failed;
    if (size > blob::max_size) return caf::sec::end_of_stream;
    if (auto* binary = dynamic_cast<caf::binary_deserializer*>(&f);
        binary != nullptr && size > binary->remaining())
      return caf::sec::end_of_stream;
    auto [bytes, writable] = blob::uninitialised(size);
    if (size > 0)
      if (auto failed = f.apply_raw(size, writable)) return failed;
    x = std::move(bytes);
    return caf::none;
  } else {
    return f(caf::meta::type_name("blob"), x.size());
  }
}

}  // namespace troupe

namespace google::protobuf {

// Found for every generated message through its base class's namespace.
template <class Inspector, class T>
std::enable_if_t<std::is_base_of_v<Message, T>, typename Inspector::result_type> inspect(
    Inspector& f, T& x) {
  if constexpr (std::is_base_of_v<caf::serializer, Inspector>) {
    std::string bytes;
    if (!x.SerializeToString(&bytes)) return caf::sec::invalid_argument;
    return f(bytes);
  } else if constexpr (std::is_base_of_v<caf::deserializer, Inspector>) {
    std::string bytes;
    if (auto failed = f(bytes)) return failed;
    if (!x.ParseFromString(bytes)) return caf::sec::end_of_stream;
    return caf::none;
  } else {
    const auto name = x.GetTypeName();
    return f(caf::meta::type_name(name.c_str()));
  }
}

}  // namespace google::protobuf
