#include "apps/client/client.hpp"

#include <csignal>

#include "actors/worker/plan.hpp"
#include "apps/client/external_program.hpp"
#include "apps/deploy/node_process.hpp"
#include "apps/deploy/state_folder.hpp"
#include "config/job.hpp"
#include "core/log.hpp"

namespace troupe {
namespace {

constexpr duration look_every = std::chrono::milliseconds(50);

template <class T>
T value_or_throw(result<T> what) {
  if (!what) throw client_error(what.failure().text);
  return *std::move(what);
}

template <class T>
std::vector<T> copied(const blob& bytes) {
  const auto all = bytes.as<T>();
  return {all.begin(), all.end()};
}

}  // namespace

struct client::inside {
  explicit inside(const options& how);

  std::uint32_t table_of(const std::string& name) const {
    for (std::size_t i = 0; i < tables.size(); ++i)
      if (tables[i].name == name) return static_cast<std::uint32_t>(i);
    throw client_error("the job has no table '" + name + "'");
  }
  // Notices the job's end, and what keeps this process from taking part in it.
  void look(duration at_most);
  template <class Is>
  void wait_for(Is is) {
    while (!bridge->wait(is, look_every)) {
      look(duration::zero());
      if (failure) throw client_error(*failure);
      if (ended) return;
    }
  }
  template <class Value>
  client_ticket push(const clock_turn& turn, const std::string& table,
                     const std::vector<std::uint64_t>& keys, const std::vector<Value>& values,
                     const std::vector<client_ticket>& after);
  client_bridge::outcome outcome_of(std::uint32_t table, result<pulled> got) const;

  const options how;
  const std::shared_ptr<client_bridge> bridge = std::make_shared<client_bridge>();
  std::unique_ptr<state_folder> state;
  std::unique_ptr<node_process> process;
  std::optional<pb::JobText> job;
  std::vector<table_description> tables;
  bool ended = false;
  std::optional<std::string> failure;
};

client::inside::inside(const options& o) : how(o) {
  log_settings quiet;
  quiet.level = log_level::error;
  (void)configure_log(quiet);
  std::signal(SIGPIPE, SIG_IGN);
  const auto files = posix_file_system();
  const auto manifest = value_or_throw(live_manifest::load(files, how.manifest));
  auto who = value_or_throw(member_of(manifest->present(), how.name));
  if (who.role.role != pb::WORKER)
    throw client_error("'" + how.name + "' is no worker of " + how.manifest);
  auto tls = value_or_throw(open_security(*files, manifest->present(), who));
  state =
      value_or_throw(state_folder::open(files, manifest->present().cluster().state(), how.name));
  who.incarnation = state->incarnation();
  node_settings settings;
  settings.manifest = manifest;
  settings.who = who;
  settings.tls = std::move(tls);
  settings.files = files;
  settings.wants_job = true;
  settings.io = bridge->background();
  process = std::make_unique<node_process>(std::move(settings));
  while (!job) {
    look(look_every);
    if (failure) throw client_error(*failure);
    if (ended) throw client_error("the job has ended");
  }
  const auto read = value_or_throw(config::parse_job(job->configuration(), "the scheduler's job"));
  if (read.model().app() != "external")
    throw client_error("the job's app is '" + read.model().app() +
                       "', which has workers of its own; a client's is 'external'");
  for (const auto& t : job->plan().tables())
    tables.push_back({t.name(), t.width(), t.value_type() == "f64"});
  cluster_settings cluster;
  cluster.worker.app = std::make_shared<external_application>(bridge, how.clocks);
  cluster.worker.faults = std::make_shared<fault_switches>();
  cluster.beat_every = duration(read.cluster().beat_every());
  cluster.request_timeout = duration(read.cluster().request_timeout());
  process->start(cluster);
}

void client::inside::look(duration at_most) {
  const auto seen = process->wait(at_most);
  if (seen.job) job = seen.job;
  if (seen.given_up) failure = *seen.given_up;
  if (seen.refused_for_good) failure = *seen.refused;
  if (seconds_of(seen.silence) > how.patience)
    failure = how.name + ": the scheduler does not answer" +
              (seen.refused ? ": " + *seen.refused : std::string());
  if (!seen.status) return;
  if (seen.status->phase() == pb::JobStatus::FAILED) failure = seen.status->text();
  if (seen.status->phase() == pb::JobStatus::FINISHED) ended = true;
}

client_bridge::outcome client::inside::outcome_of(std::uint32_t table, result<pulled> got) const {
  client_bridge::outcome o;
  if (!got) {
    o.failure = got.failure();
    return o;
  }
  o.rows.staleness = got->staleness;
  if (tables[table].doubles)
    o.rows.doubles = copied<double>(got->values);
  else
    o.rows.floats = copied<float>(got->values);
  o.rows.keys = copied<std::uint64_t>(got->keys);
  return o;
}

client::client(const options& how) : in_(std::make_unique<inside>(how)) {}
client::~client() = default;

std::vector<table_description> client::tables() const {
  return in_->tables;
}

std::optional<clock_turn> client::next_clock() {
  auto& b = *in_->bridge;
  in_->wait_for([&] { return b.turns(); });
  return b.take_turn();
}

client_ticket client::pull(const clock_turn& turn, const std::string& table,
                           const std::vector<std::uint64_t>& keys,
                           const std::vector<client_ticket>& after) {
  auto& in = *in_;
  const auto t = in.table_of(table);
  const auto mine = in.bridge->expect(turn.slot);
  in.bridge->give(turn.slot, [&in, t, mine, keys, after](slot_session& session) {
    auto set = session.kv().keys(t, keys);
    if (!set) return in.bridge->answer(mine, client_bridge::outcome{set.failure(), {}});
    in.bridge->note(mine, session.kv().pull(t, *std::move(set), {in.bridge->theirs(after)},
                                            [&in, t, mine](result<pulled> got) {
                                              in.bridge->answer(mine,
                                                                in.outcome_of(t, std::move(got)));
                                            }));
  });
  return mine;
}

client_ticket client::pull_range(const clock_turn& turn, const std::string& table,
                                 std::uint64_t first, std::uint64_t last,
                                 const std::vector<client_ticket>& after) {
  auto& in = *in_;
  const auto t = in.table_of(table);
  if (first > last) throw client_error("pull_range: first lies above last");
  const auto mine = in.bridge->expect(turn.slot);
  in.bridge->give(turn.slot, [&in, t, mine, first, last, after](slot_session& session) {
    in.bridge->note(mine, session.kv().pull_range(t, {first, last}, {in.bridge->theirs(after)},
                                                  [&in, t, mine](result<pulled> got) {
                                                    in.bridge->answer(
                                                        mine, in.outcome_of(t, std::move(got)));
                                                  }));
  });
  return mine;
}

template <class Value>
client_ticket client::inside::push(const clock_turn& turn, const std::string& table,
                                   const std::vector<std::uint64_t>& keys,
                                   const std::vector<Value>& values,
                                   const std::vector<client_ticket>& after) {
  const auto t = table_of(table);
  if (tables[t].doubles != (sizeof(Value) == sizeof(double)))
    throw client_error("the values of '" + table + "' are " +
                       (tables[t].doubles ? "doubles" : "floats"));
  if (values.size() != keys.size() * tables[t].width)
    throw client_error("push to '" + table + "': " + std::to_string(keys.size()) + " keys of " +
                       std::to_string(tables[t].width) + " values each, and " +
                       std::to_string(values.size()) + " values");
  const auto mine = bridge->expect(turn.slot);
  const auto bytes = blob::copy_of(span<const Value>(values));
  bridge->give(turn.slot, [this, t, mine, keys, bytes, after](slot_session& session) {
    auto set = session.kv().keys(t, keys);
    if (!set) return bridge->answer(mine, client_bridge::outcome{set.failure(), {}});
    push_options how_to;
    how_to.after = bridge->theirs(after);
    how_to.last = false;
    bridge->note(mine, session.kv().push(t, *std::move(set), bytes, how_to,
                                         [this, mine](result<pushed> got) {
                                           client_bridge::outcome o;
                                           if (!got) o.failure = got.failure();
                                           if (got && got->rejected)
                                             o.failure = error{errc::rejected,
                                                               "the push was rejected: a value, or "
                                                               "what came of it, is not finite"};
                                           bridge->answer(mine, std::move(o));
                                         }));
  });
  return mine;
}

client_ticket client::push(const clock_turn& turn, const std::string& table,
                           const std::vector<std::uint64_t>& keys, const std::vector<float>& values,
                           const std::vector<client_ticket>& after) {
  return in_->push(turn, table, keys, values, after);
}
client_ticket client::push(const clock_turn& turn, const std::string& table,
                           const std::vector<std::uint64_t>& keys,
                           const std::vector<double>& values,
                           const std::vector<client_ticket>& after) {
  return in_->push(turn, table, keys, values, after);
}

pulled_rows client::wait(client_ticket asked) {
  auto& b = *in_->bridge;
  in_->wait_for([&] { return !b.known(asked) || b.answered(asked); });
  auto outcome = b.take(asked);
  if (!outcome) throw client_error("this ticket was waited for before, or its clock is over");
  if (outcome->failure) throw client_error(outcome->failure->text);
  return std::move(outcome->rows);
}

bool client::done(client_ticket asked) {
  auto& b = *in_->bridge;
  return b.wait([&] { return !b.known(asked) || b.answered(asked); }, duration::zero());
}

void client::end_clock(const clock_turn& turn, std::uint64_t examples, double loss) {
  in_->bridge->clock_over(turn.slot);
  in_->bridge->give(turn.slot, [examples, loss](slot_session& session) {
    session.end_clock({examples, loss, static_cast<double>(examples)});
  });
}

void client::finish() {
  in_->process->end_slots();
}

}  // namespace troupe
