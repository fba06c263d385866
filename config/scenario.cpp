#include "config/scenario.hpp"

#include <algorithm>

#include "config/check.hpp"
#include "config/reading.hpp"
#include "config/values.hpp"
#include "config/writing.hpp"
#include "core/text.hpp"

namespace troupe::config {
namespace {

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string with_hint(std::string text, const std::string& word,
                      const std::vector<std::string>& words) {
  const auto near = nearest(word, words);
  return near.empty() ? text : text + "; did you mean '" + near + "'?";
}

std::vector<misfit> misfits_of(const Scenario& s, const scenario_words& words) {
  std::vector<misfit> found;
  const auto add = [&](const std::string& key, const std::string& text) {
    found.push_back({key, text});
  };
  if (s.cluster().copies() >= s.cluster().servers())
    add("cluster.copies", "so many copies need more servers than there are");
  const auto& w = s.workload();
  if (w.kind() == "registers" && w.combine() == "sum")
    add("workload.combine", "registers cannot be added up");
  if (w.kind() == "job" && w.job().empty()) add("workload.job", "kind = job needs a job file");
  if (w.kind() != "job" && !w.job().empty()) add("workload.job", "only kind = job has a job file");
  if (w.staleness() == -1 && w.combine() == "sum")
    add("workload.combine", "asynchronous slots do not wait for each other: use each");
  if (w.restore_at_size() > 0 && s.cluster().checkpoint_every() == 0)
    add("workload.restore_at",
        "without checkpoints (cluster.checkpoint_every) nothing is restored");
  for (const bool pulls : {false, true})
    if (const auto text = words.misfit_of_filters ? words.misfit_of_filters(s, pulls) : "";
        !text.empty())
      add(pulls ? "filters.pull" : "filters.push", text);
  for (int i = 0; i < s.faults_size(); ++i) {
    const auto& f = s.faults(i);
    const auto key = [&](const char* name) { return format("faults[%d].%s", i + 1, name); };
    if (!is_one_of(f.kind(), words.kinds))
      add(key("kind"), with_hint("'" + f.kind() +
                                     "' is no kind of fault; 'troupe chaos --kinds' "
                                     "lists them",
                                 f.kind(), words.kinds));
    if (!f.state().empty() && !is_one_of(f.state(), words.states))
      add(key("state"), with_hint("'" + f.state() +
                                      "' is no state of the protocol; 'troupe chaos "
                                      "--states' lists them",
                                  f.state(), words.states));
    if (!f.state().empty() && f.every() > 0)
      add(key("every"), "a fault strikes at random moments, or at a state");
    if (f.every() > 0 && f.until() <= f.at())
      add(key("until"), "it lies before the first moment (at)");
  }
  return found;
}

result<Scenario> read_scenario(std::string_view text, const std::string& name,
                               const path_base& paths, const scenario_words& words) {
  Scenario s;
  reading r(s);
  const auto tree = parse_toml(text, name);
  if (!tree) return tree.failure();
  r.read(*tree, paths);
  r.finish(name, paths);
  if (r.faults().empty())
    for (auto& m : misfits_of(s, words))
      r.faults().add(r.place_of(m.key, name), m.key, std::move(m.text));
  if (!r.faults().empty()) return r.faults().as_error();
  return s;
}

// Leaves out what a file need not say.
void strip(Message& of) {
  const auto& reflection = *of.GetReflection();
  for (const auto* field : fields_of(*of.GetDescriptor())) switch (shape_of(*field)) {
      case shape::value:
        if (reflection.HasField(of, field) && facts_of(*field).has_default_() &&
            get(of, *field) == default_of(*field))
          reflection.ClearField(&of, field);
        break;
      case shape::section:
        strip(*reflection.MutableMessage(&of, field));
        if (reflection.GetMessage(of, field).ByteSizeLong() == 0) reflection.ClearField(&of, field);
        break;
      default:
        break;
    }
}

}  // namespace

result<Scenario> parse_scenario(std::string_view text, const std::string& name,
                                const scenario_words& words) {
  return read_scenario(text, name, {}, words);
}

result<Scenario> load_scenario(file_system& files, const std::string& path,
                               const scenario_words& words) {
  constexpr std::uint64_t limit = std::uint64_t{4} << 20;
  const auto text = read_text(files, path, limit);
  if (!text) return text.failure();
  const auto base = base_of(path);
  if (!base) return base.failure();
  return read_scenario(*text, path, *base, words);
}

std::string to_toml(const Scenario& scenario) {
  auto brief = scenario;
  strip(brief);
  for (auto& f : *brief.mutable_faults()) {
    const auto kind = f.kind(), node = f.node();
    strip(f);
    f.set_kind(kind);  // said even so: a reader looks for them
    f.set_node(node);
  }
  return written(brief);
}

}  // namespace troupe::config
