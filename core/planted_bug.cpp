#include "core/planted_bug.hpp"

namespace troupe {

const planted_bug planted_bugs[] = {
    {"acknowledge-early", "A primary acknowledges a push that its copies do not have yet."},
    {"no-duplicate-check", "A push that comes again is acknowledged, and applied again."},
    {"replica-out-of-order", "A copy applies a message of changes that comes late, or again."},
    {"replica-accepts-gap",
     "A copy is not told the rows of a message that was lost, and takes the next."},
    {"lease-ignored",
     "Primaries serve without leave, and promoted ones wait for nobody's to run out."},
    {"view-not-checked-on-pull",
     "A pull for another epoch of the shard is answered by any holder."},
    {"clock-not-replicated",
     "A slot's number does not go to copies with the rows that its push changed."},
    {"hand-over-forgets-state", "A copy that joins gets the rows without their optimiser state."},
    {"staleness-off-by-one", "A pull waits for one clock less than the bound says."},
    {"checkpoint-without-sync", "A checkpoint counts before its row files are synced."},
    {"torn-cut", "Every other shard of a checkpoint's one cut is written a clock too early."},
    {"view-before-log",
     "Views and assignments are told before the scheduler's log has them, synced."},
    {"hand-over-misses-changes",
     "Changes to rows of a hand-over's chunk under way are not passed on."},
    {"previous-version-lost",
     "A bulk-synchronous pull of the version before the present gets the present."},
    {"gathered-counts-as-applied",
     "A copy takes a push for applied that still waits for its clock's rest."},
    {"rerouted-push-is-empty",
     "A push under way is sent to its shard's new place without keys and values."},
    {"lease-from-answer",
     "Leave to answer counts from the answer's arrival and not from the asking."},
};
const std::size_t planted_bug_count = sizeof planted_bugs / sizeof planted_bugs[0];

#ifdef TROUPE_PLANTED_BUGS
namespace {

std::string_view chosen;

}  // namespace

bool planted(std::string_view name) {
  return chosen == name;
}

bool choose_planted_bug(std::string_view name) {
  if (name.empty()) chosen = {};
  for (const auto& bug : planted_bugs)
    if (bug.name == name) chosen = bug.name;
  return chosen == name;
}
#endif

}  // namespace troupe
