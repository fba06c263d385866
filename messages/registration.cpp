#include "messages/registration.hpp"

#include <caf/all.hpp>

namespace troupe {

void register_message_types(caf::actor_system_config& config) {
  for_each_message_type([&](auto prototype, const char* name) {
    config.add_message_type<decltype(prototype)>(name);
  });
}

}  // namespace troupe
