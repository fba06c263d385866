#pragma once
// A real data set that every Debian machine carries: its own package index. Some 30,000 packages
// have debtags, put there by people; whether the tag role::program is among them is to be predicted
// from what else the index says.
//
// A row is a tagged package, in the order of package names; every fifth row is a test row. Its
// features, all of value 1:
//   word:W      W a run of letters a-z of the lower-cased short description
//   depends:P   P a package named in Depends, alternatives included, versions left out
//   section:S   the archive section
// A feature's key is XXH64 of that name with seed 0, so it needs no dictionary to be built first;
// the dictionary beside the data turns keys back into names.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe::apps {

struct tagged_package {
  std::string name;
  bool program = false;
  std::vector<std::string> features;  // names, sorted, each once
};

// Reads what `apt-cache dumpavail` prints; packages without tags are left out, the rest come in the
// order of their names. Of several stanzas for one package the first counts.
std::vector<tagged_package> parse_package_index(std::string_view index);

struct corpus_facts {
  std::uint64_t train_rows = 0, test_rows = 0;
  std::uint64_t programs = 0;        // rows of either kind that are labelled +1
  std::uint64_t train_features = 0;  // distinct features of the training rows
  std::uint64_t features = 0;        // of all rows
};

// Writes train.svm and test.svm (LIBSVM text, labels +1 and -1, 64-bit indices that are the keys:
// index_base 0) and names.tsv ("key<TAB>name", by key) into the folder, which is made if absent.
// The same index gives the same bytes.
result<corpus_facts> write_debian_corpus(file_system& files, const std::string& folder,
                                         std::string_view index);

// The output of `apt-cache dumpavail` on this machine.
result<std::string> dump_package_index();

}  // namespace troupe::apps
