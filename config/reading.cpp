#include "config/reading.hpp"

namespace troupe::config {

void reading::read(const node& tree, const path_base& paths) {
  paths_ = paths;
  read_section(root_, "", tree);
}

void reading::read_section(Message& into, const std::string& path, const node& table) {
  const auto& section = *into.GetDescriptor();
  for (const auto& entry : table.entries) {
    const auto key = joined(path, entry.key);
    if (const auto* field = section.FindFieldByName(entry.key)) {
      places_[key] = entry.value.where;
      read_field(into, *field, key, entry.value);
    } else {
      const auto meant = probable_key(*root_.GetDescriptor(), section, path, entry.key);
      faults_.add(entry.where, key,
                  meant.empty() ? "unknown key" : "unknown key; did you mean " + meant + "?");
    }
  }
}

void reading::read_field(Message& into, const FieldDescriptor& field, const std::string& key,
                         const node& value) {
  switch (shape_of(field)) {
    case shape::value:
      return read_value(into, field, key, value);
    case shape::values:
      return read_values(into, field, key, value);
    case shape::section:
      return read_section_or_shorthand(into, field, key, value);
    case shape::sections:
      return read_sections(into, field, key, value);
    case shape::named_values:
    case shape::named_sections:
      return read_entries(into, field, key, value);
  }
}

result<scalar> reading::checked(const FieldDescriptor& field, const Key& facts,
                                const node& value) const {
  auto read = scalar_of(field, facts, value);
  if (!read || facts.kind() != Key::PATH) return read;
  auto path = path_of(std::get<std::string>(*read), paths_);
  if (!path) return path.failure();
  return scalar{*std::move(path)};
}

void reading::read_value(Message& into, const FieldDescriptor& field, const std::string& key,
                         const node& value) {
  faults_.forget(key);
  const auto read = checked(field, facts_of(field), value);
  if (read) return set(into, field, *read);
  faults_.add(value.where, key, read.failure().text);
}

// A single value is a list of one.
void reading::read_values(Message& into, const FieldDescriptor& field, const std::string& key,
                          const node& value) {
  faults_.forget(key);
  into.GetReflection()->ClearField(&into, &field);
  const auto& facts = facts_of(field);
  const auto read_item = [&](const node& item) {
    const auto read = checked(field, facts, item);
    if (read) return add(into, field, *read);
    faults_.add(item.where, key, read.failure().text);
  };
  if (value.what != node::type::list) return read_item(value);
  for (const auto& item : value.items) read_item(item);
}

bool reading::is_table(const std::string& key, const node& value) {
  if (value.what == node::type::table) return true;
  faults_.add(value.where, key, "expected a section [" + key + "], found " + described(value));
  return false;
}

// updater = "ftrl" is short for updater.name = "ftrl".
void reading::read_section_or_shorthand(Message& into, const FieldDescriptor& field,
                                        const std::string& key, const node& value) {
  auto& section = *into.GetReflection()->MutableMessage(&into, &field);
  const auto& shorthand = facts_of(field).shorthand();
  if (!shorthand.empty() && value.what == node::type::text) {
    const auto name = joined(key, shorthand);
    places_[name] = value.where;
    return read_value(section, *section.GetDescriptor()->FindFieldByName(shorthand), name, value);
  }
  if (is_table(key, value)) read_section(section, key, value);
}

// A single table is a list of one.
void reading::read_sections(Message& into, const FieldDescriptor& field, const std::string& key,
                            const node& value) {
  faults_.forget(key);
  const auto& reflection = *into.GetReflection();
  reflection.ClearField(&into, &field);
  const auto read_item = [&](const node& item) {
    places_[key + "[" + std::to_string(reflection.FieldSize(into, &field) + 1) + "]"] = item.where;
    if (is_table(key, item)) read_section(*reflection.AddMessage(&into, &field), key, item);
  };
  if (value.what != node::type::list) return read_item(value);
  for (const auto& item : value.items) read_item(item);
}

void reading::read_entries(Message& into, const FieldDescriptor& field, const std::string& key,
                           const node& value) {
  if (!is_table(key, value)) return;
  const auto& value_of_entry = value_field(field);
  for (const auto& entry : value.entries) {
    const auto name = joined(key, entry.key);
    places_[name] = entry.value.where;
    if (shape_of(field) == shape::named_values) faults_.forget(name);
    if (entry.key.empty()) {
      faults_.add(entry.where, key, "an empty name is not allowed");
    } else if (shape_of(field) == shape::named_sections) {
      auto& made = entry_of(into, field, entry.key);
      if (is_table(name, entry.value))
        read_section(*made.GetReflection()->MutableMessage(&made, &value_of_entry), name,
                     entry.value);
    } else if (const auto read = checked(value_of_entry, facts_of(field), entry.value)) {
      set(entry_of(into, field, entry.key), value_of_entry, *read);
    } else {
      faults_.add(entry.value.where, name, read.failure().text);
    }
  }
}

void reading::finish(const std::string& source, const path_base& paths) {
  source_ = source;
  paths_ = paths;
  fill(root_, "");
}

// What inherits, and the sections that the user names, stay as they are written.
void reading::fill(Message& section, const std::string& path) {
  const auto& reflection = *section.GetReflection();
  for (const auto* field : fields_of(*section.GetDescriptor())) {
    const auto& facts = facts_of(*field);
    const auto key = joined(path, field->name());
    if (!facts.inherits().empty()) continue;
    const auto what = shape_of(*field);
    if (what == shape::section) {
      fill(*reflection.MutableMessage(&section, field), key);
    } else if (what == shape::sections) {
      for (int i = 0; i < reflection.FieldSize(section, field); ++i)
        fill(*reflection.MutableRepeatedMessage(&section, field, i), key);
    } else if (what == shape::value && !reflection.HasField(section, field)) {
      auto value = default_of(*field);
      if (facts.kind() == Key::PATH) value = *path_of(std::get<std::string>(value), paths_);
      set(section, *field, value);
    } else if (what == shape::values && facts.required() &&
               reflection.FieldSize(section, field) == 0 && !faults_.concern(key)) {
      faults_.add(place_of(key, source_), key, "is missing, and has no default");
    }
  }
}

place reading::place_of(const std::string& key, const std::string& source) const {
  for (auto path = key; !path.empty();) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const auto dot = path.rfind('.');
    path.resize(dot == std::string::npos ? 0 : dot);
  }
  return {source};
}

}  // namespace troupe::config
