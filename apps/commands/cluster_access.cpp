#include "apps/commands/cluster_access.hpp"

#include <unistd.h>

#include "apps/commands/job_run.hpp"
#include "core/log.hpp"

namespace troupe {

result<std::unique_ptr<cluster_access>> cluster_access::open(
    std::shared_ptr<live_manifest> manifest, const std::string& name, bool whole_status) {
  const auto present = manifest->present();
  auto who = member_of(present, name);
  if (!who) return who.failure();
  auto files = posix_file_system();
  auto tls = open_security(*files, present, *who);
  if (!tls) return tls.failure();
  log_settings quiet;
  quiet.level = log_level::off;
  if (auto done = configure_log(quiet); !done) return done.failure();
  node_settings settings;
  settings.manifest = manifest;
  settings.who = *std::move(who);
  // Several admins may be there at once.
  settings.who.role.index = static_cast<std::uint32_t>(::getpid());
  settings.tls = *std::move(tls);
  settings.files = std::move(files);
  settings.threads = 1;
  settings.whole_status = whole_status;
  std::unique_ptr<cluster_access> made(new cluster_access);
  const auto& scheduler = config::scheduler_of(present);
  made->scheduler_ =
      scheduler.name() + " at " +
      to_string(host_port{scheduler.address(), static_cast<std::uint16_t>(scheduler.port())});
  made->process_ = std::make_unique<node_process>(std::move(settings));
  return made;
}

result<pb::JobStatus> cluster_access::status(duration within) {
  const auto begun = wall_clock();
  std::string refused;
  for (;;) {
    auto seen = process_->wait(std::chrono::milliseconds(100));
    if (seen.status) return *std::move(seen.status);
    if (seen.refused) refused = *seen.refused;
    if (seen.refused_for_good) return error{errc::bad_config, refused};
    if (wall_clock() - begun > within)
      return error{errc::lost, scheduler_ + " does not answer" +
                                   (refused.empty() ? std::string() : ": " + refused)};
  }
}

result<std::string> cluster_access::command(const std::function<void(node_process&)>& send,
                                            duration within) {
  if (auto there = status(within); !there) return there.failure();
  send(*process_);
  const auto begun = wall_clock();
  while (wall_clock() - begun < within) {
    const auto seen = process_->wait(std::chrono::milliseconds(100));
    if (!seen.command) continue;
    if (!seen.command->accepted()) return error{errc::rejected, seen.command->text()};
    return seen.command->text();
  }
  return error{errc::timeout, scheduler_ + " did not answer the command in time"};
}

console::name_of_node name_in(const config::Manifest& manifest) {
  std::map<role_id, std::string> names;
  for (const auto& n : manifest.nodes())
    names[{role_of_word(n.role()), config::index_of(manifest, n)}] = n.name();
  return [names](role_id role) {
    const auto found = names.find(role);
    return found == names.end() ? std::string() : found->second;
  };
}

}  // namespace troupe
