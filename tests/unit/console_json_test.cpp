#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "apps/console/json.hpp"
#include "apps/console/result_json.hpp"

using namespace troupe;
using namespace troupe::console;

namespace {

// Parses with somebody else's reader.
google::protobuf::Struct parsed(const std::string& text) {
  google::protobuf::Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &object);
  INFO(text, " ", status.ToString());
  REQUIRE(status.ok());
  return object;
}

bool is_null(const google::protobuf::Struct& object, const char* name) {
  REQUIRE(object.fields().count(name) == 1);
  return object.fields().at(name).kind_case() == google::protobuf::Value::kNullValue;
}

double number(const google::protobuf::Struct& object, const char* name) {
  REQUIRE(object.fields().count(name) == 1);
  REQUIRE(object.fields().at(name).kind_case() == google::protobuf::Value::kNumberValue);
  return object.fields().at(name).number_value();
}

void add_metric(pb::JobStatus& status, const char* name, bool known, double value) {
  auto& m = *status.add_metrics();
  m.set_name(name);
  m.set_known(known);
  m.set_value(value);
}

}  // namespace

TEST_CASE("JSON values are rendered as the standard wants them") {
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    json value;
    const char* text;
  } table[] = {
      {json(), "null"},
      {json::of(true), "true"},
      {json::of("yes"), "\"yes\""},
      {json::of(0.1), "0.1"},
      {json::of(-0.0), "-0"},
      {json::of(1e300), "1e+300"},
      {json::of(infinity), "null"},
      {json::of(-infinity), "null"},
      {json::of(std::nan("")), "null"},
      {json::of(std::optional<double>()), "null"},
      {json::of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615"},
      {json::of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808"},
      {json::of("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")"},
      {json::of("\xC3\xA9 \xF0\x9F\x98\x80"), "\"\xC3\xA9 \xF0\x9F\x98\x80\""},
      {json::of("a\xFF"
                "b\xC3"),
       "\"a\xEF\xBF\xBD"
       "b\xEF\xBF\xBD\""},
      {json::of("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},  // a surrogate
      {json::array({}), "[]"},
      {json::array({json::of(1.5), json()}), "[1.5, null]"},
      {json_object().add("a", json::of(1.0)).add("b", json()).value(), R"({"a": 1, "b": null})"},
  };
  for (const auto& [value, text] : table) CHECK(value.text() == text);
  CHECK(json_object().page() == "{\n}\n");
}

TEST_CASE("doubles read back as the same number") {
  CHECK(rc::check("of all bit patterns that are finite", [](std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    const auto text = json::of(value).text();
    if (std::isfinite(value))
      RC_ASSERT(std::strtod(text.c_str(), nullptr) == value);
    else
      RC_ASSERT(text == "null");
  }));
}

TEST_CASE("whatever bytes a text holds, the object is valid JSON") {
  CHECK(rc::check("of arbitrary bytes", [](const std::string& name, const std::string& text) {
    google::protobuf::Struct object;
    const auto page = json_object().add("n" + name, json::of(text)).page();
    RC_ASSERT(google::protobuf::util::JsonStringToMessage(page, &object).ok());
    RC_ASSERT(object.fields_size() == 1);
  }));
}

TEST_CASE("the result of an empty status has every promised member, undefined ones null") {
  const auto o = parsed(json_result({}, {}));
  for (const char* name :
       {"objective", "train_logloss", "test_logloss", "test_auc", "test_accuracy", "nonzeros",
        "seconds", "examples_per_second", "model_digest", "model_folder", "error"})
    CHECK_MESSAGE(is_null(o, name), name);
  for (const char* name :
       {"examples", "bytes_pushed", "bytes_pulled", "restarts", "rejected_updates", "max_staleness",
        "seed", "workers", "servers", "slots", "exit_code"})
    CHECK_MESSAGE(number(o, name) == 0, name);
}

TEST_CASE("the result sums slots and tables and names metrics") {
  pb::JobStatus status;
  status.set_phase(pb::JobStatus::FINISHED);
  status.set_training_ns(2'000'000'000);
  status.set_restarts(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto& slot = *status.add_slots();
    slot.set_slot(i);
    slot.set_examples(500);
    slot.set_loss(100 + 50 * i);
    slot.set_weight(500);
    slot.set_bytes_pushed(1000);
    slot.set_bytes_pulled(3000);
    slot.set_max_staleness(i * 4);
    slot.set_rejected(i);
    slot.set_waited_ns(1'500'000'000);
    slot.add_staleness(10);
    if (i == 1) slot.add_staleness(7);
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto& table = *status.add_tables();
    table.set_table(i);
    table.set_rows(100);
    table.set_nonzeros(40);
  }
  add_metric(status, "objective", true, 10529.562585);
  add_metric(status, "test_auc", false, 0);
  add_metric(status, "train_auc", true, 0.9);
  run_facts facts;
  facts.job = "census";
  facts.seed = 7;
  facts.table_names = {"weights"};
  facts.model_digest = "00ff";
  const auto o = parsed(json_result(status, facts));
  CHECK(number(o, "objective") == 10529.562585);
  CHECK(is_null(o, "test_auc"));
  CHECK(number(o, "train_auc") == 0.9);
  CHECK(number(o, "examples") == 1000);
  CHECK(number(o, "seconds") == 2);
  CHECK(number(o, "examples_per_second") == 500);
  CHECK(number(o, "train_progressive_loss") == 0.25);
  CHECK(number(o, "bytes_pushed") == 2000);
  CHECK(number(o, "bytes_pulled") == 6000);
  CHECK(number(o, "max_staleness") == 4);
  CHECK(number(o, "rejected_updates") == 1);
  CHECK(number(o, "restarts") == 2);
  CHECK(number(o, "nonzeros") == 80);
  CHECK(o.fields().at("outcome").string_value() == "finished");
  CHECK(o.fields().at("job").string_value() == "census");
  CHECK(o.fields().at("model_digest").string_value() == "00ff");
  const auto& histogram = o.fields().at("staleness_histogram").list_value();
  REQUIRE(histogram.values_size() == 2);
  CHECK(histogram.values(0).number_value() == 20);
  CHECK(histogram.values(1).number_value() == 7);
  const auto& tables = o.fields().at("tables").list_value();
  CHECK(tables.values(0).struct_value().fields().at("name").string_value() == "weights");
  CHECK(tables.values(1).struct_value().fields().at("name").string_value() == "1");
  const auto& slots = o.fields().at("slot_details").list_value();
  CHECK(slots.values(1).struct_value().fields().at("waited_seconds").number_value() == 1.5);
}

TEST_CASE("a failed and an interrupted job say so") {
  pb::JobStatus status;
  status.set_phase(pb::JobStatus::FAILED);
  run_facts facts;
  facts.exit_code = 1;
  facts.failure = "server 1 is lost: \"exit\"";
  auto o = parsed(json_result(status, facts));
  CHECK(o.fields().at("outcome").string_value() == "failed");
  CHECK(o.fields().at("error").string_value() == facts.failure);
  CHECK(number(o, "exit_code") == 1);
  status.set_phase(pb::JobStatus::FINISHED);
  status.set_interrupted(true);
  facts.exit_code = 130;
  o = parsed(json_result(status, facts));
  CHECK(o.fields().at("outcome").string_value() == "interrupted");
}

TEST_CASE("a metric that carries the name of another member is said once") {
  pb::JobStatus status;
  add_metric(status, "nonzeros", true, 5);
  add_metric(status, "seed", true, 5);
  const auto o = parsed(json_result(status, {}));
  CHECK(number(o, "nonzeros") == 5);
}
