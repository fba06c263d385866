// What the readers make of odd, malformed and hostile lines, one after the other.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "actors/worker/data/dataset.hpp"
#include "actors/worker/data/row_stream.hpp"
#include "core/text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;

namespace {

using lines = std::vector<std::string>;

format_options with(void (*change)(format_options&)) {
  format_options options;
  options.numbers = number_form::log;
  change(options);
  return options;
}
void unchanged(format_options&) {}

// A feature by its key where that is small, else by the name that made it.
std::string name_of(const feature& f, const name_list& names) {
  const auto key = std::to_string(f.key);
  const auto at = names.lines().find(key + "\t");
  if (at == std::string::npos) return key;
  const auto end = names.lines().find('\n', at);
  return names.lines().substr(at + key.size() + 1, end - at - key.size() - 1);
}

// The last line as the pipeline yields it: "label[*weight] [id] [group] name:value ...", "nothing",
// or "column: reason", with a bang if no budget lets it pass.
std::string reading_of(const std::string& format_name, format_options options, const lines& all,
                       const row_shape& shape = {}) {
  options.names = std::make_shared<name_list>(1000);
  auto pipeline = row_pipeline::make(format_name, options, shape);
  if (!pipeline) return "error: " + pipeline.failure().text;
  pipeline->begin_file();
  example row;
  row_fault fault;
  row_outcome outcome = row_outcome::nothing;
  for (const auto& line : all) {
    row.clear();
    outcome = pipeline->read(line, row, fault);
  }
  if (outcome == row_outcome::nothing) return "nothing";
  if (outcome == row_outcome::fault)
    return std::to_string(fault.column) + (fault.fatal ? "! " : ": ") + fault.reason;
  std::string text = row.labelled ? format("%.17g", row.label) : "?";
  if (row.weight != 1) text += format("*%g", row.weight);
  if (row.id) text += " id=" + *row.id;
  if (row.group) text += " group=" + std::to_string(*row.group);
  for (const auto& f : row.features)
    text += " " + name_of(f, *options.names) + format(":%.9g", static_cast<double>(f.value));
  return text;
}

const std::string no_counts(12, '\t'), no_categories(25, '\t');
std::string criteo(const std::string& label, const std::string& count,
                   const std::string& category) {
  return label + "\t" + count + no_counts + "\t" + category + no_categories;
}

void people(format_options& o) {
  o.csv.columns = {{"y", "label"},  {"age", "number"}, {"job", "category"},
                   {"w", "weight"}, {"who", "id"},     {"q", "group"}};
}
const std::string head = "y,age,job,w,who,q";

}  // namespace

TEST_CASE("odd, malformed and hostile lines give a row or a message, in every format") {
  const auto plain = with(unchanged), csv = with(people);
  const auto optional = with([](format_options& o) {
    people(o);
    o.labels_optional = true;
  });
  const auto names = with([](format_options& o) { o.names_are_keys = true; });
  const auto weights = with([](format_options& o) { o.label_weights = true; });
  const auto values = with([](format_options& o) { o.numbers = number_form::value; });
  const auto buckets = with([](format_options& o) { o.numbers = number_form::buckets; });
  const auto words = with([](format_options& o) {
    people(o);
    o.csv.label_words = {{"yes", 1}, {"no", 0}};
    o.csv.missing = {"NA", "?"};
    o.numbers = number_form::value;
  });
  const auto numbered = with([](format_options& o) {
    o.csv.columns = {{"y", "label"}};
    o.csv.others = "number";
    o.numbers = number_form::value;
  });
  const auto headless = with([](format_options& o) {
    o.csv.header = false;
    o.csv.separator = '\t';
    o.csv.columns = {{"1", "label"}};
    o.csv.others = "category";
  });
  const struct {
    const char* format;
    const format_options& options;
    lines input;
    std::string expected;
  } table[] = {
      // libsvm: dialects
      {"libsvm", plain, {"1 qid:7 3:1"}, "1 group=7 2:1"},
      {"libsvm", plain, {"1 qid:18446744073709551615 3:1"}, "1 group=18446744073709551615 2:1"},
      {"libsvm", plain, {"1 qid:x 3:1"}, "7: qid 'x' is not an integer from 0 to 2^64-1"},
      {"libsvm", plain, {"1 qid: 3:1"}, "7: qid '' is not an integer from 0 to 2^64-1"},
      {"libsvm", plain, {"1 qid:1 qid:2"}, "9: 'qid:' comes twice in this line"},
      {"libsvm", plain, {"1 cost:0.5 3:1"}, "1*0.5 2:1"},
      {"libsvm", plain, {"1 cost:-1 3:1"}, "8: weight '-1' is below 0"},
      {"libsvm",
       plain,
       {"1 sid:2 3:1"},
       "3: 'sid:' belongs to a dialect of LIBSVM text that is not read"},
      {"libsvm",
       plain,
       {"1:2 3:1"},
       "1: a label must come before '1:2'; label:weight is read with data.label_weights"},
      {"libsvm", weights, {"1:2.5 3:1"}, "1*2.5 2:1"},
      {"libsvm", weights, {"1:x 3:1"}, "3: weight 'x' is not a number"},
      {"libsvm", weights, {"x:1 3:1"}, "1: label 'x' is not a number"},
      {"libsvm", weights, {"1:-0.5 3:1"}, "3: weight '-0.5' is below 0"},
      {"libsvm", weights, {"1:inf 3:1"}, "3: weight 'inf' is not finite"},
      {"libsvm",
       plain,
       {"1,2,3 4:1"},
       "1: label '1,2,3' is not a number; several labels are not read"},
      {"libsvm", optional, {"3:1 4:0.5"}, "? 2:1 3:0.5"},
      {"libsvm", optional, {"-1 3:1"}, "-1 2:1"},
      {"libsvm", optional, {"3:1 3:2"}, "5: index 3 comes twice in this line"},
      {"libsvm", plain, {"1 qid:4 3:1 3:2"}, "13: index 3 comes twice in this line"},
      {"libsvm", plain, {"1 word:1"}, "3: index 'word' is not an integer from 1 to 2^64-1"},
      {"libsvm", names, {"1 word:2 3:1"}, "1 =word:2 2:1"},
      {"libsvm", names, {"1 word:1 word:1"}, "10: index word comes twice in this line"},
      {"libsvm", names, {"1 -7:1"}, "1 =-7:1"},
      {"libsvm", plain, {"1 3:1e38 4:1e39"}, "12: value '1e39' is too large for a 32-bit float"},
      // libffm
      {"libffm", plain, {"0 0:1:1 1:1:0.5"}, "0 0:1 0:0.5"},
      {"libffm", plain, {"0 0:1:1 0:1:1"}, "9: index 1 comes twice in field 0 of this line"},
      {"libffm", plain, {"1 4294967295:2:1"}, "1 1:1"},
      {"libffm",
       plain,
       {"1 4294967296:2:1"},
       "3: field '4294967296' is not an integer from 0 to 2^32-1"},
      {"libffm", plain, {"1 user:2:1"}, "3: field 'user' is not an integer from 0 to 2^32-1"},
      {"libffm", plain, {"1 2:1"}, "3: '2:1' has one colon: a feature is field:index:value"},
      {"libffm", plain, {"1 2"}, "3: '2' has no colon: a feature is field:index:value"},
      {"libffm",
       plain,
       {"1 1:2:3:4"},
       "3: '1:2:3:4' has more than two colons: a feature is field:index:value"},
      {"libffm", plain, {"1 1::1"}, "3: '1::1' has no index before its colon"},
      {"libffm", plain, {"1 1:2:"}, "3: '1:2:' has no value after its colon"},
      {"libffm",
       plain,
       {"1 1:0:1"},
       "5: index 0 in data whose indices start at 1 (see index_base)"},
      {"libffm", plain, {"1 -1:2:1"}, "3: field '-1' is not an integer from 0 to 2^32-1"},
      {"libffm", names, {"1 3:red:1 4:red:1"}, "1 3=red:1 4=red:1"},
      {"libffm", plain, {"1 qid:3 0:1:1"}, "1 group=3 0:1"},
      {"libffm", plain, {"1 0:1:nan"}, "7: value 'nan' is not finite"},
      {"libffm", plain, {""}, "nothing"},
      // Criteo
      {"criteo", buckets, {criteo("1", "5", "68fd1e64")}, "1 I1=l2:1 C1=68fd1e64:1"},
      {"criteo", buckets, {criteo("0", "-2", "")}, "0 I1=-2:1"},
      {"criteo", buckets, {criteo("0", "0", "")}, "0 I1=0:1"},
      {"criteo", buckets, {criteo("0", "", "")}, "0"},
      {"criteo", buckets, {criteo("0", "9223372036854775807", "")}, "0 I1=l1906:1"},
      {"criteo",
       buckets,
       {criteo("0", "9223372036854775808", "")},
       "3: I1 '9223372036854775808' is beyond 64 bits"},
      {"criteo", values, {criteo("0", "3", "")}, "0 I1:3"},
      {"criteo", plain, {criteo("0", "-1", "")}, "0 I1:-0.693147182"},
      {"criteo", buckets, {criteo("0", "1.5", "")}, "3: I1 '1.5' is not a whole number"},
      {"criteo", buckets, {criteo("0", "x", "")}, "3: I1 'x' is not a whole number"},
      {"criteo", buckets, {criteo("0", " 3", "")}, "3: I1 ' 3' is not a whole number"},
      {"criteo", buckets, {criteo("", "3", "")}, "1: the label is missing"},
      {"criteo", buckets, {criteo("click", "3", "")}, "1: label 'click' is not a number"},
      {"criteo",
       buckets,
       {criteo("0", "3", std::string("a\0b", 3))},
       "18: byte 0x00 has no place in Criteo's rows"},
      {"criteo",
       buckets,
       {"1\t2\t3"},
       "1: 3 columns; a row of Criteo's has 40, a label, 13 counts and 26 categories, between "
       "tabs"},
      {"criteo",
       buckets,
       {"hello"},
       "1: 1 column; a row of Criteo's has 40, a label, 13 counts and 26 categories, between tabs"},
      {"criteo",
       buckets,
       {criteo("0", "1", "") + "\t"},
       "1: 41 columns; a row of Criteo's has 40, a label, 13 counts and 26 categories, between "
       "tabs"},
      {"criteo", optional, {criteo("0", "3", "ab").substr(2)}, "? I1:1.38629436 C1=ab:1"},
      {"criteo", buckets, {""}, "nothing"},
      // CSV
      {"csv", csv, {head}, "nothing"},
      {"csv", csv, {head, "1,0,clerk,,,"}, "1 job=clerk:1"},
      {"csv",
       csv,
       {head, "1,-1,\"cl\"\"erk, sr\",2,ann,9"},
       "1*2 id=ann group=9 age:-0.693147182 job=cl\"erk, sr:1"},
      {"csv", csv, {head, " 1 , 2 , clerk ,,,"}, "1 age:1.09861231 job=clerk:1"},
      {"csv", csv, {head, "1,2,clerk"}, "5: 3 fields, where the header has 6"},
      {"csv", csv, {head, "1,2,clerk,,,,7"}, "14: 7 fields, where the header has 6"},
      {"csv",
       csv,
       {head, "1,2,\"clerk,,,"},
       "5: a quote that does not end on its line; fields of several lines are not read"},
      {"csv",
       csv,
       {head, "1,2,\"clerk\"x,,,"},
       "12: text behind a closing quote; a quote within quotes is written twice"},
      {"csv", csv, {head, "1,2,5\" pipe,,,"}, "1 age:1.09861231 job=5\" pipe:1"},
      {"csv", csv, {head, ",2,clerk,,,"}, "1: the label is missing"},
      {"csv",
       csv,
       {head, "maybe,2,clerk,,,"},
       "1: label 'y': 'maybe' is not a number and none of data.csv.label_words"},
      {"csv", csv, {head, "1,old,clerk,,,"}, "3: number 'age': 'old' is not a number"},
      {"csv", csv, {head, "1,nan,clerk,,,"}, "3: number 'age': 'nan' is not finite"},
      {"csv", values, {"y,age"}, "1! no column is the label; see data.csv.columns"},
      {"csv", csv, {head, "1,2,clerk,-3,,"}, "11: weight 'w': '-3' is below 0"},
      {"csv",
       words,
       {head, "yes,1e39,clerk,,,"},
       "5: number 'age': '1e39' is too large for a 32-bit float"},
      {"csv", words, {head, "yes,NA,?,,,"}, "1"},
      {"csv", words, {head, "no,2,clerk,,,"}, "0 age:2 job=clerk:1"},
      {"csv", csv, {head, ""}, "nothing"},
      {"csv", csv, {"y,age,job,w,who,y"}, "17! two columns are called 'y'"},
      {"csv",
       csv,
       {"y,agee,job,w,who,q"},
       "1! there is no column 'age', which data.csv.columns names; did you mean 'agee'?"},
      {"csv",
       csv,
       {"\"y,age,job"},
       "1! a quote that does not end on its line; fields of several lines are not read"},
      {"csv", optional, {"age,job", "2,clerk"}, "? age:1.09861231 job=clerk:1"},
      {"csv", optional, {head, ",2,clerk,,,"}, "? age:1.09861231 job=clerk:1"},
      {"csv", numbered, {"y,3,7", "1,0.5,2"}, "1 2:0.5 6:2"},
      {"csv", numbered, {"y,0,7"}, "3! column 0 in data whose indices start at 1 (see index_base)"},
      {"csv", headless, {"1\ta\tb"}, "1 2=a:1 3=b:1"},
      {"csv", headless, {"1\ta\tb", "1\ta"}, "3: 2 fields, where the first row has 3"},
      {"csv",
       csv,
       {head, "1,2,\xC3\xA9t\xC3\xA9,,,x\x01"},
       "1 group=8295208907719635646 age:1.09861231 job=\xC3\xA9t\xC3\xA9:1"},
  };
  static_assert(sizeof table / sizeof table[0] >= 60);
  for (const auto& row : table) {
    CAPTURE(row.format);
    CAPTURE(row.input);
    CHECK(reading_of(row.format, row.options, row.input) == row.expected);
  }
}

TEST_CASE("settings that make no sense are refused by name") {
  format_options options;
  options.csv.columns = {{"y", "lable"}};
  CHECK(reading_of("csv", options, {}) ==
        "error: data.csv.columns.y: 'lable' is no role of a column; did you mean 'label'?");
  options = {};
  options.csv.others = "label";
  CHECK(reading_of("csv", options, {}) ==
        "error: data.csv.others is 'label'; it must be number, category or ignore");
  options = {};
  options.csv.separator = '"';
  CHECK(reading_of("csv", options, {}).find("error: data.csv.separator") == 0);
  for (const auto* text : {"a", "a*b*c*d*e"})
    CHECK(reading_of("csv", with(people), {}, {{}, {}, {text}, row_scaling::none})
              .find("error: data.interactions: '") == 0);
}

TEST_CASE("names hash by XXH64 in their namespace, to as many bits as wanted") {
  const name_hashing all{7, 0}, few{7, 10};
  const namespace_of_names wide("C1", all, nullptr), narrow("C1", few, nullptr);
  CHECK(wide.key_of("abc") == xxh64("abc", xxh64("C1", 7)));
  CHECK(narrow.key_of("abc") == (wide.key_of("abc") & 1023));
  CHECK(wide.key_of("abc") != namespace_of_names("C2", all, nullptr).key_of("abc"));
}

TEST_CASE("rows are shaped: ignored, multiplied, crossed and scaled, in this order") {
  const auto csv = with([](format_options& o) {
    o.csv.columns = {{"y", "label"}, {"a", "number"}, {"b", "number"}, {"c", "category"}};
    o.numbers = number_form::value;
  });
  const lines rows{"y,a,b,c", "1,3,4,red"};
  CHECK(reading_of("csv", csv, rows, {{"b"}, {}, {}, row_scaling::none}) == "1 a:3 c=red:1");
  CHECK(reading_of("csv", csv, rows, {{}, {{"a", 0.5}}, {}, row_scaling::none}) ==
        "1 a:1.5 b:4 c=red:1");
  CHECK(reading_of("csv", csv, rows, {{"c"}, {}, {}, row_scaling::unit_length}) ==
        "1 a:0.600000024 b:0.800000012");
  const auto key_of = [](const char* name) {
    return xxh64(name[0] == 'c' ? "red" : "", xxh64(std::string(name), 0));
  };
  const key_id pair[] = {key_of("a"), key_of("c")};
  const auto crossed = xxh64({reinterpret_cast<const char*>(pair), sizeof pair}, xxh64("a*c", 0));
  CHECK(reading_of("csv", csv, rows, {{}, {{"a", 2}}, {"a*c"}, row_scaling::none}) ==
        "1 a:6 b:4 c=red:1 " + std::to_string(crossed) + ":6");
  CHECK(reading_of("csv", csv, rows, {{"d"}, {}, {}, row_scaling::none}) ==
        "1! data.ignore names the namespace 'd', which these data do not have");
  CHECK(reading_of("csv", csv, rows, {{}, {}, {"a*d"}, row_scaling::none}) ==
        "1! data.interactions names the namespace 'd', which these data do not have");
  CHECK(reading_of("csv", csv, {"y,a,b,c", "1,1e30,1e30,"}, {{}, {}, {"a*b"}, row_scaling::none}) ==
        "1: scaled or multiplied with others, a value is too large for a 32-bit float");
}

TEST_CASE("of a namespace with itself every pair comes once; too many are a fault") {
  const auto pairs = [](int features) {
    std::string line = "1";
    for (int i = 1; i <= features; ++i) line += format(" 0:%d:1", i);
    const auto text =
        reading_of("libffm", with(unchanged), {line}, {{}, {}, {"0*0"}, row_scaling::none});
    return text.find("features") != std::string::npos
               ? text
               : std::to_string(std::count(text.begin(), text.end(), ':') - features);
  };
  CHECK(pairs(4) == "6");
  CHECK(pairs(1) == "0");
  CHECK(pairs(2000) == "1: the interactions make more than 1048576 features of this row");
}

TEST_CASE("a namespace that an interaction names twice gives each pair once, wherever it stands") {
  const auto count = [](const std::string& line, const char* interaction) {
    const auto text =
        reading_of("libffm", with(unchanged), {line}, {{}, {}, {interaction}, row_scaling::none});
    return std::count(text.begin(), text.end(), ' ') - std::count(line.begin(), line.end(), ' ');
  };
  CHECK(count("1 0:1:1 0:2:1 0:3:1 1:9:1 1:8:1", "0*1*0") == 6);  // three pairs, two between
  CHECK(count("1 0:1:1 1:9:1", "0*1*0") == 0);
  CHECK(count("1 0:1:1 0:2:1", "0*1") == 0);
  CHECK(count("1 0:1:1 1:2:1 2:3:1", "0*1*2") == 1);
}

TEST_CASE("names that share a hash are no repetition; the same name is") {
  const auto few = with([](format_options& o) {
    o.names_are_keys = true;
    o.hashing.bits = 2;
  });
  std::string line = "1";
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) line += std::string(" ") + name + ":1";
  const auto text = reading_of("libsvm", few, {line});
  CHECK(std::count(text.begin(), text.end(), ':') == 6);
  CHECK(reading_of("libsvm", few, {line + " c:1"}) == "27: index c comes twice in this line");
  CHECK(reading_of("libsvm", few, {"1 7:1 a:1 007:1"}) == "11: index 007 comes twice in this line");
}

TEST_CASE("a file's header names its columns anew, and namespaces keep their fields") {
  const auto csv = with(people);
  auto pipeline = row_pipeline::make("csv", csv, {});
  REQUIRE(pipeline);
  const auto fields_of = [&](const std::string& header, const std::string& line) {
    pipeline->begin_file();
    example row;
    row_fault fault;
    pipeline->read(header, row, fault);
    CHECK(pipeline->read(line, row, fault) == row_outcome::row);
    std::map<key_id, std::uint32_t> fields;
    for (const auto& f : row.features) fields[f.key] = f.field;
    return fields;
  };
  CHECK(fields_of(head, "1,5,clerk,1,a,1") == fields_of("q,who,w,job,age,y", "1,a,1,clerk,5,1"));
}

TEST_CASE("standard input is no file of a data set") {
  const testing::temporary_folder folder;
  data_options options;
  options.cache_folder = folder / "cache";
  const auto opened = dataset::open(posix_file_system(), {"-"}, options, nullptr);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.failure().text.find("standard input cannot be") != std::string::npos);
}
