#pragma once
// A prepared job in virtual time, with the files that show how it went.

#include <string>

#include "apps/commands/job_run.hpp"
#include "apps/virtual/virtual_cluster.hpp"
#include "core/result.hpp"

namespace troupe {

struct virtual_run_files {
  std::string trace;   // Chrome trace events; empty: none
  std::string report;  // a page; empty: none
};

// Runs it; fills in what the facts say of its end. An error is of the files alone: a job that fails
// has a status.
result<virtual_run> run_virtual_job(prepared_job& job, const virtual_settings& settings,
                                    const virtual_run_files& files, const virtual_watch& watch);

}  // namespace troupe
