#include "apps/model/model_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "apps/model/file_digest.hpp"
#include "apps/model/manifest.hpp"
#include "apps/model/model_digest.hpp"
#include "tests/support/model_making.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

const numbers_by_key some_weights = {{0, 0.5}, {7, -1.25}, {~key_id{0}, 3}, {99, 0}};
const numbers_by_key some_bias = {{0, 0.75}};

struct fixture {
  temporary_folder folder;
  std::shared_ptr<file_system> files = posix_file_system();
  std::string model = folder / "model";

  fixture() { REQUIRE(save_model(some_weights).ok()); }
  result<void> save_model(const numbers_by_key& weights) {
    return save(*files, model, description_of({table_message("weights"), table_message("bias")}),
                {weights, some_bias});
  }
  error failure() {
    const auto loaded = load_model(*files, model);
    REQUIRE_FALSE(loaded.ok());
    return loaded.failure();
  }
  std::string path(const std::string& name) const { return model + "/" + name; }
  // Replaces the manifest by a changed one with a right checksum.
  void rewrite(void (*change)(pb::ModelManifest&)) {
    auto manifest = read_manifest(*files, model);
    REQUIRE(manifest.ok());
    change(*manifest);
    REQUIRE(write_manifest(*files, model, *manifest).ok());
  }
};

double number(const table& t, key_id key) {
  const auto at = t.spec().keys.position_of(key);
  double value = -1;
  REQUIRE(t.pull({&at, 1}, &value, nullptr).ok());
  return value;
}

}  // namespace

TEST_CASE("a saved model comes back as it was, whichever server held a row") {
  fixture f;
  const auto loaded = load_model(*f.files, f.model + "/");
  REQUIRE_MESSAGE(loaded.ok(), (loaded ? "" : loaded.failure().text));
  REQUIRE(loaded->tables.size() == 2);
  for (const auto& [key, value] : some_weights) CHECK(number(*loaded->tables[0], key) == value);
  CHECK(number(*loaded->tables[1], 0) == 0.75);
  CHECK(number(*loaded->tables[0], 12345) == 0);

  const auto& m = loaded->manifest;
  CHECK(m.format() == model_format);
  CHECK(m.seed() == ~std::uint64_t{0});  // exact in JSON
  CHECK(m.metrics(0).value() == 0.1 + 0.2);
  CHECK(m.tables(0).rows() == 4);
  CHECK(m.tables(0).nonzeros() == 3);
  CHECK(m.tables(0).sum_absolutes() == 4.75);
  CHECK(m.tables(0).parts_size() == 2);
  CHECK(m.tables(0).state_bytes() > 0);
  CHECK(loaded->dictionary().empty());
  CHECK_FALSE(f.files->exists(f.model + ".partial"));
}

TEST_CASE("a damaged or incomplete folder is refused with the file's name") {
  const std::string part = "weights.shard-0.rows";
  SUBCASE("a byte of a part is flipped") {
    fixture f;
    auto bytes = read_file(f.path(part));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file(f.path(part), bytes);
    CHECK(f.failure().code == errc::damaged);
    CHECK(f.failure().text == f.path(part) + " is damaged: it does not have its checksum");
  }
  SUBCASE("a part is cut short") {
    fixture f;
    auto bytes = read_file(f.path(part));
    const auto size = std::to_string(bytes.size());
    bytes.pop_back();
    write_file(f.path(part), bytes);
    CHECK(f.failure().text == f.path(part) + " has " + std::to_string(bytes.size()) +
                                  " bytes, and was written with " + size);
  }
  SUBCASE("a part is missing") {
    fixture f;
    REQUIRE(f.files->remove(f.path(part)).ok());
    CHECK(f.failure().text == f.path(part) + " is missing, a part of the model");
  }
  SUBCASE("a byte of the manifest is flipped") {
    fixture f;
    auto text = read_file(f.path("manifest.json"));
    text[text.find("\"test\"") + 1] = 'r';
    write_file(f.path("manifest.json"), text);
    CHECK(f.failure().text == f.path("manifest.json") + ": it does not have its checksum");
  }
  SUBCASE("a newer format is named as such, whatever its checksum") {
    fixture f;
    write_file(f.path("manifest.json"), R"({"format": 9, "troupe": "7.1", "newThings": [1]})");
    CHECK(f.failure().code == errc::damaged);
    CHECK(f.failure().text ==
          f.path("manifest.json") +
              ": written by a newer Troupe (7.1, format 9); this one reads up to format 1");
  }
  SUBCASE("a manifest that is none") {
    fixture f;
    write_file(f.path("manifest.json"), "[]");
    write_file(f.path("manifest.xxh3"), checksum_of("[]") + "\n");
    CHECK(f.failure().text == f.path("manifest.json") + ": it is no manifest of a model");
  }
  SUBCASE("parts that are sound but not all of the table") {
    fixture f;
    f.rewrite([](pb::ModelManifest& m) { m.mutable_tables(0)->mutable_parts()->RemoveLast(); });
    CHECK(f.failure().text ==
          f.model +
              ": the rows of table 'weights' do not have the digest that they were written "
              "with");
  }
  SUBCASE("a digest of another model") {
    fixture f;
    f.rewrite([](pb::ModelManifest& m) { m.set_model_digest(std::string(32, '0')); });
    CHECK(f.failure().text == f.model + ": its tables do not give its digest");
  }
  SUBCASE("a name that leads out of the folder") {
    fixture f;
    f.rewrite([](pb::ModelManifest& m) {
      m.mutable_tables(0)->mutable_parts(0)->set_name("../weights.part-0.rows");
    });
    CHECK(f.failure().text == f.path("manifest.json") + ": it is no manifest of a model");
  }
  SUBCASE("no model at all") {
    fixture f;
    REQUIRE(f.files->rename(f.model, f.model + ".old").ok());
    CHECK(f.failure().code == errc::bad_usage);
    CHECK(f.failure().text == f.model +
                                  " is no model's folder: it has no manifest.json; an older model "
                                  "is in " +
                                  f.model + ".old");
  }
}

TEST_CASE("a new model replaces an older one, and nothing that is no model") {
  fixture f;
  const auto before = load_model(*f.files, f.model);
  REQUIRE(f.save_model({{1, 1}}).ok());
  const auto after = load_model(*f.files, f.model);
  REQUIRE(after.ok());
  CHECK(after->manifest.tables(0).rows() == 1);
  CHECK(after->manifest.model_digest() != before->manifest.model_digest());
  for (const auto* rest : {".old", ".partial"}) CHECK_FALSE(f.files->exists(f.model + rest));

  const auto home = f.folder / "home";
  REQUIRE(f.files->create_folders(home).ok());
  CHECK(model_folder(home).prepare(*f.files).ok());  // empty
  write_file(home + "/thesis.txt", "years of work");
  CHECK(model_folder(home + "/").prepare(*f.files).failure().text ==
        home + " is there and is no model; it is not replaced");
  CHECK(model_folder(home).prepare(*f.files).failure().code == errc::bad_usage);
  CHECK(read_file(home + "/thesis.txt") == "years of work");

  const auto fresh = f.folder / "fresh";
  REQUIRE(f.files->create_folders(fresh + ".partial").ok());
  write_file(fresh + ".partial/thesis.txt", "years of work");
  CHECK(model_folder(fresh).prepare(*f.files).failure().text ==
        fresh + ".partial is in the way: it has files that no model has");
}

TEST_CASE("what a crash left behind is cleared up before the next job") {
  fixture f;
  SUBCASE("before the renames: parts of a model that never was") {
    REQUIRE(f.files->create_folders(f.model + ".partial").ok());
    write_file(f.model + ".partial/weights.part-0.rows", "half");
    REQUIRE(model_folder(f.model).prepare(*f.files).ok());
    CHECK(f.files->list(f.model + ".partial")->empty());
    CHECK(load_model(*f.files, f.model).ok());
  }
  SUBCASE("between the renames: the older model goes back") {
    REQUIRE(f.files->rename(f.model, f.model + ".old").ok());
    REQUIRE(model_folder(f.model).prepare(*f.files).ok());
    CHECK(load_model(*f.files, f.model).ok());
  }
  SUBCASE("after the renames: the older model goes") {
    REQUIRE(f.files->create_folders(f.model + ".old").ok());
    write_file(f.model + ".old/manifest.json", "{}");
    REQUIRE(model_folder(f.model).prepare(*f.files).ok());
    CHECK_FALSE(f.files->exists(f.model + ".old"));
  }
}

TEST_CASE("a dictionary travels with the model and is held against its checksum") {
  temporary_folder folder;
  const auto files = posix_file_system();
  write_file(folder / "words.txt", "7\tseven\n");
  REQUIRE(save(*files, folder / "model", description_of({table_message("weights", "f32")}),
               {some_weights}, folder / "words.txt")
              .ok());
  const auto loaded = load_model(*files, folder / "model");
  REQUIRE(loaded.ok());
  CHECK(loaded->dictionary() == folder / "model/names.tsv");
  CHECK(read_file(loaded->dictionary()) == "7\tseven\n");
  write_file(loaded->dictionary(), "7\televen\n");
  CHECK(load_model(*files, folder / "model").failure().code == errc::damaged);
}

TEST_CASE("the digest of a model is that of its tables in their order, in hexadecimal digits") {
  const hash128 a{1, 2}, b{3, 4};
  CHECK(model_digest(std::vector<hash128>{a, b}) == model_digest(std::vector<hash128>{a, b}));
  CHECK(model_digest(std::vector<hash128>{a, b}) != model_digest(std::vector<hash128>{b, a}));
  CHECK(model_digest(std::vector<hash128>{a}) != a);
  pb::TableSummary summary;
  summary.set_digest_low(1);
  summary.set_digest_high(2);
  CHECK(model_digest(std::vector<pb::TableSummary>{summary}) ==
        to_hex(model_digest(std::vector<hash128>{a})));

  const hash128 wide{0x0123456789abcdefull, 0xfedcba9876543210ull};
  CHECK(to_hex(wide) == "fedcba98765432100123456789abcdef");
  CHECK(*hash_from_hex(to_hex(wide)) == wide);
  CHECK(*hash_from_hex(std::string(32, 'f')) == hash128{~0ull, ~0ull});
  for (const auto* wrong : {"", "12", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"})
    CHECK_FALSE(hash_from_hex(wrong).ok());
}
