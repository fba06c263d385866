#pragma once
// What a server shard and a replica answer.

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "messages/control.pb.h"
#include "messages/data.pb.h"
#include "messages/glue.hpp"

namespace troupe {

using push_atom = caf::atom_constant<caf::atom("push")>;
using pull_atom = caf::atom_constant<caf::atom("pull")>;
using adopt_atom = caf::atom_constant<caf::atom("adopt")>;
using view_atom = caf::atom_constant<caf::atom("view")>;
using summary_atom = caf::atom_constant<caf::atom("summary")>;
using save_atom = caf::atom_constant<caf::atom("save")>;
using load_atom = caf::atom_constant<caf::atom("load")>;
using copy_atom = caf::atom_constant<caf::atom("copy")>;
using tick_atom = caf::atom_constant<caf::atom("tick")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

using server_actor = caf::typed_actor<
    // Header, keys, values. The reply may be held back until the push's clock is applied.
    caf::replies_to<push_atom, pb::PushHeader, blob, blob>::with<pb::PushReply>,
    // Header, keys (none for a range). The answer carries the keys of a range, and the values.
    caf::replies_to<pull_atom, pb::PullHeader, blob>::with<pb::PullReply, blob, blob>,
    // A new life of a slot is installed; the numbers it goes on from are the answer.
    caf::replies_to<adopt_atom, pb::AdoptSlot>::with<pb::SlotNumbers>,
    // A view from the scheduler; older ones are refused.
    caf::replies_to<view_atom, pb::View>::with<pb::ViewReply>,
    // Row count, norms and digest of the server's part of a table.
    caf::replies_to<summary_atom, pb::Summarise>::with<pb::TableSummary>,
    // Writes the server's part of every table into a folder.
    caf::replies_to<save_atom, pb::SavePart>::with<pb::SavedPart>,
    // Takes up its own rows of files that were written so. Nobody trains meanwhile.
    caf::replies_to<load_atom, pb::LoadPart>::with<pb::LoadedPart>,
    // The server's own: joining, and the deadlines of what it holds; a job of the background has
    // ended.
    caf::reacts_to<tick_atom>, caf::reacts_to<done_atom, std::uint64_t>>;

// A copy of segments whose primary is elsewhere: header, keys, rows (value and state).
using replica_actor = caf::typed_actor<
    caf::replies_to<copy_atom, pb::ReplicateHeader, blob, blob>::with<pb::ReplicateReply>>;

}  // namespace troupe
