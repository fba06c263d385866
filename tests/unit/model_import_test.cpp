#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <sstream>

#include "apps/linear/liblinear_format.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/linear/saved_linear.hpp"
#include "apps/model/npz.hpp"
#include "apps/model/text_export.hpp"
#include "tests/support/model_making.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

const auto disk = posix_file_system();

// A model with optimiser state in its rows.
void save_some(const std::string& folder, const std::string& type, const numbers_by_key& weights,
               const numbers_by_key& bias, const std::string& names = {}) {
  std::vector<pb::TableSpec> specs = {table_message("weights", type), table_message("bias", type)};
  for (auto& spec : specs)
    for (const auto* name : {"alpha", "beta"}) {
      auto* number = spec.add_parameters();
      number->set_name(name);
      number->set_value(0.5);
    }
  REQUIRE(save(*disk, folder, description_of(specs), {weights, bias}, names).ok());
}

void export_as(const std::string& format, const std::string& folder, const std::string& path,
               const std::string& names) {
  const auto model = load_model(*disk, folder, model_content::values_and_state);
  REQUIRE(model.ok());
  if (format == "npz") {
    REQUIRE(write_npz(*model, names, false, path).ok());
    return;
  }
  std::ostringstream out;
  REQUIRE(export_text(*model, *dictionary::parse(names, "names"), {}, out).ok());
  write_file(path, out.str());
}

numbers_by_key random_numbers(const std::string& type) {
  numbers_by_key numbers;
  const auto keys = *rc::gen::container<std::vector<key_id>>(rc::gen::arbitrary<key_id>());
  for (const auto key : keys) {
    const double value = *rc::gen::arbitrary<double>();
    if (!std::isfinite(value)) continue;
    const auto narrow = static_cast<double>(static_cast<float>(value));
    numbers[key] = type == "f64" ? value : std::isfinite(narrow) ? narrow : 0.25;
  }
  return numbers;
}

std::string failure_of(const std::string& text) {
  const temporary_folder folder;
  write_file(folder / "m", text);
  const auto read = read_text_model(*disk, folder / "m");
  if (read) return "read";
  return read.failure().text.substr((folder / "m").size());
}

}  // namespace

TEST_CASE("what was exported is imported bit by bit, state and names too") {
  CHECK(rc::check("text and npz", [] {
    const auto type = *rc::gen::element<std::string>("f32", "f64");
    const temporary_folder folder;
    const auto weights = random_numbers(type);
    const std::string names =
        weights.empty() ? "" : std::to_string(weights.begin()->first) + "\ta\tb\n";
    write_file(folder / "names", names);
    save_some(folder / "model", type, weights, {{0, 0.5}}, folder / "names");
    const auto before = load_model(*disk, folder / "model");
    RC_ASSERT(before.ok());
    for (const std::string format : {"text", "npz"}) {
      export_as(format, folder / "model", folder / "file", names);
      const auto read =
          format == "npz" ? read_npz(folder / "file") : read_text_model(*disk, folder / "file");
      if (!read) RC_LOG() << read.failure().text;
      RC_ASSERT(read.ok());
      const auto saved = save_imported(*disk, *read, folder / "again");
      if (!saved) RC_LOG() << saved.failure().text;
      RC_ASSERT(saved.ok());
      RC_ASSERT(saved->model_digest() == before->manifest.model_digest());
      RC_ASSERT(saved->tables(0).state_bytes() == before->manifest.tables(0).state_bytes());
      RC_ASSERT(saved->metrics_size() == 1);
      RC_ASSERT(saved->has_dictionary() == !names.empty());
      if (!names.empty()) RC_ASSERT(read->names == names);
      // Exported once more it is the same file.
      export_as(format, folder / "again", folder / "other", names);
      if (format == "text") {
        const auto rows = [](const std::string& text) { return text.substr(text.find("# table")); };
        RC_ASSERT(rows(read_file(folder / "file")) == rows(read_file(folder / "other")));
      }
    }
  }));
}

TEST_CASE("text that is no exported model is refused with its line") {
  const std::string head =
      "# troupe model: x\n# manifest {\"format\":1,\"tables\":[{\"spec\":{\"name\":\"weights\","
      "\"value_type\":\"f32\",\"width\":1}}]}\n";
  const std::string table = head + "# table weights: f32, 1 value to a key, 2 rows\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", ":0: there is no line '# manifest': it is no model that was exported"},
      {"1\t2\n", ":1: a row before any '# table' line"},
      {head + "1\t2\n", ":3: a row before any '# table' line"},
      {"# manifest {\n", ":1: it is no manifest of a model"},
      {"# manifest {\"format\":99}\n",
       ":1: written by a newer Troupe (, format 99); this one reads up to format 1"},
      {head + "# table words: f32\n", ":3: the manifest has no table 'words'"},
      {table + "x\t2\n", ":4: a line of a model is a key, a tab and numbers between tabs"},
      {table + "1\n", ":4: '' is no finite number of 32 bits; 1 are wanted"},
      {table + "1\tnan\n", ":4: 'nan' is no finite number of 32 bits; 1 are wanted"},
      {table + "1\t1e39\n", ":4: '1e39' is no finite number of 32 bits; 1 are wanted"},
      {table + "2\t1\n2\t1\n", ":5: key 2 does not ascend"},
      {table + head, ":5: a second manifest"},
      {table + "1\t2\n# table weights: f32, 1 value and 2 of state to a key, 1 rows\n",
       ":5: a second table 'weights'"},
      {"# manifest {\"format\":1,\"tables\":[{\"spec\":{\"name\":\"../../x\"}}]}\n",
       ":1: it is no manifest of a model"},
      {"# manifest {\"format\":1,\"tables\":[{\"spec\":{\"name\":\"a\"}},{\"spec\":{\"name\":"
       "\"a\"}}]}\n",
       ":1: it is no manifest of a model"},
      {table + "18446744073709551616\t1\n",
       ":4: a line of a model is a key, a tab and numbers between tabs"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(failure_of(text) == expected);
  }
}

TEST_CASE("an archive that is no exported model is refused by name") {
  const temporary_folder folder;
  for (const std::string content : {"", "PK\x03\x04", "hello"}) {
    write_file(folder / "m.npz", content);
    const auto read = read_npz(folder / "m.npz");
    REQUIRE_FALSE(read.ok());
    CHECK(read.failure().text.find(folder / "m.npz") == 0);
  }
  save_some(folder / "model", "f32", {{1, 1}, {2, 2}}, {});
  export_as("npz", folder / "model", folder / "whole", "");
  const auto whole = read_file(folder / "whole");
  // Cut anywhere, or with any byte of its middle changed, it is an error or the model that was
  // written, never a crash.
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    write_file(folder / "cut", whole.substr(0, cut));
    CHECK_FALSE(read_npz(folder / "cut").ok());
    auto changed = whole;
    changed[cut] = static_cast<char>(~changed[cut]);
    write_file(folder / "changed", changed);
    (void)read_npz(folder / "changed");
  }
}

TEST_CASE("arrays of other shapes than the table's are refused by name") {
  const temporary_folder folder;
  save_some(folder / "model", "f32", {{1, 1}, {2, 2}}, {});
  export_as("npz", folder / "model", folder / "whole", "");
  auto bytes = read_file(folder / "whole");
  const std::string shape = "'shape': (2, )";
  const auto at = bytes.find(shape);  // of the keys
  REQUIRE(at != std::string::npos);
  const auto begin = bytes.rfind("\x93NUMPY", at);
  const auto end = bytes.find('\n', at) + 1 + 2 * sizeof(key_id);
  const auto sum = [&] {
    const auto* from = reinterpret_cast<const Bytef*>(bytes.data() + begin);
    const auto crc = static_cast<std::uint32_t>(crc32(0, from, static_cast<uInt>(end - begin)));
    return std::string(reinterpret_cast<const char*>(&crc), sizeof crc);
  };
  // The archive stays whole: the checksums in the entry's and the directory's record fit.
  const auto before = sum();
  bytes.replace(at, shape.size(), "'shape': (1,2)");
  const auto after = sum();
  int records = 0;
  for (auto p = bytes.find(before); p != std::string::npos; p = bytes.find(before, p + 1)) {
    bytes.replace(p, after.size(), after);
    ++records;
  }
  REQUIRE(records == 2);
  write_file(folder / "flat", bytes);
  const auto read = read_npz(folder / "flat");
  REQUIRE_FALSE(read.ok());
  CHECK(read.failure().text ==
        (folder / "flat") + ": the array 'weights.keys' has 2 dimensions, and 1 are wanted");
}

TEST_CASE(
    "a model whose unlearned weights are not zero keeps its zeros, and is none of liblinear's") {
  const temporary_folder folder;
  auto spec = table_message("weights");
  spec.set_initialiser("constant");
  spec.set_initialiser_a(0.5);
  REQUIRE(save(*disk, folder / "model", description_of({spec}), {{{0, 0}, {3, 1}}}).ok());
  const auto model = load_model(*disk, folder / "model");
  REQUIRE(model.ok());
  CHECK(rows_of(*model->tables[0], true).keys == std::vector<key_id>{0, 3});
  std::ostringstream out;
  CHECK(write_liblinear(*model, out).failure().text.find("other initial values") !=
        std::string::npos);
}

TEST_CASE("liblinear's form holds the model, with labels, bias and correction") {
  const temporary_folder folder;
  auto description = description_of({table_message("weights"), table_message("bias")});
  description.mutable_labels()->set_maps(true);
  description.mutable_labels()->set_negative(2);
  description.mutable_labels()->set_positive(1);
  description.set_score_offset(-0.25);
  REQUIRE(save(*disk, folder / "model", description, {{{0, 0.5}, {3, -1e-300}}, {{0, 2}}}).ok());
  std::ostringstream out;
  REQUIRE(write_liblinear(*load_model(*disk, folder / "model"), out).ok());
  CHECK(out.str() ==
        "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 4\nbias 1\nw\n0.5 \n0 \n0 \n-1e-300 "
        "\n1.75 \n");
  write_file(folder / "text", out.str());
  const auto read = read_liblinear(*disk, folder / "text");
  REQUIRE(read.ok());
  const auto saved = save_imported(*disk, *read, folder / "again");
  REQUIRE(saved.ok());
  CHECK(saved->labels().positive() == 1);
  CHECK(saved->labels().negative() == 2);
  std::ostringstream again;
  REQUIRE(write_liblinear(*load_model(*disk, folder / "again"), again).ok());
  CHECK(again.str() == out.str());

  REQUIRE(save(*disk, folder / "hashed", description, {{{std::uint64_t{1} << 40, 1}}, {}}).ok());
  const auto refused = write_liblinear(*load_model(*disk, folder / "hashed"), out);
  CHECK(refused.failure().text.find("hashed names") != std::string::npos);
}

TEST_CASE("models of liblinear's that have no like here are refused with their line") {
  const std::string head = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1: there is no line 'w': it is no model of liblinear's"},
      {"solver_type MCSVM_CS\n",
       ":1: the solver 'MCSVM_CS' minimises a loss that is not known here"},
      {"solver_type L2R_LR\nnr_class 3\nlabel 1 2 3\nnr_feature 1\nbias -1\nw\n",
       ":6: it has 3 classes; models of two are read"},
      {"solver_type L2R_LR\nnr_class 2\nnr_feature 1\nbias -1\nw\n",
       ":5: it does not name its two labels"},
      {head + "w\n1\n", ":8: 1 weights, and 2 were announced"},
      {head + "w\n1\nnan\n", ":8: 'nan' is no finite number"},
      {head + "w\n1\nx\n", ":8: 'x' is no finite number"},
      {"colour red\n", ":1: 'colour' is no setting of a model of liblinear's"},
      {"nr_feature -3\n", ":1: the number of features cannot be read"},
      {"bias inf\n", ":1: the bias cannot be read"},
  };
  const temporary_folder folder;
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    write_file(folder / "m", text);
    const auto read = read_liblinear(*disk, folder / "m");
    REQUIRE_FALSE(read.ok());
    CHECK(read.failure().text.substr((folder / "m").size()) == expected);
  }
}
