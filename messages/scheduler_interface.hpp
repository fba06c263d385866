#pragma once
// What the scheduler answers.

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "messages/control.pb.h"
#include "messages/glue.hpp"
#include "messages/worker_interface.hpp"

namespace troupe {

using join_atom = caf::atom_constant<caf::atom("join")>;
using beat_atom = caf::atom_constant<caf::atom("beat")>;
using report_atom = caf::atom_constant<caf::atom("report")>;
using drain_atom = caf::atom_constant<caf::atom("drain")>;
using take_atom = caf::atom_constant<caf::atom("checkpoint")>;
using job_atom = caf::atom_constant<caf::atom("job")>;
using even_atom = caf::atom_constant<caf::atom("rebalance")>;
using down_atom = caf::atom_constant<caf::atom("down")>;
using progr_atom = caf::atom_constant<caf::atom("progress")>;
using failed_atom = caf::atom_constant<caf::atom("failed")>;
using status_atom = caf::atom_constant<caf::atom("status")>;

using scheduler_actor = caf::typed_actor<
    // A node's first message.
    caf::replies_to<join_atom, pb::Join>::with<pb::JoinReply>,
    // A node lives.
    caf::reacts_to<beat_atom, pb::Beat>,
    // A primary without copies asks for leave to answer.
    caf::replies_to<lease_atom, pb::LeaseRequest>::with<pb::LeaseReply>,
    // A server reports its shards.
    caf::reacts_to<report_atom, pb::ServerReport>,
    // A node is to leave; the load is to be evened out; a checkpoint is to be taken now.
    caf::replies_to<drain_atom, pb::DrainNode>::with<pb::CommandReply>,
    caf::replies_to<even_atom, pb::Rebalance>::with<pb::CommandReply>,
    caf::replies_to<take_atom, pb::TakeCheckpoint>::with<pb::CommandReply>,
    // A supervisor reports a death.
    caf::reacts_to<down_atom, pb::NodeDown>,
    // A worker reports its slots.
    caf::reacts_to<progr_atom, pb::Progress>,
    // A slot cannot go on.
    caf::reacts_to<failed_atom, pb::SlotFailed>,
    // Where the job stands.
    caf::replies_to<status_atom, pb::StatusQuery>::with<pb::JobStatus>,
    // What is to be learned: a process that will be a worker, or a client, asks before it is one.
    caf::replies_to<job_atom, pb::JobQuery>::with<pb::JobText>,
    // Ends training after the clocks under way, then evaluates and saves as usual.
    caf::replies_to<stop_atom, pb::StopJob>::with<pb::CommandReply>,
    // The scheduler's own: deadlines; a job of the background has ended.
    caf::reacts_to<tick_atom>, caf::reacts_to<done_atom, std::uint64_t>>;

}  // namespace troupe
