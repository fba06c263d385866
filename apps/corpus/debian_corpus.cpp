#include "apps/corpus/debian_corpus.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/hash.hpp"

namespace troupe::apps {
namespace {

constexpr std::size_t test_every = 5;

// The fields of a stanza that matter, with their continuation lines; of the description the first
// line only.
struct stanza {
  std::string package, depends, section, tags, description;

  std::string* field(std::string_view name) {
    if (name == "Package") return &package;
    if (name == "Depends") return &depends;
    if (name == "Section") return &section;
    if (name == "Tag") return &tags;
    if (name == "Description") return &description;
    return nullptr;
  }
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Cuts off and returns what stands before `mark`; all of it when there is none.
std::string_view take_until(std::string_view& rest, std::string_view marks) {
  const auto at = std::min(rest.find_first_of(marks), rest.size());
  const auto taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

void add_words(std::string_view description, std::vector<std::string>& features) {
  std::string word;
  for (std::size_t i = 0; i <= description.size(); ++i) {
    auto c = i < description.size() ? description[i] : ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else if (!word.empty()) {
      features.push_back("word:" + word);
      word.clear();
    }
  }
}

void add_dependencies(std::string_view depends, std::vector<std::string>& features) {
  while (!depends.empty()) {
    auto alternative = trimmed(take_until(depends, ",|"));
    const auto name = take_until(alternative, " \t\n(");
    if (!name.empty()) features.push_back("depends:" + std::string(name));
  }
}

bool has_tag(std::string_view tags, std::string_view wanted) {
  while (!tags.empty())
    if (trimmed(take_until(tags, ",")) == wanted) return true;
  return false;
}

tagged_package package_of(const stanza& s) {
  tagged_package p;
  p.name = s.package;
  p.program = has_tag(s.tags, "role::program");
  add_words(s.description, p.features);
  add_dependencies(s.depends, p.features);
  if (!s.section.empty()) p.features.push_back("section:" + s.section);
  std::sort(p.features.begin(), p.features.end());
  p.features.erase(std::unique(p.features.begin(), p.features.end()), p.features.end());
  return p;
}

using dictionary = std::map<std::uint64_t, std::string>;

result<std::string> row_text(const tagged_package& package, dictionary& names) {
  std::vector<std::uint64_t> keys;
  for (const auto& feature : package.features) {
    const auto key = xxh64(feature, 0);
    const auto& known = names.emplace(key, feature).first->second;
    if (known != feature)
      return error{errc::bad_data, "the features '" + known + "' and '" + feature +
                                       "' hash to one key, " + std::to_string(key)};
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  std::string row = package.program ? "+1" : "-1";
  for (const auto key : keys) row += " " + std::to_string(key) + ":1";
  return row + "\n";
}

std::string dictionary_text(const dictionary& names) {
  std::string text;
  for (const auto& [key, name] : names) text += std::to_string(key) + "\t" + name + "\n";
  return text;
}

}  // namespace

std::vector<tagged_package> parse_package_index(std::string_view index) {
  std::vector<tagged_package> packages;
  stanza present;
  std::string* field = nullptr;
  const auto end_stanza = [&] {
    if (!present.package.empty() && !trimmed(present.tags).empty())
      packages.push_back(package_of(present));
    present = {};
    field = nullptr;
  };
  while (!index.empty()) {
    auto line = take_until(index, "\n");
    if (trimmed(line).empty()) {
      end_stanza();
    } else if (line[0] == ' ' || line[0] == '\t') {
      if (field != nullptr && field != &present.description) *field += "\n" + std::string(line);
    } else {
      field = present.field(take_until(line, ":"));
      if (field != nullptr) *field = std::string(trimmed(line));
    }
  }
  end_stanza();
  const auto by_name = [](const tagged_package& a, const tagged_package& b) {
    return a.name < b.name;
  };
  const auto same_name = [](const tagged_package& a, const tagged_package& b) {
    return a.name == b.name;
  };
  std::stable_sort(packages.begin(), packages.end(), by_name);
  packages.erase(std::unique(packages.begin(), packages.end(), same_name), packages.end());
  return packages;
}

result<corpus_facts> write_debian_corpus(file_system& files, const std::string& folder,
                                         std::string_view index) {
  const auto packages = parse_package_index(index);
  if (packages.size() < test_every)
    return error{errc::bad_data,
                 "the package index names no tagged packages; run 'apt-get update' as root, then "
                 "try again"};
  corpus_facts facts;
  dictionary names, train_names;
  std::string train, test;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    const bool is_test = i % test_every == test_every - 1;
    auto row = row_text(packages[i], names);
    if (!row) return row.failure();
    (is_test ? test : train) += *row;
    ++(is_test ? facts.test_rows : facts.train_rows);
    facts.programs += packages[i].program ? 1 : 0;
    if (!is_test)
      for (const auto& feature : packages[i].features) train_names.emplace(xxh64(feature, 0), "");
  }
  facts.train_features = train_names.size();
  facts.features = names.size();

  const std::pair<const char*, std::string> pages[] = {{"/train.svm", std::move(train)},
                                                       {"/test.svm", std::move(test)},
                                                       {"/names.tsv", dictionary_text(names)}};
  if (auto made = files.create_folders(folder); !made) return made.failure();
  for (const auto& [name, text] : pages)
    if (auto written = write_text_atomically(files, folder + name, text); !written)
      return written.failure();
  return facts;
}

}  // namespace troupe::apps
