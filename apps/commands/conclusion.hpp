#pragma once
// How runs of all stages begin and end at the terminal.

#include <boost/program_options.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands/job_run.hpp"
#include "apps/console/json.hpp"
#include "apps/console/progress.hpp"
#include "config/job.hpp"

namespace troupe {

// "auto", "live", "plain" or "none", of this terminal.
console::progress_style style_of(const std::string& word);

// Adds the options that override keys of a job: --set, --seed, --workers, ...
void add_override_options(boost::program_options::options_description& options);
config::overrides overrides_of(const boost::program_options::variables_map& values);

int exit_code_of_status(const pb::JobStatus& status);

// Prints the summary, writes the JSON file if one is named, reports a failure; the exit code.
int conclude(prepared_job& run, const pb::JobStatus& status, const std::string& more_summary,
             const std::vector<std::pair<std::string, console::json>>& more_json,
             const std::string& json_file);

}  // namespace troupe
