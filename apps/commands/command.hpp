#pragma once
// The commands of the executable: a name, one line of what it does, and the function that runs it.

#include <iosfwd>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe {

// docs/exit-codes.md
enum exit_code : int { exit_done = 0, exit_failed = 1, exit_bad_input = 2, exit_interrupted = 130 };

// Bad usage, configuration and data are the user's to mend; everything else failed while running.
int exit_code_of(errc code);
// The same error, when it was met before anything ran: a file that is not there is bad input too.
error as_bad_input(error why);
// "troupe: TEXT" on standard error, one line for each line of the text; returns its exit code.
int report(const error& why);

struct subcommand {
  const char* name;
  const char* summary;
  int (*run)(const std::vector<std::string>& arguments);
};

int sim_command(const std::vector<std::string>& arguments);
int node_command(const std::vector<std::string>& arguments);
int up_command(const std::vector<std::string>& arguments);
int add_command(const std::vector<std::string>& arguments);
int status_command(const std::vector<std::string>& arguments);
int drain_command(const std::vector<std::string>& arguments);
int rebalance_command(const std::vector<std::string>& arguments);
int stop_command(const std::vector<std::string>& arguments);
int certs_command(const std::vector<std::string>& arguments);
int manifest_command(const std::vector<std::string>& arguments);
// 'troupe checkpoint now'
int checkpoint_now(const std::string& manifest);
int sweep_command(const std::vector<std::string>& arguments);
int chaos_command(const std::vector<std::string>& arguments);
int calibrate_command(const std::vector<std::string>& arguments);
int checkpoint_command(const std::vector<std::string>& arguments);
int evaluate_command(const std::vector<std::string>& arguments);
int export_command(const std::vector<std::string>& arguments);
int import_command(const std::vector<std::string>& arguments);
int inspect_command(const std::vector<std::string>& arguments);
int predict_command(const std::vector<std::string>& arguments);
int check_data_command(const std::vector<std::string>& arguments);
int config_command(const std::vector<std::string>& arguments);
int make_data_command(const std::vector<std::string>& arguments);

}  // namespace troupe
