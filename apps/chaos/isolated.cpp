#include "apps/chaos/isolated.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "core/text.hpp"

namespace troupe::chaos {
namespace {

using steady = std::chrono::steady_clock;
using ull = unsigned long long;

// ---- What a child says: lines of words apart by the unit separator.

constexpr char apart = '\x1f';

std::vector<std::string> words_in(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line)
    if (c == apart)
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), apart, ' ');
  return text;
}

std::string told(std::uint64_t number, const run_outcome& o) {
  std::string text;
  for (const auto& [cell, count] : o.covered)
    text += format("C%c%d%c", apart, static_cast<int>(cell.first), apart) + cell.second + apart +
            std::to_string(count) + "\n";
  if (!o.ok()) {
    const auto& v = o.violations.front();
    text += std::string("V") + apart + on_one_line(v.promise) + apart + on_one_line(v.text) +
            apart + std::to_string(v.at.ns) + "\n";
  }
  const auto struck = o.faults_struck();
  const auto pushes = o.metrics.find("pushes");
  return text + format("E%c%llu%c%zu%c%zu%c%lld%c%.0f%c%s\n", apart, ull(number), apart, struck,
                       apart, o.faults.size() - struck, apart,
                       static_cast<long long>(o.took.count()), apart,
                       pushes == o.metrics.end() ? 0.0 : pushes->second, apart, o.digest.c_str());
}

std::uint64_t number_of(const std::string& word) {
  return std::strtoull(word.c_str(), nullptr, 10);
}

// ---- A child that makes every so-many-th run.

class worker {
 public:
  worker(std::uint64_t next, std::uint64_t last, std::uint32_t step)
      : next_(next), last_(last), step_(step) {}
  ~worker() { end(); }

  bool done() const { return next_ > last_; }
  int pipe() const { return pipe_; }
  bool alive() const { return pid_ > 0; }

  void start(const isolated_runs& runs) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    begun_ = steady::now();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      for (auto n = next_; n <= last_; n += step_) {
        const auto outcome = runs.run(n);
        std::string text;
        if (outcome) {
          text = told(n, *outcome);
        } else {
          run_outcome bad;
          bad.violations.push_back({"the scenario can be run", outcome.failure().text, {}});
          text = told(n, bad);
        }
        for (std::size_t at = 0; at < text.size();) {
          const auto wrote = ::write(ends[1], text.data() + at, text.size() - at);
          if (wrote <= 0) std::_Exit(1);
          at += static_cast<std::size_t>(wrote);
        }
      }
      std::_Exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }

  // Something can be read, or the child has gone.
  std::vector<brief_outcome> read() {
    std::vector<brief_outcome> ended;
    char buffer[1 << 16];
    const auto got = ::read(pipe_, buffer, sizeof buffer);
    if (got <= 0) {
      if (auto died = reap("")) ended.push_back(std::move(*died));
      return ended;
    }
    text_.append(buffer, static_cast<std::size_t>(got));
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const auto words = words_in(text_.substr(0, end));
      text_.erase(0, end + 1);
      if (words[0] == "C" && words.size() == 4) {
        now_.covered[{static_cast<fault_kind>(number_of(words[1])), words[2]}] +=
            number_of(words[3]);
      } else if (words[0] == "V" && words.size() == 4) {
        now_.first =
            violation{words[1], words[2], {static_cast<std::int64_t>(number_of(words[3]))}};
      } else if (words[0] == "E" && words.size() == 7) {
        now_.number = number_of(words[1]);
        now_.faults = number_of(words[2]);
        now_.withheld = number_of(words[3]);
        now_.took = duration(static_cast<std::int64_t>(number_of(words[4])));
        now_.pushes = number_of(words[5]);
        now_.digest = words[6];
        ended.push_back(std::exchange(now_, {}));
        next_ += step_;
        begun_ = steady::now();
      }
    }
    return ended;
  }

  std::optional<brief_outcome> give_up_after(duration patience) {
    if (!alive() || steady::now() - begun_ < patience) return std::nullopt;
    ::kill(pid_, SIGKILL);
    return reap(format("it did not end within %.0f s of real time", seconds_of(patience)));
  }

 private:
  // The run that was under way is its child's last; the next ones are for another child.
  std::optional<brief_outcome> reap(const std::string& why) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ::close(pipe_);
    pid_ = 0;
    pipe_ = -1;
    text_.clear();
    now_ = {};
    if (why.empty() && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    brief_outcome died;
    died.number = next_;
    died.first =
        violation{why.empty() ? "the program does not crash" : "every run ends",
                  !why.empty()          ? why
                  : WIFSIGNALED(status) ? format("it was ended by signal %d", WTERMSIG(status))
                                        : format("it ended with code %d", WEXITSTATUS(status)),
                  {}};
    next_ += step_;
    return died;
  }
  void end() {
    if (!alive()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(pipe_);
  }

  std::uint64_t next_;
  const std::uint64_t last_;
  const std::uint32_t step_;
  pid_t pid_ = 0;
  int pipe_ = -1;
  steady::time_point begun_;
  std::string text_;
  brief_outcome now_;
};

}  // namespace

void run_isolated(const isolated_runs& runs) {
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::max(1u, runs.at_once), runs.last - runs.first + 1));
  std::vector<std::unique_ptr<worker>> workers;
  for (std::uint32_t i = 0; i < count; ++i)
    workers.push_back(std::make_unique<worker>(runs.first + i, runs.last, count));
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<worker*> of;
    for (auto& w : workers) {
      if (!w->alive() && !w->done()) w->start(runs);
      if (!w->alive()) continue;
      waiting.push_back({w->pipe(), POLLIN, 0});
      of.push_back(w.get());
    }
    if (waiting.empty()) return;
    ::poll(waiting.data(), waiting.size(), 500);
    for (std::size_t i = 0; i < of.size(); ++i) {
      std::vector<brief_outcome> ended;
      if (waiting[i].revents != 0) ended = of[i]->read();
      if (auto late = of[i]->give_up_after(runs.patience)) ended.push_back(std::move(*late));
      for (const auto& e : ended)
        if (!runs.on_end(e)) return;
    }
  }
}

brief_outcome run_isolated(const std::function<result<run_outcome>()>& run) {
  brief_outcome outcome;
  isolated_runs one;
  one.run = [&](std::uint64_t) { return run(); };
  one.on_end = [&](const brief_outcome& e) {
    outcome = e;
    return false;
  };
  run_isolated(one);
  return outcome;
}

}  // namespace troupe::chaos
