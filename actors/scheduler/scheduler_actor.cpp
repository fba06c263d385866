#include "actors/scheduler/scheduler_actor.hpp"

#include <caf/all.hpp>

#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// A summary walks a whole table and a save writes it, however large it is and slow the disk.
constexpr duration whole_table_patience = std::chrono::hours(1);

}  // namespace

scheduler_actor::behavior_type scheduler(scheduler_state::pointer self, environment env,
                                         scheduler_setup setup) {
  return self->state.start(std::move(env), std::move(setup));
}

scheduler_actor::behavior_type scheduler_state::start(environment env, scheduler_setup setup) {
  env_ = std::move(env);
  setup_ = std::move(setup);
  job_.emplace(setup_.job, *setup_.scores, now());
  keep_exception_text(self_);
  self_->send(self_, tick_atom::value);
  return {
      [this](join_atom, const pb::Join& join) -> caf::result<pb::JoinReply> {
        auto promise = self_->make_response_promise<pb::JoinReply>();
        const auto reply = job_->on_join(join, now());
        log("scheduler", reply.accepted() ? log_level::info : log_level::warning,
            reply.accepted() ? to_string({join.role(), join.index()}) + " joined" : reply.text());
        promise.deliver(
            reply);  // first, so that the node knows the plan when the commands reach it
        carry_out();
        return promise;
      },
      [this](down_atom, const pb::NodeDown& down) {
        job_->on_down(down, now());
        carry_out();
      },
      [this](progr_atom, const pb::Progress& progress) {
        job_->on_progress(progress, now());
        carry_out();
      },
      [this](failed_atom, const pb::SlotFailed& failed) {
        job_->on_slot_failed(failed, now());
        carry_out();
      },
      [this](status_atom, const pb::StatusQuery& query) { return job_->status(query.with_view()); },
      [this](stop_atom, const pb::StopJob& stop) {
        job_->on_stop(stop, now());
        carry_out();
      },
      [this](tick_atom) {
        self_->delayed_send(self_, env_.tick, tick_atom::value);
        job_->on_time(now());
        carry_out();
      },
      [this](done_atom, std::uint64_t job) { jobs_.finished(job); },
  };
}

void scheduler_state::carry_out() {
  for (const auto& c : job_->take_commands())
    std::visit([this](const auto& each) { perform(each); }, c);
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
  ask_server<pb::ViewReply>(
      c.server, view_atom::value, c.view, env_.request_timeout,
      [this, server = c.server](const auto& reply) { job_->on_view(server, reply, now()); });
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
      [this, server = c.server, table = c.request.table()](const auto& reply) {
        job_->on_summarise(server, table, reply, now());
      });
}

void scheduler_state::perform(const send_save& c) {
  ask_server<pb::SavedPart>(
      c.server, save_atom::value, c.request, whole_table_patience,
      [this, server = c.server](const auto& reply) { job_->on_save(server, reply, now()); });
}

void scheduler_state::perform(const send_load& c) {
  ask_server<pb::LoadedPart>(
      c.server, load_atom::value, c.request, whole_table_patience,
      [this, server = c.server](const auto& reply) { job_->on_load(server, reply, now()); });
}

// A history that cannot be written is no reason to stop training.
void scheduler_state::perform(const record_evaluation& c) {
  if (!setup_.record) return;
  auto me = caf::actor_cast<scheduler_actor>(self_);
  const auto recorded = [](const result<void>& outcome) {
    if (!outcome)
      log("scheduler", log_level::warning, "the history lacks a line: " + outcome.failure().text);
  };
  const auto tell = [me](std::uint64_t job) { caf::anon_send(me, done_atom::value, job); };
  if (!jobs_.run(
          *env_.io, [record = setup_.record, line = c.record] { return record(line); }, recorded,
          tell))
    recorded(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

void scheduler_state::perform(const publish_model& c) {
  auto me = caf::actor_cast<scheduler_actor>(self_);
  const auto published = [this](const result<void>& outcome) {
    job_->on_publish(outcome, now());
    carry_out();
  };
  const auto tell = [me](std::uint64_t job) { caf::anon_send(me, done_atom::value, job); };
  if (!jobs_.run(
          *env_.io, [publish = setup_.publish, c] { return publish(c); }, published, tell))
    published(error{errc::io, "more file work is waiting than the scheduler's node allows"});
}

}  // namespace troupe
