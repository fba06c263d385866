#pragma once
// What a report says of a run beside the scheduler's status: who ran what, on which data, and how
// it ended.

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::console {

struct run_facts {
  std::string job;
  std::uint64_t seed = 0;
  std::uint32_t workers = 0, servers = 0, slots = 0;
  std::uint64_t epochs = 0;
  std::uint64_t minibatch = 0;  // rows to a clock of one slot; 0: clocks are no minibatches
  std::string staleness;        // as configured: "0", "4", "unbounded"
  std::uint64_t train_rows = 0, test_rows = 0, validation_rows = 0;
  std::uint64_t dropped_negatives = 0;   // training rows that data.negative_keep left out
  bool keeps_best = false;               // the model is that of the best evaluation
  std::uint64_t features = 0;            // distinct keys of the training data; 0: not counted
  std::vector<std::string> table_names;  // by table number
  // By table: what counts of filtered bytes are of, "raw" first.
  std::vector<std::vector<std::string>> push_steps, pull_steps;
  double wall_seconds = 0;   // the whole run, reading and saving included
  std::string model_digest;  // empty: no model came of it
  std::string model_folder;  // empty: not saved
  int exit_code = 0;
  std::string failure;  // empty: none
};

}  // namespace troupe::console
