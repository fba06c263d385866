// L1 logistic regression from a text file to within 0.01 % of the minimum: the block solver's job
// files against liblinear.
//
//   blocks_bench [FOLDER]
//
// FOLDER (TROUPE_DATA) has a9a/ and criteo20k/. liblinear (-s 6 -c 1) runs with the loosest -e of
// 1, 3 and 10 times powers of ten that is enough, on one thread; `troupe sim` with 2 workers and 1
// server, without a cache from before. Both read text that is not compressed, and both processes
// are timed from their start to their end. A ratio is of two runs one after the other.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/interleaved.hpp"
#include "core/text.hpp"

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

struct job {
  const char* name;
  double minimum;  // liblinear's, with a tolerance that changes no digit of it
};
constexpr job jobs[] = {{"a9a", 10558.723373}, {"criteo20k", 4377.792256}};
constexpr double near_enough = 1.0001;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "blocks_bench: %s\n", why.c_str());
  std::exit(1);
}

void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) fail("this failed: " + command);
}

// The objective of a model in liblinear's form: of each feature from 1 a line, after "w".
double objective_of(const std::string& model, const std::string& data) {
  std::ifstream in(model);
  std::vector<double> weights(1, 0.0);
  std::string line;
  double first_label = 1;
  while (std::getline(in, line) && line != "w")
    if (line.rfind("label ", 0) == 0) first_label = std::atof(line.c_str() + 6);
  while (std::getline(in, line)) weights.push_back(std::atof(line.c_str()));
  double sum = 0;
  for (const double w : weights) sum += std::fabs(w);
  std::ifstream rows(data);
  while (std::getline(rows, line)) {
    std::istringstream words(line);
    double label = 0, score = 0;
    words >> label;
    for (std::string entry; words >> entry;) {
      const auto colon = entry.find(':');
      const auto index = static_cast<std::size_t>(std::atoll(entry.c_str()));
      if (index < weights.size()) score += weights[index] * std::atof(entry.c_str() + colon + 1);
    }
    sum += std::log1p(std::exp(label == first_label ? -score : score));
  }
  return sum;
}

std::string liblinear(const std::string& tolerance, const std::string& data,
                      const std::string& model) {
  return "liblinear-train -q -s 6 -c 1 -e " + tolerance + " " + data + " " + model + " > /dev/null";
}

std::string loosest_tolerance(const job& j, const std::string& data, const std::string& model) {
  for (const char* power : {"1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6"})
    for (const int times : {3, 1}) {
      const auto tolerance = format("%g", std::atof(power) * times);
      shell(liblinear(tolerance, data, model));
      if (objective_of(model, data) <= j.minimum * near_enough) return tolerance;
    }
  fail(std::string("liblinear does not come to the minimum of ") + j.name);
}

// A number of a result page, behind its name.
double number_in(const std::string& page, const std::string& name) {
  const auto at = page.find("\"" + name + "\":");
  if (at == std::string::npos) fail("the result has no " + name);
  return std::atof(page.c_str() + at + name.size() + 3);
}

void compare(const job& j, const std::string& folder, const std::string& here) {
  const auto data = here + "/" + j.name + ".svm", model = here + "/liblinear.model",
             page = here + "/result.json";
  shell("xz -dc " + folder + "/" + j.name + "/train.svm.xz > " + data);
  const auto tolerance = loosest_tolerance(j, data, model);
  const auto ours = std::string(TROUPE_BINARY) + " sim " + TROUPE_SOURCE_DIR + "/config/" + j.name +
                    "-l1.toml --set 'data.train=[\"" + data +
                    "\"]' --set 'data.test=[]' --set data.cache=" + here +
                    "/cache --set model.output= --set output.progress=none --json " + page +
                    " > /dev/null";
  std::vector<double> troupe, theirs, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    fs::remove_all(here + "/cache");
    troupe.push_back(seconds_of([&] { shell(ours); }));
    theirs.push_back(seconds_of([&] { shell(liblinear(tolerance, data, model)); }));
    ratios.push_back(troupe.back() / theirs.back());
  }
  std::ifstream in(page);
  const std::string result((std::istreambuf_iterator<char>(in)), {});
  const double objective = number_in(result, "objective");
  if (objective > j.minimum * near_enough) fail(std::string(j.name) + " is not solved well enough");
  std::sort(ratios.begin(), ratios.end());
  std::printf("%-10s | %7.2f s | %7.2f s, -e %-5s | %5.2f (%.2f to %.2f) | %.5f %% %10.0f\n",
              j.name, median(troupe), median(theirs), tolerance.c_str(), median(ratios),
              ratios.front(), ratios.back(), 100 * (objective / j.minimum - 1),
              number_in(result, "nonzeros"));
  std::fflush(stdout);
}

}  // namespace

int run(int count, char** words) {
  const char* named = std::getenv("TROUPE_DATA");
  const std::string folder = count > 1 ? words[1] : named != nullptr ? named : "";
  if (folder.empty()) fail("name the folder with a9a/ and criteo20k/, or set TROUPE_DATA");
  if (::setenv("TROUPE_DATA", folder.c_str(), 1) != 0) fail("no memory");
  auto place = (fs::temp_directory_path() / "blocks_bench.XXXXXX").string();
  if (::mkdtemp(place.data()) == nullptr) fail("no folder for the text");
  std::printf("%-10s | %9s | %17s | %20s | above minimum, non-zeros\n", "data", "troupe",
              "liblinear", "ratio");
  for (const auto& j : jobs) compare(j, folder, place);
  fs::remove_all(place);
  return 0;
}

}  // namespace troupe::bench

int main(int count, char** words) {
  return troupe::bench::run(count, words);
}
