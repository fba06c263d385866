#pragma once
// A job file: TOML text in, a checked config::Job out, with every default filled in. The schema,
// with each key's meaning, default and range, is config/job.proto; loader, reference and writer
// follow it by reflection.
//
//   auto job = config::load_job(*posix_file_system(), "config/a9a.toml", {"training.staleness=4"});
//   if (!job) ...                     // job.failure().text names all faults found, one to a line
//   job->training().epochs();
//   config::table_of(*job, "bias").updater().rate();
//
// Durations are kept as nanoseconds, sizes as bytes, staleness "unbounded" as -1. Errors are
// errc::bad_config, or errc::io when the file cannot be read; a line of theirs begins
// "job.toml:12:3: " or "--set a.b=c: ".

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/job.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace troupe::config {

// An override is "a.b=c": the key's path and its value in TOML, or text without quotes. It replaces
// what the file says.
using overrides = std::vector<std::string>;

// Reads a job file of at most 16 MiB. Paths in it are relative to its folder, unless they begin
// with a ${VARIABLE}; those, the paths in overrides and those left out are relative to the current
// folder. All become absolute.
// Sections of further files, `more`, replace what the job file says; overrides come last.
result<Job> load_job(file_system& files, const std::string& path, const overrides& set = {},
                     const std::vector<std::string>& more = {});

// The same of text that is no file: `name` stands in errors, and paths stay as they are, but for
// variables.
result<Job> parse_job(std::string_view text, const std::string& name, const overrides& set = {});

// What no single key can tell. The errors of a Job that did not come from a file name keys only.
result<void> check_job(const Job& job);

// The effective configuration as a job file: parse_job(to_toml(j), ...) gives j again.
std::string to_toml(const Job& job);

// The whole reference: every key with its meaning, type, range and default. As text it is a job
// file of the defaults.
std::string reference_text();
std::string reference_markdown();

// The table's settings with what [tables.NAME] leaves out taken from [training] and [model]. Kind,
// partition and bounds stay unset where only the app knows them.
Table table_of(const Job& job, const std::string& name);

// The numbers that the updater's function takes by name, beside rate, schedule, penalties and
// clipping.
std::map<std::string, double> function_parameters(const Updater& updater);

constexpr std::int64_t unbounded = -1;
inline bool bounded(const Job& job) {
  return job.training().staleness() != unbounded;
}
inline bool bulk_synchronous(const Job& job) {
  return job.training().staleness() == 0;
}

}  // namespace troupe::config
