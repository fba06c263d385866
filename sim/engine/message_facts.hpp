#pragma once
// What a message is called in reports and how many bytes it is on the wire, found without writing
// it: 8 for an atom or a number, and for a blob or a protobuf message a length (4) and its bytes.

#include <caf/type_erased_tuple.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <typeindex>
#include <unordered_map>

#include "sim/record/recorder.hpp"

namespace troupe::sim {

class message_facts {
 public:
  explicit message_facts(recorder& names);  // outlives it

  // The atom of a request, "reply" and its type for a reply.
  message_kind kind(const caf::type_erased_tuple& content);
  std::uint64_t bytes(const caf::type_erased_tuple& content) const;

 private:
  recorder& names_;
  // Looked up, never walked.
  std::unordered_map<std::type_index, std::function<std::uint64_t(const void*)>> size_of_;
  std::unordered_map<std::type_index, message_kind> by_type_;
  std::unordered_map<std::uint64_t, message_kind> by_atom_;
};

}  // namespace troupe::sim
