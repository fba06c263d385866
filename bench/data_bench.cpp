// Reading text: LIBSVM text and Criteo's rows, against `wc -w` and, where it is installed, against
// liblinear's reader.
//
//   data_bench [MEGABYTES]
//
// Files of that size (100) are drawn: clicks of 13 counts and 26 categories as Criteo's rows, and
// the same rows as LIBSVM text. "parse" is one thread from the file to examples; "cache" is what
// the first run of a job does, to the cache on disk; "again" is what the second one does until it
// has its first minibatch. liblinear reads all of its file into memory and takes no step (an
// infinite tolerance). "predict" is `troupe predict`'s work with a model of the file's features.
// Figures are medians of turns in which all sides run.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "actors/worker/data/dataset.hpp"
#include "actors/worker/data/row_stream.hpp"
#include "apps/linear/prediction.hpp"
#include "apps/model/model_import.hpp"
#include "bench/interleaved.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

struct text_files {
  std::string criteo, libsvm;
};

// Categories fall off like those of clicks: a few common ones, many that come once.
text_files draw(const std::string& folder, std::size_t megabytes) {
  text_files files{folder + "/clicks.tsv", folder + "/clicks.svm"};
  auto* tsv = std::fopen(files.criteo.c_str(), "w");
  auto* svm = std::fopen(files.libsvm.c_str(), "w");
  random_source random(1);
  std::size_t written = 0;
  std::vector<std::uint64_t> indices;
  for (std::string a, b; written < megabytes << 20; written += a.size()) {
    a = random.below(4) == 0 ? "1" : "0";
    b = a == "1" ? "+1" : "-1";
    indices.clear();
    for (int field = 0; field < 39; ++field) {
      a += '\t';
      if (random.below(10) == 0) continue;
      const double u = random.unit();
      const auto rank = static_cast<std::uint64_t>(1 / (u * u + 1e-6)) + random.below(20);
      if (field < 13)
        a += std::to_string(rank);
      else
        a += format("%08x", static_cast<unsigned>(mix(rank * 64 + static_cast<unsigned>(field))));
      indices.push_back(rank % 25'000 * 40 + static_cast<unsigned>(field) + 1);
    }
    std::sort(indices.begin(), indices.end());  // liblinear wants them so
    for (const auto index : indices) b += " " + std::to_string(index) + ":1";
    a += '\n';
    b += '\n';
    std::fwrite(a.data(), 1, a.size(), tsv);
    std::fwrite(b.data(), 1, b.size(), svm);
  }
  std::fclose(tsv);
  std::fclose(svm);
  return files;
}

data_options options_of(const std::string& format, const std::string& folder) {
  data_options options;
  options.format = format;
  options.reading.numbers = number_form::buckets;
  options.cache_folder = folder + "/cache";
  return options;
}

void must(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "data_bench: %s failed\n", what);
  std::exit(1);
}

std::uint64_t parse(const std::string& path, const std::string& format_name) {
  const auto files = posix_file_system();
  auto options = options_of(format_name, "");
  auto pipeline = row_pipeline::make(format_name, options.reading, {});
  must(pipeline.ok(), "making a reader");
  const auto rows = row_stream::open(*files, path, *pipeline, options.max_line_bytes, nullptr);
  must(rows.ok(), "opening the file");
  example row;
  std::uint64_t count = 0;
  for (;; ++count) {
    const auto step = (*rows)->next(row);
    must(step.ok() && *step != row_stream::step::fault, "reading");
    if (*step == row_stream::step::end) return count;
  }
}

void first_minibatch(const std::string& path, const data_options& options) {
  const auto set = dataset::open(posix_file_system(), {path}, options, nullptr);
  must(set.ok(), "opening the data set");
  must((*set)->load_block(0).ok(), "reading a block");
}

void shell(const std::string& command) {
  must(std::system(command.c_str()) == 0, command.c_str());
}

bool installed(const char* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null").c_str()) == 0;
}

// A model as `troupe import` makes it of a liblinear file's text: any weights will do.
void make_model(const std::string& folder, const std::string& libsvm) {
  const auto text = folder + "/weights.txt";
  auto* out = std::fopen(text.c_str(), "w");
  std::fputs(
      "# manifest {\"format\":1,\"app\":\"linear\",\"loss\":\"logistic\",\"labels\":{\"maps\":"
      "true,\"negative\":-1,\"positive\":1},\"dataFormat\":\"libsvm\",\"indexBase\":1,"
      "\"tables\":[{\"spec\":{\"name\":\"weights\",\"kind\":\"sparse\",\"valueType\":\"f32\","
      "\"width\":1,\"combine\":\"each\",\"function\":\"add\",\"schedule\":\"constant\",\"clip\":"
      "\"none\",\"initialiser\":\"zero\"}}],\"configuration\":\"[data]\\ntrain = \\\"-\\\"\\n"
      "[model]\\nbias = false\\n\"}\n# table weights: f32, 1 value to a key, 1000000 rows\n",
      out);
  for (int key = 0; key < 1'000'000; ++key) std::fprintf(out, "%d\t0.001\n", key);
  std::fclose(out);
  auto read = read_text_model(*posix_file_system(), text);
  must(read.ok(), "reading the model");
  must(save_imported(*posix_file_system(), *read, folder + "/model").ok(), "saving the model");
  (void)libsvm;
}

double predicted_rows(const std::string& folder, const std::string& path) {
  predict_options options;
  options.model = folder + "/model";
  options.files = {path};
  double sum = 0;
  prediction_listener listener;
  listener.row = [&](const predicted_row& row) -> result<void> {
    sum += row.score;
    return {};
  };
  const auto done = predict(posix_file_system(), options, listener);
  must(done.ok(), done ? "" : done.failure().text.c_str());
  return static_cast<double>(done->rows);
}

struct side {
  const char* name;
  std::function<void()> work;
  std::vector<double> seconds;
};

void compare(const char* title, const std::string& path, const std::string& format_name,
             const std::string& folder, bool liblinear) {
  const auto megabytes = static_cast<double>(fs::file_size(path)) / 1e6;
  const auto options = options_of(format_name, folder);
  std::vector<side> sides;
  sides.push_back({"parse", [&] { parse(path, format_name); }, {}});
  sides.push_back({"cache",
                   [&] {
                     fs::remove_all(folder + "/cache");
                     first_minibatch(path, options);
                   },
                   {}});
  sides.push_back({"again", [&] { first_minibatch(path, options); }, {}});
  sides.push_back({"wc -w", [&] { shell("wc -w " + path + " > /dev/null"); }, {}});
  if (liblinear)
    sides.push_back({"liblinear",
                     [&] {
                       shell("liblinear-train -q -s 0 -e 1e30 " + path + " " + folder +
                             "/ll.model > /dev/null");
                     },
                     {}});
  for (int turn = 0; turn < turns; ++turn)
    for (auto& s : sides) s.seconds.push_back(seconds_of(s.work));
  std::printf("\n%s, %.0f MB\n", title, megabytes);
  for (const auto& s : sides) {
    std::vector<double> ratios;
    for (int turn = 0; turn < turns; ++turn) {
      const auto t = static_cast<std::size_t>(turn);
      ratios.push_back(s.seconds[t] / sides[0].seconds[t]);
    }
    std::printf("  %-10s %8.1f MB/s  %7.3f s  %6.2f times as long as parse\n", s.name,
                megabytes / median(s.seconds), median(s.seconds), median(ratios));
  }
  std::vector<double> faster;
  for (int turn = 0; turn < turns; ++turn) {
    const auto t = static_cast<std::size_t>(turn);
    faster.push_back(sides[1].seconds[t] / sides[2].seconds[t]);
  }
  std::printf("  the second run has its first minibatch %.0f times as soon\n", median(faster));
}

}  // namespace

int run(int count, char** words) {
  const std::size_t megabytes = count > 1 ? std::strtoull(words[1], nullptr, 10) : 100;
  const auto folder =
      (fs::temp_directory_path() / format("troupe-data-bench-%d", getpid())).string();
  fs::create_directories(folder);
  const auto files = draw(folder, megabytes);
  const bool liblinear = installed("liblinear-train");
  if (!liblinear) std::printf("liblinear-train is not installed: it is left out\n");
  compare("LIBSVM text", files.libsvm, "libsvm", folder, liblinear);
  compare("Criteo's rows", files.criteo, "criteo", folder, false);
  make_model(folder, files.libsvm);
  double rows = 0;
  const auto seconds = seconds_of([&] { rows = predicted_rows(folder, files.libsvm); });
  std::printf("\npredict: %.2f million rows a minute\n", rows / seconds * 60 / 1e6);
  fs::remove_all(folder);
  return 0;
}

}  // namespace troupe::bench

int main(int count, char** words) {
  return troupe::bench::run(count, words);
}
