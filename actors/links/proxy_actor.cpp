#include "actors/links/proxy_actor.hpp"

#include <caf/detail/sync_request_bouncer.hpp>
#include <caf/sec.hpp>

namespace troupe {

void proxy_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (!dead_.load(std::memory_order_acquire))
    by_->carry(std::move(what), context);
  else
    caf::detail::sync_request_bouncer{caf::sec::remote_linking_failed}(*what);
}

void proxy_actor::kill_proxy(caf::execution_unit* context, caf::error reason) {
  dead_.store(true, std::memory_order_release);
  cleanup(std::move(reason), context);
}

}  // namespace troupe
