#pragma once
// A folder with synthetic data in which a test calls `troupe`, and the JSON that comes out.
//
//   const workplace here;
//   const auto done = here.train({"--workers", "4"});
//   CHECK(done.number("test_auc") > 0.8);
//
// "job.toml" trains on train.svm and evaluates on test.svm: 2,000 and 1,000 rows of 300 features.

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

namespace troupe::testing {

// A result page, as a program of somebody else's reads it.
class result_page {
 public:
  result_page() = default;
  explicit result_page(std::string text) : text_(std::move(text)) {
    const auto status = google::protobuf::util::JsonStringToMessage(text_, &members_);
    INFO(text_, " ", status.ToString());
    REQUIRE(status.ok());
  }

  const std::string& text() const { return text_; }
  bool has(const std::string& name) const { return members_.fields().count(name) == 1; }
  double number(const std::string& name) const {
    INFO(name, " in ", text_);
    REQUIRE(value(name).kind_case() == google::protobuf::Value::kNumberValue);
    return value(name).number_value();
  }
  std::string word(const std::string& name) const {
    INFO(name, " in ", text_);
    REQUIRE(value(name).kind_case() == google::protobuf::Value::kStringValue);
    return value(name).string_value();
  }
  const google::protobuf::Value& value(const std::string& name) const {
    INFO(name, " in ", text_);
    REQUIRE(has(name));
    return members_.fields().at(name);
  }

 private:
  std::string text_;
  google::protobuf::Struct members_;
};

using words = std::vector<std::string>;

inline words operator+(words some, const words& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

inline words set(const std::string& assignment) {
  return {"--set", assignment};
}

inline program_end troupe_in(const std::string& folder, const words& arguments) {
  program_place place;
  place.folder = folder;
  return run_program(words{TROUPE_BINARY} + arguments, place);
}

// Synthetic data are made once a test program; the same options give the same bytes.
inline const temporary_folder& synthetic_data() {
  static const temporary_folder folder;
  static const auto made =
      troupe_in(folder.path(), {"make-data", "--synthetic", ".", "--rows", "2000", "--test-rows",
                                "1000", "--features", "300", "--per-row", "10"});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  return folder;
}

// Ended as it should, with exit code 0.
class trained : public result_page {
 public:
  trained(program_end run, std::string page) : result_page(std::move(page)), end(std::move(run)) {}
  std::string digest() const { return word("model_digest"); }

  program_end end;
};

class workplace {
 public:
  workplace() {
    const auto& data = synthetic_data();
    write("job.toml", "[data]\ntrain = \"" + data / "train.svm" + "\"\ntest = \"" +
                          data / "test.svm" + "\"\ncache = \"" + data / "cache" +
                          "\"\n[model]\noutput = \"model\"\n[training]\nepochs = 2\n"
                          "minibatch = 50\n[cluster]\nreport_every = \"10 ms\"\n"
                          "[supervision]\nbackoff = \"1 ms\"\n");
  }

  const std::string& path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
  }
  // Adds to job.toml.
  void amend(const std::string& text) const {
    write("job.toml", read_file(folder_ / "job.toml") + text);
  }

  program_end troupe(const words& arguments) const { return troupe_in(path(), arguments); }
  // `troupe sim job.toml`, however it ends.
  program_end sim(const words& arguments = {}) const {
    return troupe(words{"sim", "job.toml"} + arguments);
  }
  // The same where it must succeed.
  trained train(const words& arguments = {}) const {
    auto end = sim(arguments + words{"--json", "result.json"});
    INFO(end.out, end.err);
    REQUIRE(end.exit_code == 0);
    return {std::move(end), read_file(folder_ / "result.json")};
  }
  // Several at once, since each mostly waits for its own ticks. None may save a model.
  std::vector<trained> train_all(const std::vector<words>& several) const {
    program_place place;
    place.folder = path();
    std::vector<std::unique_ptr<running_program>> running;
    for (std::size_t i = 0; i < several.size(); ++i)
      running.push_back(std::make_unique<running_program>(
          words{TROUPE_BINARY, "sim", "job.toml", "--json", page(i)} + several[i] +
              set("model.output=\"\""),
          place));
    std::vector<trained> all;
    for (std::size_t i = 0; i < several.size(); ++i) {
      const auto& end = running[i]->wait();
      INFO(end.out, end.err);
      REQUIRE(end.exit_code == 0);
      all.emplace_back(end, read_file(folder_ / page(i)));
    }
    return all;
  }

 private:
  static std::string page(std::size_t i) { return "result-" + std::to_string(i) + ".json"; }

  const temporary_folder folder_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What a user is told of a fault of his own: exit code 2, and `told` on standard error.
inline void check_refused(const program_end& end, const words& told) {
  INFO("exit code ", end.exit_code, ", standard error: ", end.err);
  CHECK(end.exit_code == 2);
  CHECK_FALSE(end.timed_out);
  CHECK(end.err.rfind("troupe: ", 0) == 0);
  for (const auto& part : told) {
    INFO("should say: ", part);
    CHECK(contains(end.err, part));
  }
}

}  // namespace troupe::testing
