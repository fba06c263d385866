#pragma once
// Errors as values: a `result<T>` holds a T or an `error`, and an `error` says what kind of thing
// went wrong and, in its text, who, where and what to do. Exceptions mean bugs.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace troupe {

// The kinds that callers tell apart. Their exit codes are in docs/exit-codes.md, their mapping in
// exit_code().
enum class errc {
  bad_usage,    // the command line
  bad_config,   // a job file, a manifest, a scenario
  bad_data,     // an input file's content
  bad_request,  // a message whose lengths, table or keys do not fit
  io,           // a file or folder could not be read or written
  damaged,      // a file of ours fails its checksum or has a newer version
  timeout,      // a deadline passed
  stale,        // asked with an outdated view, slot epoch or incarnation
  rejected,     // a server function refused the update
  lost,         // a node or its state is gone
  interrupted,  // the user asked to stop
  internal,     // a bug
};

const char* to_string(errc code);

struct error {
  errc code = errc::internal;
  std::string
      text;  // one sentence without a final stop: "train.svm:12:7: value 'abc' is not a number"
};

template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: reads as a value
  result(error e) : state_(std::in_place_index<1>, std::move(e)) {}  // NOLINT: reads as an error

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const error& failure() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, error> state_;
};

struct nothing {};

template <>
class [[nodiscard]] result<void> : public result<nothing> {
 public:
  result() : result<nothing>(nothing{}) {}
  result(error e) : result<nothing>(std::move(e)) {}  // NOLINT: reads as an error
};

}  // namespace troupe
