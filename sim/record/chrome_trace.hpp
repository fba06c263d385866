#pragma once
// A run as a file in the Chrome trace-event format (JSON object format, complete events "X",
// instants "i" and counters "C"), which Perfetto (ui.perfetto.dev) and chrome://tracing show: one
// track a node, with what it computed, transferred and waited for. Times are virtual microseconds.
//
// The file is written as the run goes. After `most_events` it says so and takes no more, so that it
// stays bounded.

#include <memory>
#include <string>

#include "core/file.hpp"
#include "core/result.hpp"
#include "sim/record/recorder.hpp"

namespace troupe::sim {

class chrome_trace final : public trace_sink {
 public:
  static constexpr std::uint64_t usual_most_events = 5'000'000;  // some 500 MB

  static result<std::unique_ptr<chrome_trace>> create(
      file_system& files, const std::string& path, const cast_of_nodes& cast,
      std::uint64_t most_events = usual_most_events);

  void did(node_number node, activity what, std::string_view name, instant from,
           instant to) override;
  void befell(node_number node, std::string_view text, instant at) override;
  void objective(double value, instant at) override;

  // Completes the file. Reports the first error that writing met.
  result<void> close();
  bool cut_short() const { return events_ >= most_events_; }

 private:
  chrome_trace(std::unique_ptr<writable_file> file, std::uint64_t most_events);
  bool full();
  void add(const std::string& event);
  void write_out();

  std::unique_ptr<writable_file> file_;
  const std::uint64_t most_events_;
  std::uint64_t events_ = 0;
  std::string buffer_;
  result<void> outcome_;
};

}  // namespace troupe::sim
