#include "apps/deploy/manifest_check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "actors/links/certificate.hpp"
#include "core/dialling.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

using findings = std::vector<manifest_finding>;
constexpr std::uint64_t largest_pem = 1 << 20;
constexpr std::int64_t day = 24 * 60 * 60;

void check_hosts(const config::Manifest& m, findings& found) {
  std::map<std::string, bool> loopback;  // by node
  for (const auto& n : m.nodes()) {
    const auto addresses = resolve(n.address());
    if (!addresses) {
      found.push_back({true, n.name() + ": " + addresses.failure().text});
      continue;
    }
    loopback[n.name()] = std::all_of(addresses->begin(), addresses->end(), is_loopback);
    if (std::any_of(addresses->begin(), addresses->end(), is_any_address))
      found.push_back({true, n.name() + ": nobody can be reached at " + n.address()});
    if (n.role() == "worker") continue;
    const auto& bind = config::bind_address(n);
    if (const auto bound = resolve(bind); !bound)
      found.push_back({true, n.name() + ": bind: " + bound.failure().text});
    else if (m.cluster().insecure() && !std::all_of(bound->begin(), bound->end(), is_loopback))
      found.push_back({true, n.name() + ": it listens at " + bind +
                                 ", and cluster.insecure allows loopback alone"});
  }
  const bool some_are_far =
      std::any_of(loopback.begin(), loopback.end(), [](const auto& l) { return !l.second; });
  if (!some_are_far) return;
  for (const auto& n : m.nodes())
    if (const auto l = loopback.find(n.name());
        l != loopback.end() && l->second && n.role() != "worker")
      found.push_back({true, n.name() + ": others are on other machines, and cannot reach it at " +
                                 n.address() + ", which is this machine to each of them"});
}

result<certificate_facts> read_certificate(file_system& files, const std::string& path,
                                           std::string& pem) {
  auto text = read_text(files, path, largest_pem);
  if (!text) return text.failure();
  pem = *std::move(text);
  auto facts = facts_of_certificate(pem);
  if (!facts) return error{errc::bad_config, path + ": " + facts.failure().text};
  return facts;
}

void check_dates(const certificate_facts& facts, const std::string& path, std::int64_t now,
                 findings& found) {
  if (facts.valid_to < now)
    found.push_back({true, path + format(": it has expired %lld days ago",
                                         static_cast<long long>((now - facts.valid_to) / day))});
  else if (facts.valid_to - now < 14 * day)
    found.push_back({false, path + format(": it expires in %lld days",
                                          static_cast<long long>((facts.valid_to - now) / day))});
  if (facts.valid_from > now) found.push_back({true, path + ": it is not valid yet"});
}

void check_files_of(file_system& files, const config::Manifest& m, const std::string& name,
                    const std::string& role, std::int64_t now, findings& found) {
  const auto paths = config::files_of(m.tls(), name);
  std::string pem, authority;
  const auto facts = read_certificate(files, paths.certificate, pem);
  if (!facts) return found.push_back({true, facts.failure().text});
  check_dates(*facts, paths.certificate, now, found);
  const auto& who = facts->who;
  if (who.name != name || who.role != role || who.cluster != m.cluster().id())
    found.push_back(
        {true, paths.certificate + ": it is that of the " +
                   (who.name.empty()
                        ? "stranger '" + facts->common_name + "'"
                        : who.role + " '" + who.name + "' of the cluster '" + who.cluster + "'") +
                   ", not of the " + role + " '" + name + "' of '" + m.cluster().id() + "'"});
  const auto ca = read_certificate(files, paths.authority, authority);
  if (ca)
    if (const auto signed_by = check_signature(pem, authority); !signed_by)
      found.push_back({true, paths.certificate + ": " + signed_by.failure().text});
  const auto key = read_text(files, paths.key, largest_pem);
  if (!key) return found.push_back({true, key.failure().text});
  if (const auto fits = check_key(pem, *key); !fits)
    found.push_back({true, paths.key + ": " + fits.failure().text});
  std::error_code failed;
  const auto mode = std::filesystem::status(paths.key, failed).permissions();
  using std::filesystem::perms;
  if (!failed && (mode & (perms::group_all | perms::others_all)) != perms::none)
    found.push_back({true, paths.key + ": others may read this key; run 'chmod 600'"});
}

}  // namespace

std::vector<manifest_finding> check_manifest(file_system& files, const config::Manifest& manifest,
                                             const std::string& only, std::int64_t now) {
  findings found;
  check_hosts(manifest, found);
  if (manifest.cluster().insecure()) {
    found.push_back({false, "cluster.insecure: anybody on this machine may command the cluster"});
    return found;
  }
  std::string pem;
  const auto ca_path = config::files_of(manifest.tls(), "ca").authority;
  const auto ca = read_certificate(files, ca_path, pem);
  if (ca)
    check_dates(*ca, ca_path, now, found);
  else
    found.push_back({true, ca.failure().text + "; 'troupe certs' makes an authority"});
  for (const auto& n : manifest.nodes())
    if (only.empty() || only == n.name())
      check_files_of(files, manifest, n.name(), n.role(), now, found);
  return found;
}

}  // namespace troupe
