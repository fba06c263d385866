#include "config/job.hpp"

#include "config/check.hpp"
#include "config/reading.hpp"

namespace troupe::config {

namespace {

// Where the paths of each part of a job belong.
struct bases {
  path_base of_file;
  path_base of_rest;  // overrides and defaults
};

// A file's text and what it is called in errors.
struct named_text {
  std::string name, text;
};

result<Job> read_job(const std::vector<named_text>& layers, const overrides& set,
                     const bases& paths) {
  Job job;
  reading r(job);
  for (const auto& layer : layers) {
    const auto tree = parse_toml(layer.text, layer.name);
    if (!tree) return tree.failure();
    r.read(*tree, paths.of_file);
  }
  const auto& name = layers.front().name;
  for (const auto& override_text : set) {
    const auto override_tree = parse_override(override_text);
    if (override_tree)
      r.read(*override_tree, paths.of_rest);
    else
      r.faults().add({}, "", override_tree.failure().text);
  }
  r.finish(name, paths.of_rest);
  if (job.model().app() != "linear") r.faults().forget("data.train");  // its data are its own
  // Whether values fit together can be told only of values that were understood.
  if (r.faults().empty())
    for (auto& m : misfits_of(job))
      r.faults().add(r.place_of(m.key, name), m.key, std::move(m.text));
  if (!r.faults().empty()) return r.faults().as_error();
  return job;
}

bool penalised(const Job& job, const std::string& table) {
  return table != "bias" || job.training().penalise_bias();
}

}  // namespace

result<Job> parse_job(std::string_view text, const std::string& name, const overrides& set) {
  return read_job({{name, std::string(text)}}, set, {});
}

result<Job> load_job(file_system& files, const std::string& path, const overrides& set,
                     const std::vector<std::string>& more) {
  constexpr std::uint64_t limit = std::uint64_t{16} << 20;
  std::vector<named_text> layers;
  std::vector<std::string> names{path};
  names.insert(names.end(), more.begin(), more.end());
  for (const auto& name : names) {
    auto text = read_text(files, name, limit);
    if (!text) return text.failure();
    layers.push_back({name, std::move(*text)});
  }
  const auto base = base_of(path);
  if (!base) return base.failure();
  return read_job(layers, set, {*base, {base->current, base->current}});
}

result<void> check_job(const Job& job) {
  findings found;
  for (auto& m : misfits_of(job)) found.add({}, m.key, std::move(m.text));
  if (!found.empty()) return found.as_error();
  return {};
}

Table table_of(const Job& job, const std::string& name) {
  Table whole;
  *whole.mutable_updater() = job.training().updater();
  *whole.mutable_initialiser() = job.model().initialiser();
  whole.set_combine(job.training().combine());
  whole.set_value_type(job.model().value_type());
  if (!penalised(job, name)) {
    whole.mutable_updater()->set_l1(0);
    whole.mutable_updater()->set_l2(0);
  }
  *whole.mutable_push_filters() = job.filters().push();
  *whole.mutable_pull_filters() = job.filters().pull();
  if (const auto own = job.tables().find(name); own != job.tables().end()) {
    // A list of its own replaces the other.
    if (own->second.push_filters_size() > 0) whole.clear_push_filters();
    if (own->second.pull_filters_size() > 0) whole.clear_pull_filters();
    whole.MergeFrom(own->second);
  }
  return whole;
}

std::map<std::string, double> function_parameters(const Updater& updater) {
  std::map<std::string, double> numbers(updater.parameters().begin(), updater.parameters().end());
  const auto& name = updater.name();
  if (name == "momentum" || name == "nesterov") numbers["momentum"] = updater.momentum();
  if (name == "adagrad" || name == "rmsprop" || name == "adam")
    numbers["epsilon"] = updater.epsilon();
  if (name == "rmsprop") numbers["decay"] = updater.decay();
  if (name == "adam") {
    numbers["beta1"] = updater.beta1();
    numbers["beta2"] = updater.beta2();
  }
  if (name == "ftrl") {
    numbers["alpha"] = updater.alpha();
    numbers["beta"] = updater.beta();
  }
  return numbers;
}

}  // namespace troupe::config
