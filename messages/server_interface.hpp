#pragma once
// What a server answers.

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
using lease_atom = caf::atom_constant<caf::atom("lease")>;
using wake_atom = caf::atom_constant<caf::atom("wake")>;
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
    // Changes of a shard whose copy is here: header, positions, rows. Answered when all copies
    // further down the chain have them too.
    caf::replies_to<copy_atom, pb::CopyHeader, blob, blob>::with<pb::CopyReply>,
    // A primary asks for leave to answer.
    caf::replies_to<lease_atom, pb::LeaseRequest>::with<pb::LeaseReply>,
    // Row count, norms and digest of a shard's part of a table.
    caf::replies_to<summary_atom, pb::Summarise>::with<pb::TableSummary>,
    // Writes a shard's part of every table into a folder.
    caf::replies_to<save_atom, pb::SavePart>::with<pb::SavedPart>,
    // Takes up a shard's own rows of files that were written so. Nobody trains meanwhile.
    caf::replies_to<load_atom, pb::LoadPart>::with<pb::LoadedPart>,
    // The server's own: joining, and the deadlines of what it holds; a job of the background has
    // ended; there is more to do.
    caf::reacts_to<tick_atom>, caf::reacts_to<done_atom, std::uint64_t>, caf::reacts_to<wake_atom>>;

}  // namespace troupe
