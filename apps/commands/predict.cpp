// troupe predict: a saved model's predictions of rows, in their order.

#include <charconv>
#include <iostream>
#include <memory>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/console/json.hpp"
#include "apps/linear/prediction.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

enum class column { probability, score, label };

// Lines to a file, some at a time.
class line_output {
 public:
  explicit line_output(std::unique_ptr<writable_file> file) : file_(std::move(file)) {}

  result<void> add(const std::optional<std::string_view>& id, std::string_view value) {
    if (id) (text_ += *id) += '\t';
    (text_ += value) += '\n';
    constexpr std::size_t enough = 1 << 16;
    return text_.size() < enough ? result<void>() : flush();
  }
  result<void> flush() {
    const auto done =
        file_->append({reinterpret_cast<const std::byte*>(text_.data()), text_.size()});
    text_.clear();
    return done;
  }
  // What was predicted before a fault is not lost.
  result<void> close() {
    if (auto done = flush(); !done) return done;
    return file_->close();
  }

 private:
  std::unique_ptr<writable_file> file_;
  std::string text_;
};

std::string as_json(const prediction& p) {
  console::json_object o;
  o.add("rows", console::json::of(p.rows));
  o.add("labelled", console::json::of(p.labelled));
  o.add("bad_rows", console::json::of(p.bad_rows));
  for (const auto& m : p.metrics)
    o.add(m.name(), m.known() ? console::json::of(m.value()) : console::json());
  return o.page();
}

// Standard output is for the predictions alone.
void tell(const prediction& p) {
  for (const auto& fault : p.bad) std::cerr << "troupe: " << fault << "; the row is left out\n";
  if (p.bad_rows > p.bad.size())
    std::cerr << "troupe: " << p.bad_rows << " rows were left out in all\n";
  std::size_t longest = 0;
  for (const auto& m : p.metrics) longest = std::max(longest, m.name().size());
  for (const auto& m : p.metrics) {
    char digits[64] = "-";
    auto* end = digits + 1;
    if (m.known()) end = std::to_chars(digits, digits + sizeof digits, m.value()).ptr;
    std::cerr << m.name() << std::string(longest + 2 - m.name().size(), ' ')
              << std::string(digits, end) << '\n';
  }
}

}  // namespace

int predict_command(const std::vector<std::string>& arguments) {
  command_line line(
      "predict --model DIR [FILE|-]... [options]",
      "Predicts rows, in their order, one line to each: the row's id and a tab, if it has one, and "
      "the probability of the positive class; for other losses than the logistic one the score. "
      "Rows are read as the model's own were; labels may be missing. Without a FILE, or for '-', "
      "they come from standard input, plain or packed.");
  predict_options options;
  std::string output, json;
  bool raw = false, labels = false;
  line.options().add_options()("model", po::value(&options.model)->required()->value_name("DIR"),
                               "the model's folder")(
      "raw", po::bool_switch(&raw), "prints scores, <weights, x> + bias, and not probabilities")(
      "labels", po::bool_switch(&labels), "prints the label that is predicted")(
      "batch", po::value(&options.batch_rows)->default_value(options.batch_rows)->value_name("N"),
      "rows that are scored together; 1: each is answered as soon as it has come")(
      "output", po::value(&output)->value_name("FILE"),
      "where predictions go; standard output if left out")(
      "metrics", po::bool_switch(&options.metrics),
      "measures too, on rows that have labels; the figures go to standard error")(
      "json", po::value(&json)->value_name("FILE"), "writes counts and metrics to a file")(
      "set", po::value(&options.set)->composing()->value_name("KEY=VALUE"),
      "overrides a key of the job that the model was made by, as in --set data.max_bad_rows=10");
  line.positional("file", -1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (options.batch_rows < 1 || options.batch_rows > (1 << 20))
    return report({errc::bad_usage, "--batch is from 1 to 1048576 rows"});
  if (raw && labels) return report({errc::bad_usage, "--raw and --labels exclude each other"});
  options.files = values.count("file") ? values["file"].as<std::vector<std::string>>()
                                       : std::vector<std::string>{"-"};
  const auto files = posix_file_system();
  auto file = output.empty() ? result<std::unique_ptr<writable_file>>(standard_output())
                             : files->create(output);
  if (!file) return report(file.failure());
  line_output out(std::move(*file));
  score_reading reading;
  auto what = raw ? column::score : labels ? column::label : column::probability;
  prediction_listener listener;
  listener.begin = [&](const score_reading& r) {
    reading = r;
    if (!r.probabilities && what == column::probability) what = column::score;
  };
  listener.row = [&](const predicted_row& row) {
    const double value = what == column::score   ? row.score
                         : what == column::label ? reading.label(row.score)
                                                 : reading.probability(row.score);
    if (what == column::label)
      if (const auto word = reading.words.find(value); word != reading.words.end())
        return out.add(row.id, word->second);
    char digits[64];
    const auto* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return out.add(row.id, {digits, static_cast<std::size_t>(end - digits)});
  };
  listener.batch = [&] { return out.flush(); };
  const auto done = predict(files, options, listener);
  if (const auto closed = out.close(); !closed) return report(closed.failure());
  if (!done) return report(as_bad_input(done.failure()));
  tell(*done);
  if (!json.empty())
    if (const auto written = write_text_atomically(*files, json, as_json(*done)); !written)
      return report(written.failure());
  return exit_done;
}

}  // namespace troupe
