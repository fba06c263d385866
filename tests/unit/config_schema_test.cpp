#include <doctest/doctest.h>
#include <google/protobuf/util/message_differencer.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "config/check.hpp"
#include "config/job.hpp"
#include "config/schema.hpp"
#include "config/values.hpp"

#ifndef TROUPE_SOURCE_DIR
#define TROUPE_SOURCE_DIR "."
#endif

namespace troupe::config {

namespace {

void each_field(const Descriptor& section,
                const std::function<void(const FieldDescriptor&)>& visit) {
  for (const auto* field : fields_of(section)) {
    visit(*field);
    if (const auto* message = value_field(*field).message_type()) each_field(*message, visit);
  }
}

bool numeric(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL;
}

bool same(const Job& a, const Job& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

std::string random_text() {
  static const std::vector<std::string> pieces = {
      "a", "B", "7", " ", "\"", "'",  "\\", "\n", "\t",           "\x01",
      "#", "=", ".", "[", "$",  "${", "}",  "ü",  "\xE2\x82\xAC", "/"};
  std::string text;
  for (const auto& piece :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)))
    text += piece;
  return text;
}

// Any value that the key allows.
scalar random_value(const FieldDescriptor& field, const Key& facts) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return *rc::gen::arbitrary<bool>();
  if (facts.kind() == Key::LABEL)
    return *rc::gen::element<std::string>("auto", "1", "-1", "0.5", "1e-08");
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    if (facts.words().empty()) return random_text();
    return *rc::gen::elementOf(
        std::vector<std::string>(facts.words().begin(), facts.words().end()));
  }
  Key without_range = facts;
  for (auto* end : {without_range.mutable_least(), without_range.mutable_most(),
                    without_range.mutable_above(), without_range.mutable_below()})
    end->clear();
  const auto end = [&](const std::string& a, const std::string& b) {
    return *scalar_of(field, without_range, typed_value(a.empty() ? b : a));
  };
  const auto low = end(facts.least(), facts.above()), high = end(facts.most(), facts.below());
  const auto extreme = *rc::gen::inRange(0, 4);
  if (const auto* lowest = std::get_if<double>(&low)) {
    const auto highest = std::get<double>(high);
    if (extreme == 0 && facts.above().empty()) return low;
    if (extreme == 1 && facts.below().empty()) return high;
    const auto unit =
        static_cast<double>(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 52)) * 0x1.0p-52;
    const auto value = *lowest + (highest - *lowest) * unit;
    return extreme == 2 ? std::ldexp(value, -30) + (*lowest < 0 ? 0 : *lowest) : value;
  }
  if (const auto* lowest = std::get_if<std::int64_t>(&low)) {
    if (extreme == 0 && !facts.minus_one().empty()) return std::int64_t{-1};
    return *rc::gen::inRange<std::int64_t>(*lowest, std::get<std::int64_t>(high) + 1);
  }
  if (extreme == 0) return low;
  if (extreme == 1) return high;
  const auto lowest = std::get<std::uint64_t>(low), extent = std::get<std::uint64_t>(high) - lowest;
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  return lowest + (extent == ~std::uint64_t{0} ? bits : bits % (extent + 1));
}

// Sets keys at random: about half of the optional ones where they may be left out.
void randomise(Message& section, bool complete) {
  const auto& reflection = *section.GetReflection();
  for (const auto* field : fields_of(*section.GetDescriptor())) {
    const auto& facts = facts_of(*field);
    const bool given = (complete && facts.inherits().empty()) || *rc::gen::arbitrary<bool>();
    const auto count = facts.required() ? *rc::gen::inRange(1, 3) : *rc::gen::inRange(0, 3);
    switch (shape_of(*field)) {
      case shape::value:
        if (given) set(section, *field, random_value(*field, facts));
        break;
      case shape::values:
        for (int i = 0; i < count; ++i) add(section, *field, random_value(*field, facts));
        break;
      case shape::section:
        if (given)
          randomise(*reflection.MutableMessage(&section, field),
                    complete && facts.inherits().empty());
        break;
      case shape::sections:
        for (int i = 0; i < count; ++i) randomise(*reflection.AddMessage(&section, field), true);
        break;
      case shape::named_values:
      case shape::named_sections:
        for (int i = 0; i < count; ++i) {
          auto& entry = entry_of(section, *field, "n" + random_text());
          const auto& value = value_field(*field);
          if (value.message_type())
            randomise(*entry.GetReflection()->MutableMessage(&entry, &value), false);
          else
            set(entry, value, random_value(value, facts));
        }
        break;
    }
  }
}

// A random job may be one whose values do not fit together: then it is made to fit.
void make_fit(Job& job) {
  for (const auto& m : misfits_of(job)) RC_LOG() << m.key << "\n";
  job.mutable_training()->set_combine("each");
  job.mutable_training()->mutable_updater()->set_clip_norm(0);
  job.mutable_model()->set_app("own");
  job.mutable_model()->mutable_initialiser()->set_low(-1);
  job.mutable_model()->mutable_initialiser()->set_high(1);
  job.mutable_cluster()->set_workers(1);
  job.mutable_cluster()->set_slots(65536);
  job.mutable_cluster()->set_retry_backoff(1'000'000);
  job.mutable_cluster()->set_patience(std::int64_t{3600} * 1'000'000'000);
  job.mutable_cluster()->set_beat_every(1'000'000);
  job.mutable_cluster()->set_suspect_after(3600'000'000'000);
  job.mutable_cluster()->set_death_after(3600'000'000'000);
  job.mutable_supervision()->set_backoff(0);
  job.mutable_log()->clear_components();
  job.mutable_data()->set_validation_fraction(0);
  job.mutable_data()->set_negative_keep(1);
  job.mutable_data()->set_negative_label("auto");
  job.mutable_data()->mutable_csv()->set_separator(";");
  job.mutable_training()->clear_class_weights();
  job.mutable_training()->mutable_class_weights()->set_mode("fixed");
  job.mutable_training()->mutable_class_weights()->set_negative(1);
  job.mutable_training()->mutable_class_weights()->set_positive(1);
  job.mutable_evaluation()->set_patience(0);
  job.mutable_evaluation()->set_keep_best(false);
  for (auto& [name, table] : *job.mutable_tables()) {
    if (table.has_combine()) table.set_combine("each");
    if (table.has_updater()) table.mutable_updater()->set_clip_norm(0);
    if (table.has_initialiser()) {
      table.mutable_initialiser()->set_low(-1);
      table.mutable_initialiser()->set_high(1);
    }
    table.set_partition("range");
    table.set_first(0);
    table.set_last(~std::uint64_t{0});
  }
}

}  // namespace

TEST_CASE("every key of the schema says what it means, what it defaults to and where it ends") {
  each_field(*Job::descriptor(), [](const FieldDescriptor& field) {
    const auto& facts = facts_of(field);
    CAPTURE(field.full_name());
    CHECK(facts.doc().size() > 8);
    CHECK(facts.doc().back() == '.');
    const auto what = shape_of(field);
    if (what == shape::named_values || what == shape::named_sections)
      CHECK_FALSE(facts.entry().empty());
    if (what == shape::value) {
      CHECK(int{facts.required()} + int{facts.has_default_()} + int{!facts.inherits().empty()} ==
            1);
      CHECK(field.has_presence());
    }
    const auto& value = value_field(field);
    if (!value.message_type() && numeric(value)) {
      CHECK(facts.least().empty() == !facts.above().empty());
      CHECK(facts.most().empty() == !facts.below().empty());
      // Each end is itself readable as a value of the key.
      for (const auto& end : {facts.least(), facts.most()})
        if (!end.empty()) CHECK(scalar_of(value, facts, typed_value(end)));
      for (const auto& end : {facts.above(), facts.below()})
        if (!end.empty()) CHECK_FALSE(scalar_of(value, facts, typed_value(end)));
    }
    if (facts.has_default_()) default_of(field);  // asserts that the default is allowed
    // Lists are of text, of numbers or of sections: what values.cpp relies on.
    if (what == shape::values)
      CHECK((field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
             field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE));
  });
}

TEST_CASE("a job that is written is read as the same job") {
  CHECK(rc::check("parse_job(to_toml(j)) is j", [] {
    Job job;
    randomise(job, true);
    make_fit(job);
    const auto text = to_toml(job);
    const auto again = parse_job(text, "written.toml");
    if (!again) RC_FAIL(again.failure().text + "\n" + text);
    if (!same(*again, job)) RC_FAIL(text);
  }));
}

TEST_CASE("the reference is a job file of the defaults") {
  const overrides train = {"data.train=a.svm"};
  const auto reference = parse_job(reference_text(), "reference.toml", train);
  if (!reference) FAIL(reference.failure().text);
  CHECK(same(*reference, *parse_job("", "empty.toml", train)));
}

TEST_CASE("the reference names every key") {
  const auto text = reference_text(), markdown = reference_markdown();
  each_field(*Job::descriptor(), [&](const FieldDescriptor& field) {
    CAPTURE(field.full_name());
    if (shape_of(field) != shape::value) return;
    CHECK(text.find(field.name() + " = ") != std::string::npos);
    CHECK(markdown.find("| `" + field.name() + "` |") != std::string::npos);
  });
}

TEST_CASE("docs/configuration.md is the reference") {
  auto files = posix_file_system();
  const auto page = read_text(*files, TROUPE_SOURCE_DIR "/docs/configuration.md", 1 << 20);
  if (!page) FAIL(page.failure().text);
  CHECK_MESSAGE(*page == reference_markdown(),
                "run: troupe config --markdown > docs/configuration.md");
}

TEST_CASE("the ready-made job files are in order") {
  auto files = posix_file_system();
  setenv("TROUPE_DATA", "/data", 0);
  for (const auto* name : {"a9a.toml", "criteo20k.toml", "synthetic.toml", "demo.toml"}) {
    CAPTURE(name);
    const auto job = load_job(*files, TROUPE_SOURCE_DIR "/config/" + std::string(name));
    if (!job) FAIL(job.failure().text);
    // They can be made asynchronous from the command line.
    CHECK(load_job(*files, TROUPE_SOURCE_DIR "/config/" + std::string(name),
                   {"training.staleness=unbounded"}));
  }
}

}  // namespace troupe::config
