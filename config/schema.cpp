#include "config/schema.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace troupe::config {

namespace {

// All keys below a section that the user does not name, "training.updater.rate".
void collect(const Descriptor& section, const std::string& path, std::vector<std::string>& keys) {
  for (const auto* field : fields_of(section)) {
    const auto key = joined(path, field->name());
    keys.push_back(key);
    if (shape_of(*field) == shape::section) collect(*field->message_type(), key, keys);
  }
}

std::string leaf(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

const Key& facts_of(const FieldDescriptor& field) {
  return field.options().GetExtension(about);
}

shape shape_of(const FieldDescriptor& field) {
  if (field.is_map())
    return field.message_type()->map_value()->message_type() ? shape::named_sections
                                                             : shape::named_values;
  if (field.message_type()) return field.is_repeated() ? shape::sections : shape::section;
  return field.is_repeated() ? shape::values : shape::value;
}

const FieldDescriptor& value_field(const FieldDescriptor& field) {
  return field.is_map() ? *field.message_type()->map_value() : field;
}

std::vector<const FieldDescriptor*> fields_of(const Descriptor& section) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < section.field_count(); ++i) fields.push_back(section.field(i));
  return fields;
}

std::string joined(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

std::string probable_key(const Descriptor& root, const Descriptor& section, const std::string& path,
                         const std::string& word) {
  std::vector<std::string> here, everywhere;
  for (const auto* field : fields_of(section)) here.push_back(field->name());
  if (const auto near = nearest(word, here); !near.empty()) return joined(path, near);
  for (const auto& known : here)
    if (word.size() > 2 && known.rfind(word, 0) == 0) return joined(path, known);
  collect(root, "", everywhere);
  for (const auto& known : everywhere)
    if (leaf(known) == word) return known;
  return "";
}

std::vector<const Message*> sorted_entries(const Message& message, const FieldDescriptor& map) {
  std::vector<const Message*> entries;
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &map); ++i)
    entries.push_back(&reflection.GetRepeatedMessage(message, &map, i));
  std::sort(entries.begin(), entries.end(),
            [](const Message* a, const Message* b) { return entry_name(*a) < entry_name(*b); });
  return entries;
}

std::string entry_name(const Message& entry) {
  return entry.GetReflection()->GetString(entry, entry.GetDescriptor()->map_key());
}

Message& entry_of(Message& message, const FieldDescriptor& map, const std::string& name) {
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &map); ++i) {
    auto* entry = reflection.MutableRepeatedMessage(&message, &map, i);
    if (entry_name(*entry) == name) return *entry;
  }
  auto* added = reflection.AddMessage(&message, &map);
  added->GetReflection()->SetString(added, added->GetDescriptor()->map_key(), name);
  return *added;
}

}  // namespace troupe::config
