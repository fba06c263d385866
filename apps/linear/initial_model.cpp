#include "apps/linear/initial_model.hpp"

#include <google/protobuf/util/message_differencer.h>

#include "apps/model/manifest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

std::string number(double value) {
  return format("%.9g", value);
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::string text_of(const google::protobuf::Map<std::string, double>& numbers) {
  std::string text;
  for (const auto& [name, value] : std::map<std::string, double>(numbers.begin(), numbers.end()))
    text += (text.empty() ? "" : ", ") + name + " " + number(value);
  return text.empty() ? "none" : text;
}

std::string text_of(const config::Csv& csv) {
  auto text = "separator '" + csv.separator() + "', " + (csv.header() ? "a header" : "no header");
  for (const auto& [name, role] :
       std::map<std::string, std::string>(csv.columns().begin(), csv.columns().end()))
    text += ", " + name + " " + role;
  return text + ", others " + csv.others() + ", missing " + joined(csv.missing()) + ", labels " +
         text_of(csv.label_words());
}

std::string text_of(const label_map& labels) {
  const auto one = [](const std::optional<double>& label) {
    return label ? number(*label) : std::string("any");
  };
  return labels.maps() ? one(labels.negative()) + " and " + one(labels.positive()) : "numbers";
}

std::string function_of(const pb::TableSpec& spec) {
  auto text = spec.function();
  for (const auto& p : spec.parameters()) text += " " + p.name() + " " + number(p.value());
  return text;
}

// Collects what differs.
class comparison {
 public:
  comparison(const std::string& folder) : folder_(folder) {}
  void of(const std::string& what, const std::string& then, const std::string& now) {
    if (then != now) text_ += "\n  " + what + ": " + then + " there, " + now + " in this job";
  }
  result<void> outcome() const {
    if (text_.empty()) return {};
    return error{errc::bad_config,
                 "model.initial: the model in " + folder_ + " cannot be gone on from:" + text_};
  }

 private:
  const std::string folder_;
  std::string text_;
};

void compare_data(const config::Data& then, const config::Data& now, comparison& differ) {
  differ.of("data.format", then.format(), now.format());
  differ.of("data.index_base", std::to_string(then.index_base()), std::to_string(now.index_base()));
  differ.of("data.hash_seed", std::to_string(then.hash_seed()), std::to_string(now.hash_seed()));
  differ.of("data.hash_bits", std::to_string(then.hash_bits()), std::to_string(now.hash_bits()));
  differ.of("data.names", then.names(), now.names());
  differ.of("data.numbers", then.numbers(), now.numbers());
  differ.of("data.interactions", joined(then.interactions()), joined(now.interactions()));
  differ.of("data.ignore", joined(then.ignore()), joined(now.ignore()));
  differ.of("data.factors", text_of(then.factors()), text_of(now.factors()));
  differ.of("data.scaling", then.scaling(), now.scaling());
  differ.of("data.negative_keep", number(then.negative_keep()), number(now.negative_keep()));
  if (now.format() == "csv") differ.of("data.csv", text_of(then.csv()), text_of(now.csv()));
}

}  // namespace

result<initial_model> read_initial_model(file_system& files, const std::string& folder) {
  const auto wrong = [&](errc code, const std::string& why) {
    return error{code, "model.initial: " + why};
  };
  if (!is_model(files, folder))
    return wrong(errc::bad_config, folder + " is no model's folder: it has no " + manifest_name);
  auto manifest = read_manifest(files, folder);
  if (!manifest) return wrong(manifest.failure().code, manifest.failure().text);
  if (manifest->app() != "linear")
    return wrong(errc::bad_config,
                 folder + " holds a model of the app '" + manifest->app() + "', not linear");
  initial_model m{folder, std::move(*manifest), {}, {}};
  const auto& l = m.manifest.labels();
  m.labels = label_map(l.maps(), l.has_negative() ? std::optional(l.negative()) : std::nullopt,
                       l.has_positive() ? std::optional(l.positive()) : std::nullopt);
  for (const auto& table : m.manifest.tables())
    for (const auto& part : table.parts()) m.files.push_back(part.name());
  return m;
}

result<void> check_initial_model(const initial_model& earlier, const config::Job& job,
                                 const linear_job& made) {
  const auto& m = earlier.manifest;
  const auto then = config::parse_job(m.configuration(), earlier.folder + ": configuration");
  if (!then) return then.failure();
  const auto& model = made.training.model;
  comparison differ(earlier.folder);
  compare_data(then->data(), job.data(), differ);
  differ.of("model.loss", m.loss(), to_string(model.loss));
  differ.of("model.bias", m.bias() ? "true" : "false", model.bias ? "true" : "false");
  differ.of("the labels", text_of(earlier.labels), text_of(model.labels));
  for (const auto& now : made.tables)
    for (const auto& table : m.tables()) {
      const auto& was = table.spec();
      if (was.name() != now.name()) continue;
      const auto of_table = [&](const char* what) { return "tables." + now.name() + what; };
      differ.of(of_table(".value_type"), was.value_type(), now.value_type());
      differ.of(of_table(": the width"), std::to_string(was.width()), std::to_string(now.width()));
      if (job.model().initial_state())
        differ.of(of_table(".updater (model.initial_state = false takes up the values alone)"),
                  function_of(was), function_of(now));
      // A parameter without a row has its initial value, which follows from these.
      differ.of(of_table(".initialiser"), was.initialiser(), now.initialiser());
      if (now.initialiser() == "uniform" || now.initialiser() == "normal")
        differ.of("job.seed", std::to_string(m.seed()), std::to_string(job.job().seed()));
    }
  return differ.outcome();
}

}  // namespace troupe
