#include "apps/linear/liblinear_format.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <ostream>
#include <sstream>

#include "apps/linear/arithmetic.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/linear/saved_linear.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr key_id most_keys = (key_id{1} << 31) - 2;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30;

// liblinear's solvers, with the loss that each minimises. Those of the hinge loss that is not
// squared, and of several classes at once, have no like here.
const std::map<std::string, loss_kind>& solvers() {
  static const std::map<std::string, loss_kind> known{
      {"L2R_LR", loss_kind::logistic},
      {"L2R_LR_DUAL", loss_kind::logistic},
      {"L1R_LR", loss_kind::logistic},
      {"L2R_L2LOSS_SVC", loss_kind::squared_hinge},
      {"L2R_L2LOSS_SVC_DUAL", loss_kind::squared_hinge},
      {"L1R_L2LOSS_SVC", loss_kind::squared_hinge},
      {"L2R_L2LOSS_SVR", loss_kind::squared},
      {"L2R_L2LOSS_SVR_DUAL", loss_kind::squared}};
  return known;
}

const char* solver_of(loss_kind loss) {
  switch (loss) {
    case loss_kind::logistic:
      return "L2R_LR";
    case loss_kind::squared_hinge:
      return "L2R_L2LOSS_SVC";
    default:
      return "L2R_L2LOSS_SVR";
  }
}

std::string shortest(double value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

result<std::string> label_line(const linear_model& model) {
  std::string text = "label";
  for (const auto& label : {model.labels.positive(), model.labels.negative()}) {
    // Of a class that no training row had any other number will do.
    const double number = label ? *label : model.labels.positive() == 1.0 ? -1 : 1;
    if (number != std::floor(number) || std::fabs(number) > 2147483647)
      return error{
          errc::bad_usage,
          "liblinear's labels are whole numbers, and this model's are not: " + shortest(number)};
    text += format(" %d", static_cast<int>(number));
  }
  return text + "\n";
}

// ---- reading

class liblinear_reader {
 public:
  liblinear_reader(std::string path, std::string text)
      : path_(std::move(path)), in_(std::move(text)) {}

  result<imported_model> read() {
    std::string line;
    while (next(line) && line != "w")
      if (auto done = read_setting(line); !done) return done.failure();
    if (line != "w") return wrong("there is no line 'w': it is no model of liblinear's");
    if (!loss_) return wrong("there is no line 'solver_type'");
    if (classes_ != 2) return wrong(format("it has %d classes; models of two are read", classes_));
    if (classifies(*loss_) && labels_.size() != 2) return wrong("it does not name its two labels");
    if (features_ < 0) return wrong("there is no line 'nr_feature'");
    return read_weights();
  }

 private:
  error wrong(const std::string& why) const {
    return {errc::bad_data, format("%s:%zu: ", path_.c_str(), line_) + why};
  }
  bool next(std::string& line) {
    ++line_;
    if (!std::getline(in_, line)) return false;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    return true;
  }

  result<void> read_setting(const std::string& line) {
    std::istringstream words(line);
    std::string name, word;
    words >> name >> word;
    std::istringstream number(word);
    if (name == "solver_type") {
      const auto found = solvers().find(word);
      if (found == solvers().end())
        return wrong("the solver '" + word + "' minimises a loss that is not known here");
      loss_ = found->second;
    } else if (name == "nr_class") {
      number >> classes_;
    } else if (name == "nr_feature") {
      if (!(number >> features_) || features_ < 0 || static_cast<key_id>(features_) > most_keys + 1)
        return wrong("the number of features cannot be read");
    } else if (name == "bias") {
      if (!(number >> bias_) || !std::isfinite(bias_)) return wrong("the bias cannot be read");
    } else if (name == "label") {
      std::istringstream all(line);
      all >> name;
      for (double label; all >> label;) labels_.push_back(label);
    } else {
      return wrong("'" + name.substr(0, 40) + "' is no setting of a model of liblinear's");
    }
    return {};
  }

  result<imported_model> read_weights() {
    std::vector<double> weights;
    std::string line;
    while (next(line)) {
      if (line.empty()) continue;
      double value = 0;
      const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), value);
      if (code != std::errc() || end != line.data() + line.size() || !std::isfinite(value))
        return wrong("'" + line.substr(0, 40) + "' is no finite number");
      weights.push_back(value);
    }
    const bool with_bias = bias_ >= 0;
    const auto expected = static_cast<std::size_t>(features_) + (with_bias ? 1 : 0);
    if (weights.size() != expected)
      return wrong(format("%zu weights, and %zu were announced", weights.size(), expected));
    auto described = describe(with_bias);
    if (!described) return described;
    auto& tables = described->tables;
    for (std::size_t i = 0; i < static_cast<std::size_t>(features_); ++i)
      if (weights[i] != 0) add(tables[weights_table], i, weights[i]);
    if (with_bias) add(tables[bias_table], bias_key, weights.back() * bias_);
    return described;
  }

  static void add(sorted_rows& rows, key_id key, double value) {
    rows.keys.push_back(key);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    rows.values.insert(rows.values.end(), bytes, bytes + sizeof value);
  }

  // What the model would say of itself if it had been trained here.
  result<imported_model> describe(bool with_bias) const {
    auto text = format(
        "[job]\nname = \"liblinear\"\n[data]\ntrain = \"-\"\n[model]\nvalue_type = "
        "\"f64\"\nloss = \"%s\"\nbias = %s\n",
        to_string(*loss_), with_bias ? "true" : "false");
    const auto job = config::parse_job(text, path_);
    if (!job) return job.failure();
    data_facts facts;
    facts.rows = 1;
    for (const double label : labels_) facts.labels[label] = 1;
    if (labels_.empty()) facts.labels_complete = false;  // numbers, not classes
    auto made = make_linear_job(*job, {&facts, nullptr, nullptr, nullptr});
    if (!made) return made.failure();
    // The first label is the one that a score above 0 stands for.
    if (classifies(*loss_)) made->training.model.labels = label_map(true, labels_[1], labels_[0]);
    imported_model model;
    model.manifest = describe_model(*job, *made);
    model.tables.resize(made->tables.size());
    return model;
  }

  const std::string path_;
  std::istringstream in_;
  std::size_t line_ = 0;
  std::optional<loss_kind> loss_;
  int classes_ = 2;
  std::int64_t features_ = -1;
  double bias_ = -1;
  std::vector<double> labels_;
};

}  // namespace

result<void> write_liblinear(const saved_model& saved, std::ostream& out) {
  const auto model = linear_model_of(saved);
  if (!model) return model.failure();
  const auto weights = rows_of(*saved.tables[weights_table], true);
  const auto type = saved.tables[weights_table]->spec().type;
  if (saved.tables[weights_table]->spec().init.how != initialiser_spec::kind::zero)
    return error{errc::bad_usage,
                 "liblinear's models are zero where nothing was learned, and this one has other "
                 "initial values; export it as text or npz"};
  const auto last = weights.keys.empty() ? 0 : weights.keys.back();
  const auto features = weights.keys.empty() ? 0 : last + 1;
  if (last > most_keys)
    return error{errc::bad_usage,
                 format("liblinear numbers features up to %llu, and this model has the key %llu: "
                        "its features are hashed names; export it as text or npz",
                        static_cast<unsigned long long>(most_keys + 1),
                        static_cast<unsigned long long>(last))};
  double bias = model->score_offset;
  if (model->bias) {
    const auto rows = rows_of(*saved.tables[bias_table], true);
    if (!rows.keys.empty())
      bias += number_at(saved.tables[bias_table]->spec().type, rows.values.data(), 0);
  }
  const bool with_bias = model->bias || bias != 0;
  out << "solver_type " << solver_of(model->loss) << "\nnr_class 2\n";
  if (classifies(model->loss)) {
    const auto labels = label_line(*model);
    if (!labels) return labels.failure();
    out << *labels;
  }
  out << "nr_feature " << features << "\nbias " << (with_bias ? 1 : -1) << "\nw\n";
  std::size_t row = 0;
  const auto row_bytes = saved.tables[weights_table]->spec().row_bytes();
  for (key_id key = 0; key < features; ++key) {
    const bool there = weights.keys[row] == key;
    out << (there ? shortest(number_at(type, weights.values.data() + row * row_bytes, 0)) : "0")
        << " \n";
    if (there) ++row;
  }
  if (with_bias) out << shortest(bias) << " \n";
  out.flush();
  if (!out) return error{errc::io, "the export could not be written"};
  return {};
}

result<imported_model> read_liblinear(file_system& files, const std::string& path) {
  auto text = read_text(files, path, most_bytes);
  if (!text) return text.failure();
  return liblinear_reader(path, std::move(*text)).read();
}

}  // namespace troupe
