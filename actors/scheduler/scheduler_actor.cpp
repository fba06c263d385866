#include "actors/scheduler/scheduler_actor.hpp"

#include <algorithm>
#include <caf/all.hpp>

#include "core/log.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// A summary walks a whole table and a save writes it, however large it is and slow the disk.
constexpr duration whole_table_patience = std::chrono::hours(1);
// Those who ask how the job is and wait for its end: more are answered at once.
constexpr std::size_t most_waiting = 64;
constexpr duration longest_wait = std::chrono::minutes(1);

}  // namespace

scheduler_actor::behavior_type scheduler(scheduler_state::pointer self, environment env,
                                         scheduler_setup setup) {
  return self->state.start(std::move(env), std::move(setup));
}

scheduler_actor::behavior_type scheduler_state::start(environment env, scheduler_setup setup) {
  env_ = std::move(env);
  setup_ = std::move(setup);
  if (setup_.checkpoints) setup_.checkpoints = setup_.checkpoints->on(env_.files);
  keep_exception_text(self_);
  self_->send(self_, tick_atom::value);
  if (setup_.state_folder.empty())
    begin(env_.incarnation, nullptr);
  else
    open_log();
  return behaviour();
}

void scheduler_state::begin(std::uint64_t incarnation, const pb::SchedulerState* before) {
  job_.emplace(setup_.job, *setup_.scores, now(), incarnation, before);
  carry_out();
}

// Until it is known what an earlier life has left behind, nobody is answered.
void scheduler_state::open_log() {
  auto opened = [this](result<std::unique_ptr<state_log>> log) {
    if (!log) {
      self_->quit(
          caf::make_error(caf::sec::runtime_error, "the scheduler's log: " + log.failure().text));
      return;
    }
    log_ = *std::move(log);
    const auto& before = log_->before();
    // What an earlier run left behind is none of this one's.
    const bool mine = before && before->job() == setup_.job.plan.name();
    const bool ended = before && (before->phase() == pb::JobStatus::FINISHED ||
                                  before->phase() == pb::JobStatus::FAILED);
    const bool goes_on = mine && (env_.incarnation > setup_.first_incarnation ||
                                  (ended ? setup_.take_up_ended : setup_.take_up_unfinished));
    begin(log_->incarnation(), goes_on ? &*before : nullptr);
  };
  const bool taken = in_background(
      [files = env_.files, folder = setup_.state_folder] { return state_log::open(files, folder); },
      std::move(opened));
  if (!taken) self_->quit(caf::make_error(caf::sec::runtime_error, "the disk has too much to do"));
}

scheduler_actor::behavior_type scheduler_state::behaviour() {
  return {
      [this](join_atom, const pb::Join& join) -> caf::result<pb::JoinReply> {
        auto promise = self_->make_response_promise<pb::JoinReply>();
        if (!job_) {
          promise.deliver(caf::make_error(caf::sec::runtime_error, "the scheduler is starting"));
          return promise;
        }
        const auto reply = job_->on_join(join, now());
        log("scheduler", reply.accepted() ? log_level::info : log_level::warning,
            reply.accepted() ? to_string({join.role(), join.index()}) + " joined" : reply.text());
        // First, so that the node knows the plan when the commands reach it; and written down
        // before it believes that it has joined.
        carry_out([promise, reply]() mutable { promise.deliver(reply); });
        return promise;
      },
      [this](beat_atom, const pb::Beat& beat) {
        if (!job_) return;
        job_->on_beat(beat, now());
        carry_out();
      },
      [this](lease_atom, const pb::LeaseRequest& request) {
        return job_ ? job_->on_lease(request, now()) : pb::LeaseReply{};
      },
      [this](report_atom, const pb::ServerReport& report) {
        if (!job_) return;
        job_->on_report(report, now());
        carry_out();
      },
      [this](drain_atom, const pb::DrainNode& drain) {
        return decide([&] { return job_->on_drain(drain, now()); });
      },
      [this](even_atom, const pb::Rebalance& request) {
        return decide([&] { return job_->on_rebalance(request, now()); });
      },
      [this](take_atom, const pb::TakeCheckpoint&) {
        return decide([&] { return job_->on_take_checkpoint(now()); });
      },
      [this](down_atom, const pb::NodeDown& down) {
        if (!job_) return;
        job_->on_down(down, now());
        carry_out();
      },
      [this](progr_atom, const pb::Progress& progress) {
        if (!job_) return;
        job_->on_progress(progress, now());
        carry_out();
      },
      [this](failed_atom, const pb::SlotFailed& failed) {
        if (!job_) return;
        job_->on_slot_failed(failed, now());
        carry_out();
      },
      [this](status_atom, const pb::StatusQuery& query) { return on_asked(query); },
      [this](job_atom, const pb::JobQuery&) { return describe_job(); },
      [this](stop_atom, const pb::StopJob& stop) {
        return decide([&] { return job_->on_stop(stop, now()); });
      },
      [this](tick_atom) {
        self_->delayed_send(self_, tick(), tick_atom::value);
        answer_waiting();
        if (!job_) return;
        job_->on_time(now());
        carry_out();
      },
      [this](done_atom, std::uint64_t job) { jobs_.finished(job); },
  };
}

template <class Decision>
pb::CommandReply scheduler_state::decide(Decision decision) {
  pb::CommandReply reply;
  reply.set_text("the scheduler is starting");
  if (!job_) return reply;
  reply = decision();
  carry_out();
  return reply;
}

caf::result<pb::JobStatus> scheduler_state::on_asked(const pb::StatusQuery& query) {
  if (query.wait_ns() == 0 || end_is_known() || waiting_.size() == most_waiting)
    return answer(query);
  auto promise = self_->make_response_promise<pb::JobStatus>();
  const auto wait = std::min<std::uint64_t>(query.wait_ns(), longest_wait.count());
  waiting_.push_back({query, promise, now() + duration(wait)});
  return promise;
}

pb::JobStatus scheduler_state::answer(const pb::StatusQuery& query) {
  if (!job_) return {};
  job_->on_asked(query);
  return query.brief() ? job_->brief_status(query, now()) : job_->status(query.with_view(), now());
}

// Also to a scheduler that starts again.
bool scheduler_state::end_is_known() const {
  return job_ && job_->ended() && writes_ == 0;
}

void scheduler_state::answer_waiting() {
  const bool all = end_is_known();
  const auto kept = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [&](const auto& w) { return !all && now() < w.until; });
  for (auto w = kept; w != waiting_.end(); ++w) w->promise.deliver(answer(w->query));
  waiting_.erase(kept, waiting_.end());
}

pb::JobText scheduler_state::describe_job() const {
  pb::JobText text;
  if (!job_) return text;
  text.set_known(true);
  text.set_configuration(setup_.configuration);
  text.set_train_rows(setup_.train_rows);
  *text.mutable_plan() = job_->plan();
  if (!job_->present_view().empty()) *text.mutable_view() = job_->present_view().to_message();
  return text;
}

// Several times within what makes a node suspected.
duration scheduler_state::tick() const {
  const duration suspect(setup_.job.plan.timings().suspect_after());
  return suspect > duration::zero() ? std::min(env_.tick, suspect / 4) : env_.tick;
}

template <class Job, class Then>
bool scheduler_state::in_background(Job job, Then then) {
  auto me = caf::actor_cast<scheduler_actor>(self_);
  const auto tell = [me](std::uint64_t n) { caf::anon_send(me, done_atom::value, n); };
  return jobs_.run(*env_.io, std::move(job), std::move(then), tell);
}

// Written down first, then done: whoever hears of a view, an assignment or an end hears of what a
// restarted scheduler knows too. Commands keep their order behind the writing of earlier ones.
void scheduler_state::carry_out(std::function<void()> first) {
  auto commands = job_->take_commands();
  auto state = log_ ? job_->take_changed_state(now()) : std::nullopt;
  if (!state && writes_ == 0) {
    if (first) first();
    perform_all(commands);
    return answer_waiting();
  }
  put_off_.push_back([this, first = std::move(first), commands] {
    if (first) first();
    perform_all(commands);
  });
  if (!state) return;
  ++writes_;
  for (const auto& c : commands)
    if (std::holds_alternative<send_view>(c)) {
      pass(env_, landmark::view_made);
      break;
    }
  auto all = std::exchange(put_off_, {});
  const auto early = planted("view-before-log") ? std::exchange(all, {}) : decltype(all){};
  auto written = [this, all = std::move(all)](const result<void>& outcome) {
    --writes_;
    // Whoever cannot write down what it decides must not decide.
    if (!outcome) {
      self_->quit(caf::make_error(caf::sec::runtime_error,
                                  "the scheduler's log: " + outcome.failure().text));
      return;
    }
    for (const auto& each : all) each();
    if (writes_ > 0) return;
    for (const auto& each : std::exchange(put_off_, {})) each();
    answer_waiting();
  };
  if (!in_background([log = log_, s = *std::move(state)] { return log->append(s); },
                     std::move(written)))
    self_->quit(caf::make_error(caf::sec::runtime_error, "the disk has too much to do"));
  for (const auto& each : early) each();
}

void scheduler_state::perform_all(const std::vector<command>& commands) {
  bool views = false, assignments = false;
  for (const auto& c : commands) {
    views |= std::holds_alternative<send_view>(c);
    assignments |= std::holds_alternative<send_assignment>(c);
    if (std::holds_alternative<publish_checkpoint>(c)) pass(env_, landmark::checkpoint_written);
    if (const auto* s = std::get_if<send_save>(&c))
      pass(env_, s->checkpoint ? landmark::checkpoint_begun : landmark::saving);
    if (std::holds_alternative<send_summarise>(c)) pass(env_, landmark::evaluating);
  }
  if (views) pass(env_, landmark::view_published);
  if (assignments) pass(env_, landmark::slots_assigned);
  for (const auto& c : commands) std::visit([this](const auto& each) { perform(each); }, c);
}

template <class Reply, class Atom, class Request, class OnAnswer>
void scheduler_state::ask_server(std::uint32_t server, Atom atom, const Request& request,
                                 duration timeout, OnAnswer on_answer) {
  const auto fail = [this, server, on_answer](const std::string& why) {
    on_answer(
        result<Reply>(error{errc::lost, format("server %u did not answer '%s': %s", server,
                                               caf::to_string(Atom::value).c_str(), why.c_str())}));
    carry_out();
  };
  auto handle = env_.find->server(server);
  if (!handle) return fail("no such node is known");
  self_->request(handle, timeout, atom, request)
      .then(
          [this, on_answer](const Reply& reply) {
            on_answer(result<Reply>(reply));
            carry_out();
          },
          [this, fail](const caf::error& why) { fail(self_->system().render(why)); });
}

void scheduler_state::perform(const send_view& c) {
  ask_server<pb::ViewReply>(c.server, view_atom::value, c.view, env_.request_timeout,
                            [this, server = c.server, number = c.view.number()](const auto& reply) {
                              job_->on_view(server, number, reply, now());
                            });
}

void scheduler_state::perform(const send_assignment& c) {
  if (auto worker = env_.find->worker(c.worker))
    self_->send(worker, assign_atom::value, c.assignment);
}

void scheduler_state::perform(const send_stop& c) {
  if (auto worker = env_.find->worker(c.worker)) self_->send(worker, stop_atom::value, c.stop);
}

void scheduler_state::perform(const send_task& c) {
  const auto answer = [this, c](const result<pb::EvaluatedPart>& part, const blob& scores) {
    job_->on_task(c.worker, c.task, part, scores, now());
    carry_out();
  };
  auto worker = env_.find->worker(c.worker);
  if (!worker) return answer(error{errc::lost, "no such node is known"}, {});
  self_->request(worker, duration(setup_.job.plan.timings().patience()), eval_atom::value, c.task)
      .then([answer](const pb::EvaluatedPart& part, const blob& scores) { answer(part, scores); },
            [this, answer](const caf::error& why) {
              answer(error{errc::lost, self_->system().render(why)}, {});
            });
}

void scheduler_state::perform(const send_summarise& c) {
  ask_server<pb::TableSummary>(
      c.server, summary_atom::value, c.request, whole_table_patience,
      [this, c](const auto& reply) { job_->on_summarise(c, reply, now()); });
}

void scheduler_state::perform(const send_save& c) {
  ask_server<pb::SavedPart>(c.server, save_atom::value, c.request, whole_table_patience,
                            [this, c](const auto& reply) { job_->on_save(c, reply, now()); });
}

void scheduler_state::perform(const send_load& c) {
  ask_server<pb::LoadedPart>(c.server, load_atom::value, c.request, whole_table_patience,
                             [this, c](const auto& reply) { job_->on_load(c, reply, now()); });
}

void scheduler_state::perform(const tell_view& c) {
  if (auto worker = env_.find->worker(c.worker)) self_->send(worker, view_atom::value, c.view);
}

// A history that cannot be written is no reason to stop training.
void scheduler_state::perform(const record_evaluation& c) {
  if (!setup_.record) return;
  const auto recorded = [](const result<void>& outcome) {
    if (!outcome)
      log("scheduler", log_level::warning, "the history lacks a line: " + outcome.failure().text);
  };
  if (!in_background([record = setup_.record, line = c.record] { return record(line); }, recorded))
    recorded(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

void scheduler_state::perform(const publish_model& c) {
  const auto published = [this](const result<void>& outcome) {
    job_->on_publish(outcome, now());
    carry_out();
  };
  if (!in_background([publish = setup_.publish, c] { return publish(c); }, published))
    published(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

void scheduler_state::perform(const publish_checkpoint& c) {
  const auto published = [this, number = c.manifest.number()](const result<void>& outcome) {
    if (!outcome)
      log("scheduler", log_level::warning, "a checkpoint was not taken: " + outcome.failure().text);
    if (outcome) pass(env_, landmark::checkpoint_counts);
    job_->on_checkpoint(number, outcome, now());
    carry_out();
  };
  if (!in_background([store = setup_.checkpoints, c] { return store->publish(c.manifest); },
                     published))
    published(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

void scheduler_state::perform(const discard_checkpoint& c) {
  const auto gone = [](const result<void>& outcome) {
    if (!outcome) log("scheduler", log_level::warning, outcome.failure().text);
  };
  (void)in_background([store = setup_.checkpoints, c] { return store->discard(c.number); }, gone);
}

void scheduler_state::perform(const read_checkpoint&) {
  using found = result<std::optional<found_checkpoint>>;
  const auto read = [this](const found& outcome) {
    job_->on_checkpoint_read(outcome, now());
    carry_out();
  };
  if (!setup_.checkpoints) return read(std::optional<found_checkpoint>());
  if (!in_background([store = setup_.checkpoints] { return store->latest(); }, read))
    read(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

}  // namespace troupe
