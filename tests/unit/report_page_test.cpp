// The page of a run: whole, by itself, and the same bytes for the same run.
#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <limits>

#include "sim/report/page.hpp"

namespace troupe::sim {
namespace {

using namespace std::chrono_literals;

run_record small_run() {
  run_record r;
  r.virtual_time = 3ms;
  for (const char* name : {"scheduler", "server 0", "worker 0"}) {
    node_record n;
    n.name = name;
    n.times = {1ms, 1ms, 1ms};
    r.nodes.push_back(n);
  }
  r.bars.column = 1ms;
  r.bars.nodes = {{{1ms, 0ms, 0ms}, {0ms, 1ms, 0ms}, {0ms, 0ms, 1ms}}, {}, {{500us, 250us, 250us}}};
  r.by_kind["push"] = {10, 1000, 1, 2};
  for (std::uint64_t i = 0; i < 30; ++i)
    r.by_link[{"worker " + std::to_string(i), "server 0"}] = {1, 100 + i, 0, 0};
  r.objective = {{1ms, 5, 50, 0.25}};
  r.staleness = {3, 1};
  r.events = {{2ms, "worker 0", "says </script><b>\"hello\"\n"}};
  return r;
}

google::protobuf::Struct parsed(const std::string& json) {
  google::protobuf::Struct s;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &s);
  INFO(json);
  REQUIRE(status.ok());
  return s;
}

}  // namespace

TEST_CASE("a page's data are valid JSON and cannot end their element") {
  const auto data =
      page_data(small_run(), {"a </title> of <mine>",
                              {{"seed", "1"}},
                              {{"<w>, pushes", "raw", 7, 0}, {"<w>, pushes", "zstd", 5, 0}}});
  CHECK(data.find("</") == std::string::npos);
  const auto s = parsed(data);
  CHECK(s.fields().at("title").string_value() == "a </title> of <mine>");
  CHECK(s.fields().at("events").list_value().values(0).list_value().values(2).string_value() ==
        "says </script><b>\"hello\"\n");
  CHECK(s.fields().at("filters").list_value().values(1).list_value().values(1).string_value() ==
        "zstd");
  CHECK(s.fields().at("nodes").list_value().values_size() == 3);
  // All compute; all transfer; all waiting.
  CHECK(s.fields().at("nodes").list_value().values(0).list_value().values(5).string_value() ==
        "_AA_AA");
  // The twenty busiest links, and the others together.
  const auto& links = s.fields().at("links").list_value();
  REQUIRE(links.values_size() == 21);
  CHECK(links.values(0).list_value().values(0).string_value() == "worker 29 to server 0");
  CHECK(links.values(20).list_value().values(0).string_value() == "10 other links");
  CHECK(links.values(20).list_value().values(1).number_value() == 10);
}

TEST_CASE("a run of nothing has data too") {
  const auto s = parsed(page_data({}, {"nothing", {}}));
  CHECK(s.fields().at("nodes").list_value().values_size() == 0);
}

TEST_CASE("an objective that is not finite is null, since JSON has no word for it") {
  auto run = small_run();
  for (const double x :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    run.objective.push_back({2ms, 6, 60, x});
  const auto looks = parsed(page_data(run, {})).fields().at("objective").list_value();
  REQUIRE(looks.values_size() == 4);
  CHECK(looks.values(0).list_value().values(3).number_value() == 0.25);
  for (int i = 1; i < 4; ++i)
    CHECK(looks.values(i).list_value().values(3).kind_case() ==
          google::protobuf::Value::kNullValue);
}

TEST_CASE("a thousand nodes fit into a page of a few megabytes") {
  run_record r;
  r.bars.column = 1ms;
  for (int n = 0; n < 1000; ++n) {
    node_record node;
    node.name = "worker " + std::to_string(n);
    r.nodes.push_back(node);
    r.bars.nodes.emplace_back(512, activity_times{1us, 2us, 3us});
  }
  CHECK(page_data(r, {}).size() < 2'000'000);
}

TEST_CASE("a page refers to nothing outside itself, and is a function of the run") {
  if (!page_is_built_in()) {
    CHECK_FALSE(report_page({}, {}).ok());
    return;
  }
  const auto page = report_page(small_run(), {"mine & yours", {}});
  REQUIRE(page.ok());
  CHECK(*page == *report_page(small_run(), {"mine & yours", {}}));
  CHECK(page->find("<title>mine &amp; yours</title>") != std::string::npos);
  for (const char* outside : {" src=", "<link rel=\"stylesheet", "@import", "fetch(", "url(http",
                              "XMLHttpRequest", "sourceMappingURL", "import("})
    CHECK_MESSAGE(page->find(outside) == std::string::npos, outside);
  CHECK(page->find("{{") == std::string::npos);
}

TEST_CASE("a title that looks like one of the template's marks is text") {
  if (!page_is_built_in()) return;
  const std::string title = "{{data}} {{style}} {{title}}";
  const auto page = report_page({}, {title, {}});
  REQUIRE(page.ok());
  CHECK(page->find("<title>" + title + "</title>") != std::string::npos);
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const auto at = page->find(begin);
  REQUIRE(at != std::string::npos);
  const auto from = at + begin.size();
  const auto s = parsed(page->substr(from, page->find("</script>", from) - from));
  CHECK(s.fields().at("title").string_value() == title);
}

}  // namespace troupe::sim
