#pragma once
// Troupe's client library: a program of your own as a worker of a deployed cluster. It connects by
// the cluster's manifest, is given slots, and in each clock of a slot pulls rows, computes what it
// likes, and pushes. What is promised of pushes and pulls (each update counts once, whatever
// crashes; staleness within its bound) is promised here too: the same code speaks.
//
//   troupe::client cluster({"cluster.toml", "worker-0"});
//   while (auto turn = cluster.next_clock()) {
//     auto w = cluster.wait(cluster.pull(*turn, "weights", keys));
//     cluster.push(*turn, "weights", keys, gradient_of(w.floats));
//     cluster.end_clock(*turn);
//     if (good_enough) cluster.finish();
//   }
//
// The job's file says model.app = "external" and names its tables. All calls are made from one
// thread. Errors are thrown as client_error, whose text names who and why. Nothing of this header
// needs another library.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {

class client_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A slot's clock that has begun: what is asked belongs to it.
struct clock_turn {
  std::uint32_t slot = 0;
  std::uint64_t clock = 0;
};

struct table_description {
  std::string name;
  std::uint32_t width = 1;  // values to a key
  bool doubles = false;     // f64, else f32
};

// Rows that were pulled: `width` values to each key, in the order of the keys.
struct pulled_rows {
  std::vector<std::uint64_t> keys;  // of a range; empty where the caller named them
  std::vector<float> floats;        // of an f32 table
  std::vector<double> doubles;      // of an f64 table
  std::uint64_t staleness = 0;      // clocks by which the slowest slot was behind
};

using client_ticket = std::uint64_t;

class client {
 public:
  struct options {
    std::string manifest;      // path
    std::string name;          // which worker of the manifest this process is
    std::uint64_t clocks = 0;  // of each slot; 0: until finish()
    double patience = 120;     // seconds that the cluster may take to answer
  };

  // Waits until the scheduler has said what is to be learned.
  explicit client(const options& how);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  std::vector<table_description> tables() const;

  // Waits until one of this process's slots begins a clock; nothing: the job has ended.
  std::optional<clock_turn> next_clock();

  // Requests are sent at once, or when those of `after` are done. Each returns a ticket.
  client_ticket pull(const clock_turn& turn, const std::string& table,
                     const std::vector<std::uint64_t>& keys,
                     const std::vector<client_ticket>& after = {});
  // All rows with keys from `first` to `last`, both included, of a table that is partitioned by
  // range.
  client_ticket pull_range(const clock_turn& turn, const std::string& table, std::uint64_t first,
                           std::uint64_t last, const std::vector<client_ticket>& after = {});
  // One row to each key. Done when it is applied and every copy has it; with bounded staleness that
  // is not before its clock has ended, so end the clock first and wait for the ticket in the next.
  client_ticket push(const clock_turn& turn, const std::string& table,
                     const std::vector<std::uint64_t>& keys, const std::vector<float>& values,
                     const std::vector<client_ticket>& after = {});
  client_ticket push(const clock_turn& turn, const std::string& table,
                     const std::vector<std::uint64_t>& keys, const std::vector<double>& values,
                     const std::vector<client_ticket>& after = {});

  // Waits for a request, and gives its rows; of a push there are none. A ticket is waited for
  // once; one that nobody waits for is forgotten with the end of its slot's next clock.
  pulled_rows wait(client_ticket ticket);
  bool done(client_ticket ticket);

  // What the clock has learned is reported: examples, and the sum of their losses. The slot's
  // pushes of this clock are complete.
  void end_clock(const clock_turn& turn, std::uint64_t examples = 0, double loss = 0);

  // All of this process's slots end after the clock that they are in.
  void finish();

 private:
  struct inside;
  std::unique_ptr<inside> in_;
};

}  // namespace troupe
