// Training with one slot against a plain serial FTRL loop over arrays, on the same rows in the same
// order.
//
//   training_bench [FILE] [MINIBATCH]...
//
// FILE is LIBSVM text (.xz too); left out, synthetic data are made. The loop keeps z, n and w in
// arrays indexed by dense feature numbers, holds all rows in memory, and steps after every example,
// with the C library's exp. Troupe runs one worker and one server as actors on all cores, logistic
// loss, no bias, f32, from its cache of blocks, and steps after every minibatch. Both do the same
// number of epochs. Figures are medians of 7 turns in which both sides run.

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "actors/worker/data/dataset.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/make_data.hpp"
#include "bench/interleaved.hpp"
#include "core/text.hpp"

namespace troupe::bench {
namespace {

constexpr int epochs = 10;

result<config::Job> job_of(const std::string& file, const std::string& folder, int minibatch) {
  return config::parse_job(format(R"(
    [data]
    train = "%s"
    cache = "%s/cache"
    shuffle = false
    [model]
    bias = false
    output = ""
    [training]
    epochs = %d
    minibatch = %d
    staleness = "unbounded"
    updater = "ftrl"
    [evaluation]
    train = false
    [cluster]
    workers = 1
    servers = 1
    slots = 1
  )",
                                  file.c_str(), folder.c_str(), epochs, minibatch),
                           "training_bench");
}

// Rows with dense feature numbers, as somebody who writes such a loop has them.
struct plain_rows {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> feature;
  std::vector<float> value, label;
  std::uint32_t features = 0;
};

plain_rows load(const dataset& data) {
  plain_rows rows;
  std::map<key_id, std::uint32_t> numbers;
  for (std::size_t b = 0; b < data.blocks().size(); ++b) {
    const auto block = data.load_block(b);
    const auto& x = **block;
    std::vector<std::uint32_t> local;
    for (const auto key : x.keys)
      local.push_back(
          numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second);
    for (std::size_t i = 0; i < x.column.size(); ++i) {
      rows.feature.push_back(local[x.column[i]]);
      rows.value.push_back(x.value.empty() ? 1 : x.value[i]);
    }
    const auto base = rows.begin.back();
    for (std::size_t r = 0; r < x.label.size(); ++r) {
      rows.begin.push_back(base + x.row_begin[r + 1]);
      rows.label.push_back(x.label[r] > 0 ? 1 : 0);
    }
  }
  rows.features = static_cast<std::uint32_t>(numbers.size());
  return rows;
}

// McMahan et al., KDD 2013, algorithm 1.
double serial_ftrl(const plain_rows& rows) {
  const float alpha = 0.1f, beta = 1, l1 = 0, l2 = 0;
  std::vector<float> z(rows.features), n(rows.features), w(rows.features);
  double loss = 0;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (std::size_t r = 0; r + 1 < rows.begin.size(); ++r) {
      double score = 0;
      for (auto i = rows.begin[r]; i < rows.begin[r + 1]; ++i) {
        const auto f = rows.feature[i];
        w[f] = std::fabs(z[f]) <= l1
                   ? 0
                   : -(z[f] - std::copysign(l1, z[f])) / ((beta + std::sqrt(n[f])) / alpha + l2);
        score += w[f] * rows.value[i];
      }
      const double p = 1 / (1 + std::exp(-score));
      loss -= std::log(rows.label[r] > 0 ? p : 1 - p);
      const auto error = static_cast<float>(p) - rows.label[r];
      for (auto i = rows.begin[r]; i < rows.begin[r + 1]; ++i) {
        const auto f = rows.feature[i];
        const float g = error * rows.value[i];
        const float sigma = (std::sqrt(n[f] + g * g) - std::sqrt(n[f])) / alpha;
        z[f] += g - sigma * w[f];
        n[f] += g * g;
      }
    }
  return loss;
}

int run(std::string file, const std::vector<int>& minibatches) {
  const auto folder =
      (std::filesystem::temp_directory_path() / format("training_bench-%d", getpid())).string();
  const auto files = posix_file_system();
  if (file.empty()) {
    apps::synthetic_options options;
    options.rows = 100'000;
    options.features = 100'000;
    options.folder = folder;
    if (const auto made = apps::make_synthetic_data(*files, options); !made) {
      std::fprintf(stderr, "training_bench: %s\n", made.failure().text.c_str());
      return 1;
    }
    file = folder + "/train.svm";
  }
  std::printf(
      "Thousand examples a second, medians of %d turns of %d epochs over %s\n\n%10s | %8s %8s "
      "%8s\n",
      turns, epochs, file.c_str(), "minibatch", "troupe", "serial", "ratio");
  for (const int minibatch : minibatches) {
    const auto job = job_of(file, folder, minibatch);
    if (!job) {
      std::fprintf(stderr, "training_bench: %s\n", job.failure().text.c_str());
      return 1;
    }
    const auto data = dataset::open(files, {file}, data_options_of(*job), nullptr);
    if (!data) {
      std::fprintf(stderr, "training_bench: %s\n", data.failure().text.c_str());
      return 1;
    }
    const auto rows = load(**data);
    const auto examples = static_cast<double>((*data)->rows()) * epochs;
    std::vector<double> ours, serial, ratios;
    for (int turn = 0; turn < turns; ++turn) {
      auto prepared = prepare_job(*job, files);
      if (!prepared) return 1;
      const auto status = run_job(*prepared, nullptr);
      if (status.phase() != pb::JobStatus::FINISHED) {
        std::fprintf(stderr, "training_bench: %s\n", status.text().c_str());
        return 1;
      }
      volatile double sink = 0;
      serial.push_back(examples / bench::seconds_of([&] { sink = serial_ftrl(rows); }) / 1e3);
      ours.push_back(examples / troupe::seconds_of(duration(status.training_ns())) / 1e3);
      ratios.push_back(ours.back() / serial.back());
    }
    std::printf("%10d | %8.0f %8.0f %8.2f\n", minibatch, median(ours), median(serial),
                median(ratios));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  std::vector<int> minibatches;
  for (int i = 2; i < argc; ++i) minibatches.push_back(std::atoi(argv[i]));
  if (minibatches.empty()) minibatches = {10, 100, 1000};
  return troupe::bench::run(argc > 1 ? argv[1] : "", minibatches);
}
