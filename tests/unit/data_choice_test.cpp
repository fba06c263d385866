#include <doctest/doctest.h>

#include <set>

#include "actors/worker/data/row_choice.hpp"
#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

data_options choosing(row_choice choice) {
  auto options = small_blocks();
  options.rows = choice;
  return options;
}

std::multiset<std::string> rows_of(const dataset& set) {
  std::multiset<std::string> rows;
  for (std::size_t b = 0; b < set.blocks().size(); ++b) {
    const auto block = *set.load_block(b);
    for (std::size_t r = 0; r < block->rows(); ++r) {
      std::string text = std::to_string(block->label[r]);
      for (const auto& f : block->row(r).features)
        text += " " + std::to_string(f.key) + ":" + std::to_string(f.value);
      rows.insert(text);
    }
  }
  return rows;
}

row_choice fraction(row_choice::part which, double share, std::uint64_t seed = 3) {
  row_choice choice;
  choice.which = which;
  choice.validation_fraction = share;
  choice.seed = seed;
  return choice;
}

}  // namespace

TEST_CASE("training and validation rows are all rows, apart, in about the proportion asked for") {
  const temporary_folder folder;
  const auto lines = random_lines(4000, 5);
  write_file(folder / "a", joined(lines));
  const auto all = opened(folder, {folder / "a"});
  using part = row_choice::part;
  const auto train = opened(folder, {folder / "a"}, choosing(fraction(part::training, 0.25)));
  const auto held = opened(folder, {folder / "a"}, choosing(fraction(part::validation, 0.25)));
  auto both = rows_of(*train);
  both.merge(rows_of(*held));
  CHECK(both == rows_of(*all));
  CHECK(held->rows() > 850);
  CHECK(held->rows() < 1150);
  // Equal rows are on one side, wherever they stand.
  const auto on_both = [&] {
    const auto a = rows_of(*train);
    for (const auto& row : rows_of(*held))
      if (a.count(row)) return true;
    return false;
  };
  CHECK_FALSE(on_both());
  // The same rows in another order and in two files: the same choice; another seed: another one.
  auto turned = lines;
  std::reverse(turned.begin(), turned.end());
  write_file(folder / "b", joined({turned.begin(), turned.begin() + 1500}));
  write_file(folder / "c", joined({turned.begin() + 1500, turned.end()}));
  const auto again =
      opened(folder, {folder / "b", folder / "c"}, choosing(fraction(part::validation, 0.25)));
  CHECK(rows_of(*again) == rows_of(*held));
  const auto other = opened(folder, {folder / "a"}, choosing(fraction(part::validation, 0.25, 4)));
  CHECK(rows_of(*other) != rows_of(*held));
}

TEST_CASE("rows of one group are on one side") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "1 qid:" + std::to_string(i % 100) + " " + std::to_string(i + 1) + ":1\n";
  write_file(folder / "a", text);
  std::set<std::uint64_t> sides[2];
  for (const auto which : {row_choice::part::training, row_choice::part::validation}) {
    const auto set = opened(folder, {folder / "a"}, choosing(fraction(which, 0.4)));
    for (std::size_t b = 0; b < set->blocks().size(); ++b) {
      const auto block = *set->load_block(b);
      for (const auto g : block->group) sides[which == row_choice::part::training].insert(g);
    }
  }
  CHECK(sides[0].size() + sides[1].size() == 100);
  CHECK(sides[0].size() > 20);
}

TEST_CASE("negative rows are dropped as the seed draws them, and counted; positive ones never") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 4000; ++i) text += i % 4 == 0 ? "1 1:1\n" : "0 2:1\n";
  write_file(folder / "a", text);
  row_choice choice;
  choice.negative_keep = 0.1;
  choice.seed = 1;
  const auto set = opened(folder, {folder / "a"}, choosing(choice));
  const auto& labels = set->facts().labels;
  CHECK(labels.at(1) == 1000);
  CHECK(labels.at(0) > 240);
  CHECK(labels.at(0) < 360);
  CHECK(set->dropped_negatives() == 3000 - labels.at(0));
  choice.seed = 2;
  CHECK(opened(folder, {folder / "a"}, choosing(choice))->facts().labels.at(0) != labels.at(0));
}

TEST_CASE("the names of hashed features are kept beside the cache, up to their bound") {
  const temporary_folder folder;
  write_file(folder / "a", "y,c\n1,red\n0,blue\n1,red\n0,green\n");
  auto options = small_blocks();
  options.format = "csv";
  options.reading.csv.columns = {{"y", "label"}, {"c", "category"}};
  CHECK(opened(folder, {folder / "a"}, options)->names_path().empty());
  options.max_names = 2;
  const auto set = opened(folder, {folder / "a"}, options);
  const auto key = [](const char* name) { return std::to_string(xxh64(name, xxh64("c", 0))); };
  CHECK(read_file(set->names_path()) == key("red") + "\tc=red\n" + key("blue") + "\tc=blue\n");
}
