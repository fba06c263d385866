#include "sim/record/chrome_trace.hpp"

#include "core/text.hpp"

namespace troupe::sim {
namespace {

constexpr std::size_t buffered = std::size_t{1} << 16;

// The names of nodes and kinds hold nothing that JSON needs more than this for.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// Microseconds to the nanosecond, without a double's rounding.
std::string micros(std::int64_t ns) {
  return format("%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
}

const char* word_of(activity what) {
  return what == activity::compute ? "compute" : what == activity::transfer ? "transfer" : "wait";
}
// Names of the viewer's own palette.
const char* colour_of(activity what) {
  return what == activity::compute ? "good" : what == activity::transfer ? "bad" : "grey";
}

}  // namespace

chrome_trace::chrome_trace(std::unique_ptr<writable_file> file, std::uint64_t most_events)
    : file_(std::move(file)), most_events_(most_events) {}

result<std::unique_ptr<chrome_trace>> chrome_trace::create(file_system& files,
                                                           const std::string& path,
                                                           const cast_of_nodes& cast,
                                                           std::uint64_t most_events) {
  auto file = files.create(path);
  if (!file) return file.failure();
  std::unique_ptr<chrome_trace> t(new chrome_trace(std::move(*file), most_events));
  t->buffer_ =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"virtual time\"}}";
  for (node_number n = 0; n < cast.size(); ++n)
    t->buffer_ += format(
        ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}"
        ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
        "index\":"
        "%u}}",
        n + 1, to_string(cast.role(n)).c_str(), n + 1, n);
  return t;
}

bool chrome_trace::full() {
  if (events_ < most_events_) return false;
  if (events_ == most_events_) ++events_;  // `add` says it once
  return true;
}

void chrome_trace::did(node_number node, activity what, std::string_view name, instant from,
                       instant to) {
  if (full()) return;
  const auto word = word_of(what);
  add(format(
      "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%s,\"dur\":%s,\"cat\":\"%s\",\"name\":\"%s\","
      "\"cname\":\"%s\"}",
      node + 1, micros(from.ns).c_str(), micros(to.ns - from.ns).c_str(), word,
      name.empty() ? word : escaped(name).c_str(), colour_of(what)));
}

void chrome_trace::befell(node_number node, std::string_view text, instant at) {
  if (full()) return;
  add(format(
      "{\"ph\":\"i\",\"pid\":1,\"tid\":%u,\"ts\":%s,\"s\":\"t\",\"cat\":\"event\",\"name\":\"%s\"}",
      node + 1, micros(at.ns).c_str(), escaped(text).c_str()));
}

void chrome_trace::objective(double value, instant at) {
  if (full()) return;
  add(format(
      "{\"ph\":\"C\",\"pid\":1,\"ts\":%s,\"name\":\"objective\",\"args\":{\"objective\":%.17g}}",
      micros(at.ns).c_str(), value));
}

void chrome_trace::add(const std::string& event) {
  ++events_;
  buffer_ += ",\n";
  buffer_ += event;
  if (buffer_.size() >= buffered) write_out();
}

void chrome_trace::write_out() {
  if (outcome_ && file_)
    outcome_ = file_->append({reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size()});
  buffer_.clear();
}

result<void> chrome_trace::close() {
  buffer_ += format("\n],\"otherData\":{\"complete\":\"%s\"}}\n", cut_short() ? "no" : "yes");
  write_out();
  if (outcome_ && file_) outcome_ = file_->close();
  file_.reset();
  return outcome_;
}

}  // namespace troupe::sim
