#pragma once
// What a worker answers.

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "messages/control.pb.h"
#include "messages/glue.hpp"
#include "messages/server_interface.hpp"

namespace troupe {

using assign_atom = caf::atom_constant<caf::atom("assign")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using eval_atom = caf::atom_constant<caf::atom("eval")>;

using worker_actor = caf::typed_actor<
    // Take a slot over: install its epoch, learn its numbers, go on.
    caf::reacts_to<assign_atom, pb::Assignment>,
    // Finish every slot after its present clock.
    caf::reacts_to<stop_atom, pb::StopSlots>,
    // Score a part of a data set with the model as it is; the scores are the blob.
    caf::replies_to<eval_atom, pb::EvaluateTask>::with<pb::EvaluatedPart, blob>,
    caf::reacts_to<view_atom, pb::View>,
    // The worker's own: joining and reports; retries that are due; a job of the background has
    // ended.
    caf::reacts_to<tick_atom>, caf::reacts_to<wake_atom>, caf::reacts_to<done_atom, std::uint64_t>>;

}  // namespace troupe
