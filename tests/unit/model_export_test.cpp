#include <doctest/doctest.h>

#include <limits>
#include <sstream>

#include "apps/model/text_export.hpp"
#include "tests/support/model_making.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

saved_model made(const temporary_folder& folder, const std::string& type,
                 const std::vector<numbers_by_key>& tables) {
  std::vector<pb::TableSpec> specs = {table_message("weights", type)};
  if (tables.size() > 1) specs.push_back(table_message("bias", type));
  const auto files = posix_file_system();
  REQUIRE(save(*files, folder / "model", description_of(specs), tables).ok());
  auto loaded = load_model(*files, folder / "model");
  REQUIRE(loaded.ok());
  return *loaded;
}

std::string text_of(const saved_model& model, const dictionary& names,
                    text_export_options options = {}) {
  std::ostringstream out;
  REQUIRE(export_text(model, names, options, out).ok());
  auto text = out.str();
  return text.substr(text.find("# table"));
}

}  // namespace

TEST_CASE("text has keys in their order, the shortest exact digits, and names where known") {
  temporary_folder folder;
  const auto model =
      made(folder, "f32", {{{10, 0.1f}, {9, -2}, {~key_id{0}, 1e-30f}, {3, 0}}, {{0, 0.25}}});
  const auto names = *dictionary::parse("9\tnine\n0\tzero\n", "names");
  CHECK(text_of(model, names) ==
        "# table weights: f32, 1 value to a key, 4 rows\n"
        "3\t0\n"
        "9\t-2\tnine\n"
        "10\t0.1\n"
        "18446744073709551615\t1e-30\n"
        "# table bias: f32, 1 value to a key, 1 rows\n"
        "0\t0.25\n");
  const auto short_text = text_of(model, {}, {true});
  CHECK(short_text.find("\n3\t") == std::string::npos);
  CHECK(short_text.find("\n9\t-2\n") != std::string::npos);

  std::ostringstream whole;
  REQUIRE(export_text(model, {}, {}, whole).ok());
  CHECK(whole.str().rfind("# troupe model: linear, logistic loss, job test, digest " +
                              model.manifest.model_digest() +
                              "\n# a key is a feature's number less 1\n",
                          0) == 0);
}

TEST_CASE("numbers of 64 bits survive being text") {
  temporary_folder folder;
  const double values[] = {1.0 / 3, 5e-324, std::numeric_limits<double>::max(), -0.1};
  numbers_by_key weights;
  for (std::size_t i = 0; i < 4; ++i) weights[i] = values[i];
  std::istringstream text(text_of(made(folder, "f64", {weights}), {}));
  std::string line;
  std::getline(text, line);
  for (const double value : values) {
    std::getline(text, line);
    CHECK(std::strtod(line.c_str() + 2, nullptr) == value);
  }
}

TEST_CASE("a dictionary that is none is refused with file and line") {
  for (const auto* wrong : {"1\tone\n\n# fine\ntwo\t2\n", "1\tone\n2 two\n3\tx", "-1\tx",
                            "18446744073709551616\ttoo large", "5"}) {
    CAPTURE(wrong);
    const auto parsed = dictionary::parse(wrong, "names.tsv");
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.failure().code == errc::bad_data);
  }
  CHECK(dictionary::parse("1\tone\n\n#\n2 two\n", "names.tsv").failure().text ==
        "names.tsv:4: a line of a dictionary is a key, a tab and a name");
  const auto fine = *dictionary::parse("1\tone\r\n18446744073709551615\ta\tb\n1\tother", "names");
  CHECK(fine.name(1) == "one");
  CHECK(fine.name(~key_id{0}) == "a\tb");
  CHECK(fine.name(2).empty());
}

TEST_CASE("the most telling features are the largest and the smallest weights") {
  temporary_folder folder;
  numbers_by_key weights;
  for (key_id key = 0; key < 100; ++key)
    weights[key] = static_cast<double>(key % 50) - 24;  // each twice, -24 to 25
  const auto model = made(folder, "f64", {weights});
  const auto names = *dictionary::parse("49\tgame\n50\tlibrary\n", "names");
  const auto telling = most_telling(*model.tables[0], names, 3);
  REQUIRE(telling.positive.size() == 3);
  REQUIRE(telling.negative.size() == 3);
  CHECK(telling.positive[0].key == 49);
  CHECK(telling.positive[0].value == 25);
  CHECK(telling.positive[0].name == "game");
  CHECK(telling.positive[1].key == 99);
  CHECK(telling.positive[2].key == 48);
  CHECK(telling.negative[0].key == 0);
  CHECK(telling.negative[1].key == 50);
  CHECK(telling.negative[1].name == "library");
  CHECK(most_telling(*model.tables[0], names, 0).positive.empty());
  CHECK(most_telling(*model.tables[0], names, 1000).negative.size() == 48);

  std::ostringstream out;
  print(most_telling(*model.tables[0], names, 2), out);
  CHECK(out.str() ==
        "   +25.0000  game                          -24.0000  key 0\n"
        "   +25.0000  key 99                        -24.0000  library\n");
}
