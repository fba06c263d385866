// Files as people have them: odd, split, packed, broken.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// A hundred rows of 1-based features.
std::string rows(int from = 0, int to = 100) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += std::string(i % 3 == 0 ? "+1" : "-1") + " " + std::to_string(1 + i % 7) + ":0.5 " +
            std::to_string(10 + i % 5) + ":1\n";
  return text;
}

// In place of what job.toml names; without test data.
words data(const std::string& train) {
  return set("data.train=" + train) + set("data.test=[]") + set("training.minibatch=10") +
         set("data.cache=cache");
}

std::string with_line(const std::string& line) {
  return rows(0, 2) + line + "\n" + rows(2, 5);
}

}  // namespace

TEST_CASE("comments, blank lines, CRLF and a missing last line end change nothing") {
  const workplace here;
  here.write("plain.svm", rows());
  const auto plain = here.train(data("plain.svm"));
  std::string odd = "# a comment of its own\r\n\r\n" + rows() + "\n   \n";
  for (std::size_t at = 0; (at = odd.find(":1\n", at)) != std::string::npos; at += 20)
    odd.replace(at, 3, ":1 # note 9:9\r\n");
  while (odd.back() == '\n' || odd.back() == ' ' || odd.back() == '\r') odd.pop_back();
  here.write("odd.svm", odd);
  const auto same = here.train(data("odd.svm"));
  CHECK(same.digest() == plain.digest());
  CHECK(same.number("train_rows") == 100);
}

TEST_CASE("the order of a row's features does not matter") {
  const workplace here;
  here.write("sorted.svm", "1 2:1 3:0.5\n-1 1:1 9:2\n");
  here.write("unsorted.svm", "1 3:0.5 2:1\n-1 9:2 1:1\n");
  CHECK(here.train(data("unsorted.svm")).digest() == here.train(data("sorted.svm")).digest());
}

TEST_CASE("a line of a label alone is an example for the bias") {
  const workplace here;
  here.write("labels.svm", "1\n-1\n1\n1 # no features either\n");
  const auto done = here.train(data("labels.svm"));
  CHECK(done.number("examples") == 8);
  CHECK(done.number("nonzeros") == 1);
  const auto text = here.troupe({"export", "--model", "model", "--weights-only"}).out;
  CHECK(contains(text, "# table bias: f32, 1 value to a key, 1 row"));
}

TEST_CASE("one file, the same rows in five, and packed ones give the same model") {
  const workplace here;
  here.write("one.svm", rows());
  for (int i = 0; i < 5; ++i)
    here.write("part-" + std::to_string(i) + ".svm",
               rows(i * i * 6, i == 4 ? 100 : (i + 1) * (i + 1) * 6));
  here.write("one.svm.gz", gzipped(rows()));
  here.write("one.svm.xz", xzipped(rows()));
  const auto one = here.train(data("one.svm"));
  const std::string five =
      R"(["part-0.svm", "part-1.svm", "part-2.svm", "part-3.svm", "part-4.svm"])";
  CHECK(here.train(data(five)).digest() == one.digest());
  CHECK(here.train(data("one.svm.gz")).digest() == one.digest());
  CHECK(here.train(data("one.svm.xz")).digest() == one.digest());
}

TEST_CASE("a changed file is read again, whatever the cache holds") {
  const workplace here;
  here.write("rows.svm", rows());
  const auto before = here.train(data("rows.svm"));
  here.write("rows.svm", rows(1, 101));
  const auto after = here.train(data("rows.svm"));
  CHECK(after.digest() != before.digest());
  here.write("rows.svm", rows());
  CHECK(here.train(data("rows.svm")).digest() == before.digest());
}

TEST_CASE("the base of the indices is explicit, and kept with the model") {
  const workplace here;
  here.write("one.svm", "1 1:1 3:1\n-1 2:1\n");
  here.write("zero.svm", "1 0:1 2:1\n-1 1:1\n");
  const auto one = here.train(data("one.svm"));
  const auto zero = here.train(data("zero.svm") + set("data.index_base=0"));
  CHECK(one.digest() == zero.digest());
  // The model was made with base 0, and measures a file of base 0 without being told again.
  const auto measured = here.troupe({"evaluate", "--model", "model", "zero.svm"});
  INFO(measured.err);
  CHECK(measured.exit_code == 0);
}

TEST_CASE("a fault in a data file is told with file, line and column") {
  struct {
    std::string line, place, reason;
  } const cases[] = {
      {"1 0:1 3:1", "bad.svm:3:3: ", "index"}, {"1 2:1 2:1", "bad.svm:3:7: ", ""},
      {"1 2:x", "bad.svm:3:5: ", ""},          {"1 2", "bad.svm:3:", ""},
      {"one 2:1", "bad.svm:3:1: ", ""},        {"1 2:nan", "bad.svm:3:5: ", ""},
      {"1 2:1e999", "bad.svm:3:5: ", ""},      {"1 18446744073709551616:1", "bad.svm:3:3: ", ""},
      {"1 -2:1", "bad.svm:3:3: ", ""},
  };
  const workplace here;
  for (const auto& c : cases) {
    INFO(c.line);
    here.write("bad.svm", with_line(c.line));
    check_refused(here.sim(data("bad.svm")), {c.place, c.reason});
  }
  // The skip budget.
  here.write("bad.svm", with_line("1 2:x"));
  CHECK(here.train(data("bad.svm") + set("data.max_bad_rows=1")).number("train_rows") == 5);
  // A fault in the test data counts as much, before anything is trained.
  here.write("good.svm", rows());
  check_refused(here.sim(data("good.svm") + set("data.test=bad.svm")), {"bad.svm:3:5: "});
}

TEST_CASE("files that are missing, empty, folders or cut short are named") {
  const workplace here;
  here.write("empty.svm", "");
  here.write("comment.svm", "# nothing but this\n");
  here.write("cut.svm.gz", gzipped(rows()).substr(0, 60));
  here.write("cut.svm.xz", xzipped(rows()).substr(0, 60));
  here.write("good.svm", rows());
  check_refused(here.sim(data("missing.svm")), {"missing.svm", "No such file"});
  check_refused(here.sim(data("empty.svm")), {"data.train", "no rows"});
  check_refused(here.sim(data("comment.svm")), {"data.train", "no rows"});
  check_refused(here.sim(data("cut.svm.gz")), {"cut.svm.gz"});
  check_refused(here.sim(data("cut.svm.xz")), {"cut.svm.xz"});
  check_refused(here.sim(data(".")), {"troupe: "});
  check_refused(here.sim(data(R"(["good.svm", "missing.svm"])")), {"missing.svm"});
  check_refused(here.sim(data("good.svm") + set("data.test=missing.svm")), {"missing.svm"});
}

TEST_CASE("more slots than rows: the empty ones idle and block nobody") {
  const workplace here;
  here.write("few.svm", rows(0, 3));
  const auto done = here.train(data("few.svm") + words{"--slots", "8", "--workers", "8"});
  CHECK(done.number("examples") == 6);
  CHECK(here.train(data("few.svm") + words{"--slots", "8", "--workers", "1"}).digest() ==
        done.digest());
}

TEST_CASE("labels that the loss cannot take are refused") {
  const workplace here;
  here.write("three.svm", "0 1:1\n1 2:1\n2 3:1\n");
  check_refused(here.sim(data("three.svm")), {"label"});
  // Squared loss takes any.
  CHECK(here.train(data("three.svm") + set("model.loss=squared")).number("examples") == 6);
  here.write("two.svm", "0 1:1\n1 2:1\n");
  check_refused(here.sim(data("two.svm") + set("data.test=three.svm")), {"data.test", "label"});
  // A label beyond a double's digits is refused, not rounded.
  here.write("long.svm", "9007199254740993 1:1\n1 2:1\n");
  check_refused(here.sim(data("long.svm")), {"long.svm:1:1: "});
}
