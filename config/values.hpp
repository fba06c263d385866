#pragma once
// One value of a key: from TOML, checked against the key's type, range and words, to protobuf, and
// back to TOML.

#include <cstdint>
#include <string>
#include <variant>

#include "config/schema.hpp"
#include "config/toml_tree.hpp"
#include "core/result.hpp"

namespace troupe::config {

using scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

// `field` gives the type (for a map that of its values), `facts` the rest. An error says what is
// wrong with the value, and neither where nor of which key. Paths come as they are written.
result<scalar> scalar_of(const FieldDescriptor& field, const Key& facts, const node& value);

// The default; needs facts_of(field).has_default().
scalar default_of(const FieldDescriptor& field);

// As a job file would have it: scalar_of(toml_of(x)) is x.
std::string toml_of(const Key& facts, const scalar& value);

void set(Message& message, const FieldDescriptor& field, const scalar& value);
void add(Message& message, const FieldDescriptor& field, const scalar& value);
scalar get(const Message& message, const FieldDescriptor& field);
scalar get_item(const Message& message, const FieldDescriptor& field, int index);

}  // namespace troupe::config
