#include <algorithm>

#include "config/job.hpp"
#include "config/manifest.hpp"
#include "config/scenario.hpp"
#include "config/schema.hpp"
#include "config/values.hpp"

namespace troupe::config {

namespace {

// "1 to 16777216", "above 0, at most 1e6", "from 0, below 1".
std::string range_of(const Key& facts) {
  if (!facts.least().empty() && !facts.most().empty()) return facts.least() + " to " + facts.most();
  const auto lower = facts.least().empty() ? "above " + facts.above() : "from " + facts.least();
  const auto upper = facts.most().empty() ? "below " + facts.below() : "at most " + facts.most();
  return lower + ", " + upper;
}

template <class Words>
std::string listed(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + quoted(word);
  return text;
}

std::string number_type(const char* name, const Key& facts) {
  auto text = std::string(name) + ", " + range_of(facts);
  if (!facts.unit().empty()) text += " " + facts.unit();
  if (!facts.minus_one().empty()) text += ", or " + quoted(facts.minus_one());
  return text;
}

std::string type_of(const FieldDescriptor& field, const Key& facts) {
  switch (facts.kind()) {
    case Key::DURATION:
      return number_type("duration", facts);
    case Key::SIZE:
      return number_type("size", facts);
    case Key::FEATURE_KEY:
      return number_type("key", facts);
    case Key::LABEL:
      return "number, or " + listed(facts.words());
    case Key::PATH:
      return field.is_repeated() ? "path, or list of paths" : "path";
    default:
      break;
  }
  switch (value_field(field).cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number_type(field.is_repeated() ? "list of numbers" : "number", facts);
    case FieldDescriptor::CPPTYPE_STRING:
      if (!facts.words().empty()) return "one of " + listed(facts.words());
      if (!facts.known().empty()) return listed(facts.known()) + ", or a registered name";
      return "text";
    default:
      return number_type("whole number", facts);
  }
}

std::string default_text(const FieldDescriptor& field) {
  const auto& facts = facts_of(field);
  if (facts.required()) return "none: must be given";
  if (!facts.inherits().empty()) return "as " + facts.inherits();
  if (field.is_map()) return "none";
  if (field.is_repeated()) return "[]";
  return toml_of(facts, default_of(field));
}

// A heading of the reference and the keys under it.
struct part {
  std::string title;  // "[training.updater]", "[[debug.throws]]", "[tables.NAME]"
  std::string doc;
  bool optional;  // is written only where wanted: lists of sections, and those with names
  std::vector<const FieldDescriptor*> keys;
  const FieldDescriptor* named = nullptr;  // the map whose values the user names
};

// Sections in the order of the schema, subsections after their section. Those of a table are the
// same as elsewhere and are not repeated.
void collect(const Descriptor& section, const std::string& path, bool optional,
             std::vector<part>& parts) {
  for (const auto* field : fields_of(section)) {
    const auto& facts = facts_of(*field);
    const auto name = joined(path, field->name());
    const auto what = shape_of(*field);
    if (what == shape::value || what == shape::values || !facts.inherits().empty()) continue;
    part p;
    p.doc = facts.doc();
    p.optional = optional || what != shape::section;
    p.title = what == shape::sections         ? "[[" + name + "]]"
              : what == shape::named_sections ? "[" + joined(name, facts.entry()) + "]"
                                              : "[" + name + "]";
    if (what == shape::named_values) {
      p.named = field;
      parts.push_back(std::move(p));
      continue;
    }
    const auto& message = *value_field(*field).message_type();
    for (const auto* key : fields_of(message))
      if (!key->is_map() && (!key->message_type() || !facts_of(*key).inherits().empty()))
        p.keys.push_back(key);
    if (!p.keys.empty()) parts.push_back(p);
    collect(message, name, p.optional, parts);
  }
}

std::vector<part> parts_of_reference(const Descriptor& root) {
  std::vector<part> parts;
  collect(root, "", false, parts);
  return parts;
}

std::string type_in_reference(const FieldDescriptor& key) {
  return key.message_type() ? "section, or text for its " + facts_of(key).shorthand()
                            : type_of(key, facts_of(key));
}

std::string comment(const std::string& text) {
  constexpr std::size_t width = 98;
  std::string out, line = "#";
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (line.size() + 1 + end - at > width) {
      out += line + "\n";
      line = "#";
    }
    line += " " + text.substr(at, end - at);
    at = end + 1;
  }
  return out + line + "\n";
}

std::string key_entry(const part& section, const FieldDescriptor& key) {
  const auto& facts = facts_of(key);
  const bool unwritten = section.optional || facts.required() || !facts.inherits().empty();
  auto text = "\n" + comment(facts.doc());
  text += comment("(" + type_in_reference(key) + (facts.required() ? "; must be given" : "") + ")");
  if (facts.required()) return text + "# " + key.name() + " = [\"train.svm\"]\n";
  if (!facts.inherits().empty())
    return text + "# " + key.name() + " = ...  # " + default_text(key) + "\n";
  return text + (unwritten ? "# " : "") + key.name() + " = " + default_text(key) + "\n";
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

constexpr const char* introduction =
    R"(A job is one TOML file. Every key has a default, but for `data.train`; what a file leaves out is as below. A key
that is not below is an error, and so is a value out of its range: `troupe` names all of them, with file, line and
the key that was probably meant, before it starts.

* `--set training.epochs=3` on the command line replaces what the file says; text needs no quotes there.
* A duration is a number with a unit in quotes, `"200 ms"`: ns, us, ms, s, min, h or d. A size is one too, `"64 MiB"`:
  B, kB, MB, GB, TB or KiB, MiB, GiB, TiB; or a plain number of bytes.
* A path in a file is relative to the file's folder; one on the command line, one left out, and one that begins with a
  variable is relative to the current folder. `${NAME}` stands for an environment variable, `$$` for a dollar.
* Where a list is wanted, a single value is a list of one.
* `updater = "ftrl"` is short for `updater.name = "ftrl"`, `schedule = "step"` for `schedule.name`, and
  `initialiser = "zero"` for `initialiser.kind`.
* `[tables.weights]` changes a single table: `tables.bias.updater.rate = 0.05`, say.
)";

}  // namespace

std::string reference_text() {
  std::string text =
      "# Every key of a job file, with what it means, the values it takes, and its default.\n"
      "# This is a job file itself, in which nothing is changed: data.train is all that it "
      "lacks.\n";
  for (const auto& p : parts_of_reference(*Job::descriptor())) {
    text += "\n\n" + comment(p.doc) + (p.optional ? "# " : "") + p.title + "\n";
    for (const auto* key : p.keys) text += key_entry(p, *key);
    if (p.named) {
      const auto& facts = facts_of(*p.named);
      text +=
          "\n" + comment("(" + type_of(*p.named, facts) + ")") + "# " + facts.entry() + " = ...\n";
    }
  }
  return text;
}

namespace {

std::string tables_of(const Descriptor& root) {
  std::string text;
  for (const auto& p : parts_of_reference(root)) {
    text += "\n## `" + p.title + "`\n\n" + p.doc +
            "\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const auto* key : p.keys) {
      const auto& facts = facts_of(*key);
      const auto preset = default_text(*key);
      const bool words = facts.required() || !facts.inherits().empty();
      text += "| `" + key->name() + "` | " + cell(type_in_reference(*key)) + " | " +
              (words ? preset : "`" + preset + "`") + " | " + cell(facts.doc()) + " |\n";
    }
    if (p.named) {
      const auto& facts = facts_of(*p.named);
      text += "| `" + facts.entry() + "` | " + cell(type_of(*p.named, facts)) + " | none | " +
              cell(facts.doc()) + " |\n";
    }
  }
  return text;
}

constexpr const char* scenario_introduction =
    R"(A scenario is a TOML file, written as job files are (docs/configuration.md). docs/chaos.md says how to write one.
)";

constexpr const char* manifest_introduction =
    R"(A manifest says which nodes make a cluster, and where they are. It is a TOML file, written as job files are
(docs/configuration.md), and the same on all machines; paths in it are relative to its folder.
)";

}  // namespace

std::string reference_markdown() {
  return "# Configuration\n\n" + std::string(introduction) +
         "\nThis page is printed by `troupe config --markdown`; `troupe config` prints the same as "
         "a job file.\n" +
         tables_of(*Job::descriptor());
}

std::string scenario_reference_markdown() {
  return "# Scenarios\n\n" + std::string(scenario_introduction) +
         "\nThis page is printed by `troupe chaos --markdown`.\n" +
         tables_of(*Scenario::descriptor());
}

std::string manifest_reference_markdown() {
  return "# The manifest\n\n" + std::string(manifest_introduction) +
         "\nThis page is printed by `troupe manifest --markdown`.\n" +
         tables_of(*Manifest::descriptor());
}

}  // namespace troupe::config
