#pragma once
// From the tree of a file to its protobuf message, by reflection. Collects all that is wrong;
// what is wrong is left out of the message.

#include <map>
#include <string>

#include "config/findings.hpp"
#include "config/paths.hpp"
#include "config/schema.hpp"
#include "config/toml_tree.hpp"
#include "config/values.hpp"

namespace troupe::config {

class reading {
 public:
  // The whole of the file's message: of a job, or a manifest. It outlives the reading.
  explicit reading(Message& root) : root_(root) {}
  // Reads a tree into it. Values replace those read before, lists as a whole.
  void read(const node& tree, const path_base& paths);
  // Fills defaults in; `source` is where a missing key is missed.
  void finish(const std::string& source, const path_base& paths);

  findings& faults() { return faults_; }
  // Where a key, or else its nearest section, was written last; {source} if nowhere.
  place place_of(const std::string& key, const std::string& source) const;

 private:
  void read_section(Message& into, const std::string& path, const node& table);
  void read_field(Message& into, const FieldDescriptor& field, const std::string& key,
                  const node& value);
  void read_value(Message& into, const FieldDescriptor& field, const std::string& key,
                  const node& value);
  void read_values(Message& into, const FieldDescriptor& field, const std::string& key,
                   const node& value);
  void read_section_or_shorthand(Message& into, const FieldDescriptor& field,
                                 const std::string& key, const node& value);
  void read_sections(Message& into, const FieldDescriptor& field, const std::string& key,
                     const node& value);
  void read_entries(Message& into, const FieldDescriptor& field, const std::string& key,
                    const node& value);
  result<scalar> checked(const FieldDescriptor& field, const Key& facts, const node& value) const;
  void fill(Message& section, const std::string& path);
  bool is_table(const std::string& key, const node& value);

  Message& root_;
  findings faults_;
  std::map<std::string, place> places_;
  path_base paths_;
  std::string source_;
};

}  // namespace troupe::config
