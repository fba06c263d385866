#include "apps/make_data.hpp"

#include <algorithm>
#include <vector>

#include "core/math.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::apps {
namespace {

constexpr double bias = -0.5;
constexpr double share_of_weights = 0.3;
constexpr double spread_of_weights = 2;

// What the seed is combined with, so that weights and rows are independent of one another.
enum stream : std::uint64_t { weights_stream, train_stream, test_stream };

class text_file {
 public:
  static result<text_file> create(file_system& files, const std::string& path) {
    auto file = files.create(path);
    if (!file) return file.failure();
    return text_file(*std::move(file));
  }
  result<void> add(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() < (std::size_t{1} << 20)) return {};
    return flush();
  }
  result<void> finish() {
    auto written = flush();
    if (!written) return written;
    return file_->close();
  }

 private:
  explicit text_file(std::unique_ptr<writable_file> file) : file_(std::move(file)) {}
  result<void> flush() {
    auto written =
        file_->append({reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size()});
    buffer_.clear();
    return written;
  }

  std::unique_ptr<writable_file> file_;
  std::string buffer_;
};

struct score {
  double logloss = 0;  // summed
  std::uint64_t right = 0;
};

class synthesis {
 public:
  synthesis(file_system& files, const synthetic_options& options)
      : files_(files), options_(options) {}

  result<void> write_rows(const std::string& name, stream which, std::uint64_t rows, score& truth) {
    auto file = text_file::create(files_, options_.folder + "/" + name);
    if (!file) return file.failure();
    for (std::uint64_t row = 0; row < rows; ++row) {
      random_source random(seed_of(options_.seed, which, row));
      auto written = file->add(line(random, truth));
      if (!written) return written;
    }
    return file->finish();
  }

  result<void> write_truth(const score& test) {
    auto file = text_file::create(files_, options_.folder + "/truth.txt");
    if (!file) return file.failure();
    std::string head;
    if (const auto rows = static_cast<double>(options_.test_rows); rows > 0)
      head = format("# test logloss %.6f\n# test accuracy %.6f\n", test.logloss / rows,
                    static_cast<double>(test.right) / rows);
    auto written = file->add(head + format("bias %.17g\n", bias));
    for (std::uint64_t rank = 0; written && rank < options_.features; ++rank) {
      const double weight = weight_of(rank);
      if (weight != 0)
        written = file->add(format("%llu %.17g\n", static_cast<unsigned long long>(rank), weight));
    }
    if (!written) return written;
    return file->finish();
  }

 private:
  double weight_of(std::uint64_t rank) const {
    random_source random(seed_of(options_.seed, weights_stream, rank));
    return random.unit() < share_of_weights ? spread_of_weights * random.normal() : 0;
  }

  std::string line(random_source& random, score& truth) {
    draw_features(random);
    double margin = bias;
    for (const auto rank : ranks_) margin += weight_of(rank);
    const bool positive = random.unit() < math::sigmoid(margin);
    truth.logloss += math::softplus(positive ? -margin : margin);
    truth.right += positive == (margin > 0) ? 1 : 0;
    std::string text = positive ? "+1" : "-1";
    for (const auto rank : ranks_) {
      text += ' ';
      text += std::to_string(rank + 1);
      text += ":1";
    }
    return text + "\n";
  }

  // Distinct ranks in ascending order.
  void draw_features(random_source& random) {
    const auto wanted = std::min(1 + random.below(2 * options_.per_row - 1), options_.features);
    const auto distinct = [&] {
      std::sort(ranks_.begin(), ranks_.end());
      ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    };
    ranks_.clear();
    // A row that wants nearly all features would wait long for the rarest: it gets fewer.
    for (int round = 0; ranks_.size() < wanted && round < 8; ++round) {
      for (auto missing = wanted - ranks_.size(); missing > 0; --missing)
        ranks_.push_back(draw_rank(random));
      distinct();
    }
  }

  // P(rank) = log((rank + 2) / (rank + 1)) / log(features + 1), which falls like 1 / rank.
  std::uint64_t draw_rank(random_source& random) const {
    const auto count = static_cast<double>(options_.features);
    const double drawn = math::exp(random.unit() * math::log(count + 1)) - 1;
    return std::min(static_cast<std::uint64_t>(std::max(drawn, 0.0)), options_.features - 1);
  }

  file_system& files_;
  const synthetic_options& options_;
  std::vector<std::uint64_t> ranks_;
};

}  // namespace

result<void> make_synthetic_data(file_system& files, const synthetic_options& options) {
  // Beyond 2^53 ranks would be rounded.
  if (options.rows == 0 || options.features == 0 || options.per_row == 0 ||
      options.features > std::uint64_t{1} << 53 || options.per_row > 1'000'000)
    return error{
        errc::bad_usage,
        "synthetic data needs at least one row, one feature and one feature a row, at most "
        "2^53 features and at most 1,000,000 of them a row"};
  auto made = files.create_folders(options.folder);
  if (!made) return made;
  synthesis all(files, options);
  score train, test;
  auto written = all.write_rows("train.svm", train_stream, options.rows, train);
  if (written) written = all.write_rows("test.svm", test_stream, options.test_rows, test);
  if (!written) return written;
  return all.write_truth(test);
}

}  // namespace troupe::apps
