// A job file's training: data, solver and all, as users run it. What it must come to is what the
// same job comes to without faults: the same bits where that is promised, else a training loss that
// is hardly larger.
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "apps/chaos/workload/table_filters.hpp"
#include "apps/chaos/workload/workload.hpp"
#include "apps/evaluation/metric_set.hpp"
#include "apps/linear/prepared_linear.hpp"
#include "apps/model/model_digest.hpp"
#include "config/job.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

// Notes what the program pushes, and when it has been acknowledged.
class noted_session final : public slot_session {
 public:
  noted_session(slot_session& real, std::function<void()> on_push)
      : real_(real), on_push_(std::move(on_push)) {}
  kv_client& kv() override { return real_.kv(); }
  void read(work_item job, on_read_done then) override {
    real_.read(std::move(job), std::move(then));
  }
  void fail(error why) override { real_.fail(std::move(why)); }
  void push(std::size_t table, key_set keys, blob values, double share,
            std::vector<double> told) override {
    on_push_();
    real_.push(table, std::move(keys), std::move(values), share, std::move(told));
  }
  void end_clock(const clock_report& report) override { real_.end_clock(report); }
  pb::Stage stage(std::uint64_t clock) const override { return real_.stage(clock); }

 private:
  slot_session& real_;
  const std::function<void()> on_push_;
};

class noted_program final : public slot_program {
 public:
  noted_program(std::unique_ptr<slot_program> real, std::shared_ptr<ledger> seen,
                std::uint32_t slot, std::uint64_t life)
      : real_(std::move(real)), notes_(std::move(seen), slot, life) {}

  std::uint64_t clocks() const override { return real_->clocks(); }
  std::uint64_t examples_before(std::uint64_t clock) const override {
    return real_->examples_before(clock);
  }
  void run(slot_session& session, std::uint64_t clock) override {
    clock_ = clock;
    if (!session_)
      session_ = std::make_unique<noted_session>(
          session, [this] { notes_.note(ledger_entry::kind::push_begins, clock_); });
    real_->run(*session_, clock);
  }
  void on_pushed(std::uint64_t clock, std::size_t table, bool rejected) override {
    notes_.note(ledger_entry::kind::push_ends, clock, {}, rejected);
    real_->on_pushed(clock, table, rejected);
  }

 private:
  const std::unique_ptr<slot_program> real_;
  const slot_notes notes_;
  std::uint64_t clock_ = 0;
  std::unique_ptr<noted_session> session_;  // of the slot's one session
};

class noted_application final : public application {
 public:
  noted_application(std::shared_ptr<application> real, std::shared_ptr<ledger> seen,
                    std::uint64_t first_life)
      : real_(std::move(real)), seen_(std::move(seen)), lives_(first_life) {}
  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) override {
    return std::make_unique<noted_program>(real_->slot(slot, work_done), seen_, slot, ++lives_);
  }
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                         meter& work_done) override {
    return real_->evaluation(task, work_done);
  }

 private:
  const std::shared_ptr<application> real_;
  const std::shared_ptr<ledger> seen_;
  std::atomic<std::uint64_t> lives_;
};

struct end_of_job {
  std::string digest;
  std::optional<double> loss;  // on the training rows, with penalties
};

end_of_job end_of(const pb::JobStatus& status) {
  end_of_job e;
  e.digest =
      model_digest(std::vector<pb::TableSummary>(status.tables().begin(), status.tables().end()));
  for (const auto& m : status.metrics())
    if (m.name() == "objective" && m.known()) e.loss = m.value();
  return e;
}

class job_check final : public history_check {
 public:
  job_check(bool same_bits, double worse) : same_bits_(same_bits), worse_(worse) {}

  void on(const ledger_entry& e) override { last_ = e.at; }
  void on_restored() override {}
  void on_finished(const pb::JobStatus& status) override {
    end_ = end_of(status);
    if (!end_.loss || !std::isfinite(*end_.loss))
      return report("the model", "its loss on the training rows is no number", last_);
    if (!calm_) return;
    if (same_bits_ && end_.digest != calm_->end_.digest)
      return report("bulk-synchronous runs are bit-identical",
                    format("the model's digest is %s; without faults it is %s", end_.digest.c_str(),
                           calm_->end_.digest.c_str()),
                    last_);
    const auto calm = *calm_->end_.loss;
    if (*end_.loss > calm + worse_ * std::fabs(calm))
      report("the model",
             format("its training objective is %.9g; without faults it is %.9g", *end_.loss, calm),
             last_);
  }
  void compare_with(std::shared_ptr<const history_check> calm) override {
    calm_ = std::dynamic_pointer_cast<const job_check>(calm);
  }

 private:
  const bool same_bits_;
  const double worse_;
  instant last_;
  end_of_job end_;
  std::shared_ptr<const job_check> calm_;
};

filter_names names_of(const google::protobuf::RepeatedPtrField<pb::FilterSpec>& chain) {
  filter_names names;
  for (const auto& filter : chain) names.insert(filter.name());
  return names;
}

class prepared_workload final : public workload {
 public:
  prepared_workload(const config::Scenario& s, std::shared_ptr<meter> reading,
                    prepared_linear learning)
      : reading_(std::move(reading)),
        learning_(std::move(learning)),
        worse_(s.expect().worse()),
        same_bits_(repeatable(s)) {}

  workload_parts parts(const config::Scenario&, std::shared_ptr<ledger> seen,
                       std::uint64_t first_life) const override {
    workload_parts p;
    p.job = learning_.settings;
    p.scores = std::make_shared<metric_set>(learning_.made.metrics);
    p.app = std::make_shared<noted_application>(learning_.app, std::move(seen), first_life);
    return p;
  }
  std::unique_ptr<history_check> check() const override {
    return std::make_unique<job_check>(same_bits_, worse_);
  }
  bool wants_calm_run() const override { return true; }

 private:
  bool repeatable(const config::Scenario& s) const {
    const auto& plan = learning_.settings.plan;
    bool same = plan.bounded() && plan.staleness() == 0;
    for (const auto& table : plan.tables())
      same = same && same_bits_under_faults(s, names_of(table.push_filters()),
                                            names_of(table.pull_filters()));
    return same;
  }

  const std::shared_ptr<meter> reading_;  // the data sets refer to it
  const prepared_linear learning_;
  const double worse_;
  const bool same_bits_;
};

// The file's, on the scenario's cluster, and filtered as it says.
result<config::Job> job_of(const config::Scenario& s, file_system& files) {
  auto job = config::load_job(files, s.workload().job());
  if (!job) return job;
  const auto wrong = [&](const char* why) {
    return error{errc::bad_config, s.workload().job() + ": " + why};
  };
  if (!job->model().app().empty() && job->model().app() != "linear")
    return wrong("model.app: a scenario's job learns by itself: linear");
  if (!job->model().initial().empty())
    return wrong("model.initial: a scenario's job begins with nothing");
  job->mutable_job()->set_seed(s.scenario().seed());
  auto& cluster = *job->mutable_cluster();
  cluster.set_slots(s.cluster().slots());
  job->mutable_evaluation()->set_train(true);
  job->mutable_evaluation()->set_keep_best(false);
  if (s.filters().push_size() + s.filters().pull_size() > 0) {
    *job->mutable_filters()->mutable_push() = s.filters().push();
    *job->mutable_filters()->mutable_pull() = s.filters().pull();
  }
  return job;
}

}  // namespace

result<std::unique_ptr<workload>> job_workload(const config::Scenario& s) {
  auto files = posix_file_system();
  const auto job = job_of(s, *files);
  if (!job) return job.failure();
  auto reading = std::make_shared<meter>();
  auto learning = prepare_linear(*job, std::move(files), *reading);
  if (!learning) return learning.failure();
  return std::unique_ptr<workload>(
      std::make_unique<prepared_workload>(s, std::move(reading), std::move(*learning)));
}

}  // namespace troupe::chaos
