#include "config/writing.hpp"

#include "config/job.hpp"
#include "config/manifest.hpp"
#include "config/paths.hpp"
#include "config/schema.hpp"
#include "config/values.hpp"

namespace troupe::config {

namespace {

class writer {
 public:
  // TOML wants a section's own values before its subsections.
  void section(const Message& message, const std::string& path) {
    for (const auto* field : fields_of(*message.GetDescriptor())) values(message, *field);
    for (const auto* field : fields_of(*message.GetDescriptor()))
      subsections(message, *field, path);
  }
  std::string take() { return std::move(text_); }

 private:
  void values(const Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    if (shape_of(field) == shape::value && reflection.HasField(message, &field)) {
      line(field.name(), toml(facts_of(field), get(message, field)));
    } else if (shape_of(field) == shape::values && reflection.FieldSize(message, &field) > 0) {
      std::string items;
      for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
        items += (i ? ", " : "") + toml(facts_of(field), get_item(message, field, i));
      line(field.name(), "[" + items + "]");
    }
  }

  void subsections(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    const auto name = joined(path, field.name());
    switch (shape_of(field)) {
      case shape::section:
        if (!reflection.HasField(message, &field)) return;
        text_ += "\n[" + name + "]\n";
        return section(reflection.GetMessage(message, &field), name);
      case shape::sections:
        for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
          text_ += "\n[[" + name + "]]\n";
          section(reflection.GetRepeatedMessage(message, &field, i), name);
        }
        return;
      case shape::named_values:
        if (reflection.FieldSize(message, &field) == 0) return;
        text_ += "\n[" + name + "]\n";
        for (const auto* entry : sorted_entries(message, field))
          line(entry_name(*entry), toml(facts_of(field), get(*entry, value_field(field))));
        return;
      case shape::named_sections:
        for (const auto* entry : sorted_entries(message, field)) {
          const auto entry_path = joined(name, key_text(entry_name(*entry)));
          text_ += "\n[" + entry_path + "]\n";
          section(entry->GetReflection()->GetMessage(*entry, &value_field(field)), entry_path);
        }
        return;
      default:
        return;
    }
  }

  static std::string toml(const Key& facts, const scalar& value) {
    if (facts.kind() == Key::PATH) return quoted(written_path(std::get<std::string>(value)));
    return toml_of(facts, value);
  }
  void line(const std::string& name, const std::string& value) {
    text_ += key_text(name) + " = " + value + "\n";
  }

  std::string text_;
};

}  // namespace

std::string written(const Message& message) {
  writer w;
  w.section(message, "");
  auto text = w.take();
  return text.empty() ? text : text.substr(1);  // without the blank line before the first section
}

std::string to_toml(const Job& job) {
  return written(job);
}

std::string to_toml(const Manifest& manifest) {
  return written(manifest);
}

}  // namespace troupe::config
