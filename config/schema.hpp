#pragma once
// The schema as loader, writer and reference see it: descriptors with what config/key.proto says of
// them.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "config/key.pb.h"

namespace troupe::config {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const Key& facts_of(const FieldDescriptor& field);

// What stands at a field. A map is a section whose keys the user names, of single values or of
// sections.
enum class shape { value, values, section, sections, named_values, named_sections };
shape shape_of(const FieldDescriptor& field);

// The field of a map's values; of anything else the field itself.
const FieldDescriptor& value_field(const FieldDescriptor& field);

std::vector<const FieldDescriptor*> fields_of(const Descriptor& section);
std::string joined(const std::string& section,
                   const std::string& key);  // "training" and "epochs" to "training.epochs"

// The key of the file `root` that `word`, unknown in the section at `path`, probably meant: a near
// one of the section, or one of the same name elsewhere; empty if there is none.
std::string probable_key(const Descriptor& root, const Descriptor& section, const std::string& path,
                         const std::string& word);

// The entries of a map field, by name.
std::vector<const Message*> sorted_entries(const Message& message, const FieldDescriptor& map);
std::string entry_name(const Message& entry);
// The entry of that name, added if there is none.
Message& entry_of(Message& message, const FieldDescriptor& map, const std::string& name);

}  // namespace troupe::config
