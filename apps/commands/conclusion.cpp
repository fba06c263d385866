#include "apps/commands/conclusion.hpp"

#include "apps/commands/command.hpp"
#include "apps/console/result_json.hpp"
#include "apps/console/summary.hpp"
#include "apps/console/terminal.hpp"

namespace troupe {

namespace po = boost::program_options;

void add_override_options(po::options_description& options) {
  options.add_options()(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
      "overrides a key of the job, as in --set training.epochs=3 ('troupe config' lists them)")(
      "seed", po::value<std::string>()->value_name("N"), "overrides job.seed")(
      "workers", po::value<std::string>()->value_name("N"), "overrides cluster.workers")(
      "servers", po::value<std::string>()->value_name("N"), "overrides cluster.servers")(
      "slots", po::value<std::string>()->value_name("N"), "overrides cluster.slots")(
      "model", po::value<std::string>()->value_name("DIR"),
      "overrides model.output, the folder the model is saved in");
}

console::progress_style style_of(const std::string& word) {
  if (word == "none") return console::progress_style::none;
  const bool live = word == "live" || (word == "auto" && console::is_terminal(1));
  return live ? console::progress_style::live : console::progress_style::plain;
}

// --seed 7 is --set job.seed=7, and so on: the short forms of what is changed most.
config::overrides overrides_of(const po::variables_map& values) {
  config::overrides all;
  if (values.count("set")) all = values["set"].as<std::vector<std::string>>();
  for (const auto& [option, key] : {std::pair("seed", "job.seed"),
                                    {"workers", "cluster.workers"},
                                    {"servers", "cluster.servers"},
                                    {"slots", "cluster.slots"}})
    if (values.count(option))
      all.push_back(std::string(key) + "=" + values[option].as<std::string>());
  if (values.count("model")) {
    // As a TOML string, so that no folder name is taken for something else.
    std::string quoted;
    for (const char c : values["model"].as<std::string>())
      (c == '"' || c == '\\') ? (quoted += '\\', quoted += c) : quoted += c;
    all.push_back("model.output=\"" + quoted + "\"");
  }
  return all;
}

int exit_code_of_status(const pb::JobStatus& status) {
  if (status.phase() == pb::JobStatus::FAILED)
    return exit_code_of(static_cast<errc>(status.code()));
  return status.interrupted() ? exit_interrupted : exit_done;
}

// What a run of either stage ends with.
int conclude(prepared_job& run, const pb::JobStatus& status, const std::string& more_summary,
             const std::vector<std::pair<std::string, console::json>>& more_json,
             const std::string& json_file) {
  run.facts.exit_code = exit_code_of_status(status);
  run.facts.failure = status.text();
  console::write_to(1, console::summary_table(status, run.facts) + more_summary);
  if (!json_file.empty())
    if (const auto written = write_text_atomically(
            *run.cluster.files, json_file, console::json_result(status, run.facts, more_json));
        !written)
      return report(written.failure());
  if (status.phase() == pb::JobStatus::FAILED)
    return report({static_cast<errc>(status.code()), status.text()});
  return run.facts.exit_code;
}

}  // namespace troupe
