// Clusters in virtual time whose nodes die, join and leave while they train bulk-synchronously: the
// model is that of a run without faults. Deaths are found by the silence of the dead.

#include <doctest/doctest.h>

#include "tests/support/virtual_jobs.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// A job of about 60 ms of virtual time.
virtual_job job(std::uint32_t copies = 1) {
  virtual_job j;
  j.copies = copies;
  j.servers = copies + 2;
  j.toy.two_tables = true;
  j.toy.function = "adagrad";
  j.toy.clocks = 20;
  return j;
}

}  // namespace

TEST_CASE("copies change nothing of the model") {
  const auto expected = job(0).digest();
  for (std::uint32_t copies = 1; copies <= 3; ++copies) {
    auto j = job(copies);
    CHECK(j.digest() == expected);
    for (const char* combine : {"sum", "mean"}) {
      auto with = job(copies), without = job(0);
      with.toy.combine = without.toy.combine = combine;
      CHECK(with.digest() == without.digest());
    }
  }
}

TEST_CASE("one copy: any server dies at any of 50 moments, and the model is the same") {
  const auto calm = job().finished();
  const auto length = calm.record.virtual_time;
  for (int i = 0; i < 50; ++i) {
    auto j = job();
    const auto who = "server " + std::to_string(i % 3);
    j.crash(who.c_str(), length * (i + 1) / 52);
    CAPTURE(i);
    const auto r = j.finished();
    CHECK(digest_of(r.status) == digest_of(calm.status));
    CHECK(r.status.generation() == 0);  // nothing was lost
  }
}

namespace {

// In one run: a worker dies for good, the scheduler is killed and started again, a server joins and
// another one is drained.
void trouble(virtual_job& j, const std::string& folder) {
  using kind = planned_fault::kind;
  j.folder = folder;
  j.crash("worker 2", 13ms);
  j.crash("scheduler", 21ms, 20ms);
  const auto fresh = "server " + std::to_string(j.servers);
  j.fault(kind::join, fresh.c_str(), 8ms, {});
  j.fault(kind::drain, "server 0", 60ms, {});
}

struct strike {
  const char* landmark;
  const char* node;
};

// The states in which a node is struck. A state that has not been passed in a run fails the test.
constexpr strike server_strikes[] = {
    {landmark::push_gathered, "server *"},    {landmark::push_applied, "server *"},
    {landmark::copy_applied, "server *"},     {landmark::copy_confirmed, "server *"},
    {landmark::hand_over_begins, "server *"}, {landmark::hand_over_goes_on, "server *"},
    {landmark::hand_over_ends, "server *"},   {landmark::copy_filled, "server *"},
    {landmark::promoted, "server *"},         {landmark::shard_split, "server *"},
    {landmark::shard_still, "server *"},      {landmark::view_installed, "server *"},
    {landmark::slot_adopted, "server *"},     {landmark::evaluating, "scheduler"},
    {landmark::view_made, "scheduler"},       {landmark::view_published, "scheduler"},
    {landmark::slots_assigned, "scheduler"},  {landmark::push_sent, "worker *"},
    {landmark::slot_finished, "worker *"}};

}  // namespace

TEST_CASE("one copy: everything else goes wrong too, and a server dies at any of 50 moments") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  for (int i = 0; i < 50; ++i) {
    auto j = job();
    trouble(j, folder / std::to_string(i));
    const auto who = "server " + std::to_string(1 + i % 2);
    j.crash(who.c_str(), 3ms * (i + 1));
    CAPTURE(i);
    const auto r = j.finished();
    CHECK(digest_of(r.status) == expected);
    CHECK(r.status.generation() == 0);
  }
}

TEST_CASE("one copy: nodes are struck in every state of the protocol, amid all other trouble") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  int run = 0;
  for (const auto& s : server_strikes)
    for (const std::uint32_t occurrence : {1u, 2u, 5u}) {
      auto j = job();
      trouble(j, folder / std::to_string(run++));
      j.strike(s.landmark, s.node, occurrence, 15ms);
      CAPTURE(std::string(s.landmark));
      CAPTURE(occurrence);
      const auto r = j.finished();
      CHECK(digest_of(r.status) == expected);
      CHECK(r.landmarks.count(s.landmark) == 1);
      CHECK(r.status.generation() == 0);
    }
}

TEST_CASE("two copies: two servers die at once") {
  const auto expected = job(0).digest();
  for (int i = 0; i < 50; ++i) {
    auto j = job(2);
    const auto one = "server " + std::to_string(i % 4),
               other = "server " + std::to_string((i + 1 + i / 4 % 3) % 4);
    j.crash(one.c_str(), 2ms * (i + 1)).crash(other.c_str(), 2ms * (i + 1));
    CAPTURE(i);
    const auto r = j.finished();
    CHECK(digest_of(r.status) == expected);
    CHECK(r.status.generation() == 0);
  }
}

TEST_CASE("the scheduler is killed and started again") {
  temporary_folder folder;
  auto j = job();
  j.folder = folder / "s";
  j.crash("scheduler", 21ms, 20ms);
  CHECK(j.digest() == job(0).digest());
}
