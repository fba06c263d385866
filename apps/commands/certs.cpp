// troupe certs: the certificates of a cluster.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "actors/links/certificate.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "config/manifest.hpp"
#include "core/file.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t largest_pem = 1 << 20;

// A key is its owner's alone from its first byte on.
result<void> write_secret(const std::string& path, const std::string& text) {
  const auto fail = [&] { return error{errc::io, path + ": " + std::strerror(errno)}; };
  (void)::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return fail();
  std::size_t at = 0;
  while (at < text.size()) {
    const auto n = ::write(file, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const auto why = fail();
      ::close(file);
      return why;
    }
    at += static_cast<std::size_t>(n);
  }
  if (::fsync(file) != 0 || ::close(file) != 0) return fail();
  return {};
}

struct certs_run {
  file_system& files;
  std::string folder, cluster;
  int days = 365;
  bool again = false;  // those that are there too

  result<key_pair> authority() {
    const auto certificate = folder + "/ca.pem", key = folder + "/ca.key";
    if (files.exists(certificate) && files.exists(key)) {
      const auto c = read_text(files, certificate, largest_pem);
      const auto k = read_text(files, key, largest_pem);
      if (!c) return c.failure();
      if (!k) return k.failure();
      return key_pair{*c, *k};
    }
    if (files.exists(certificate))
      return error{errc::bad_config, folder +
                                         " has ca.pem without ca.key: make certificates where "
                                         "the authority's key is"};
    auto made = make_authority(cluster, 10 * 365);
    if (!made) return made;
    if (auto done = write_secret(key, made->key); !done) return done.failure();
    if (auto done = write_text_atomically(files, certificate, made->certificate); !done)
      return done.failure();
    std::cout << "made " << certificate << ", the authority of the cluster '" << cluster
              << "'; keep " << key << " away from the nodes\n";
    return made;
  }

  result<void> one(const key_pair& ca, const certificate_identity& who,
                   const std::vector<std::string>& hosts) {
    const auto certificate = folder + "/" + who.name + ".pem",
               key = folder + "/" + who.name + ".key";
    if (!again && files.exists(certificate) && files.exists(key)) return {};
    auto made = make_certificate(ca, who, hosts, days);
    if (!made) return made.failure();
    if (auto done = write_secret(key, made->key); !done) return done;
    if (auto done = write_text_atomically(files, certificate, made->certificate); !done)
      return done;
    std::cout << "made " << certificate << " and its key, for the " << who.role << " '" << who.name
              << "'\n";
    return {};
  }
};

}  // namespace

int certs_command(const std::vector<std::string>& arguments) {
  command_line line(
      "certs --manifest FILE [NAME]... [options]",
      "Makes what is missing of a cluster's certificates, in the folder that the manifest names: "
      "an "
      "authority (ca.pem and ca.key), and a certificate and key for each node and for "
      "'admin'. With NAMEs: for those alone. A node needs ca.pem, its own certificate and its own "
      "key, and nothing else.");
  std::string manifest_path;
  int days = 365;
  line.options().add_options()("manifest", po::value(&manifest_path)->value_name("FILE"),
                               "the cluster's manifest")("days", po::value(&days)->value_name("N"),
                                                         "how long they are valid (365)")(
      "renew", "makes those that are there anew too; never the authority");
  line.positional("name", -1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (manifest_path.empty()) return report({errc::bad_usage, "certs needs --manifest FILE"});
  const auto files = posix_file_system();
  const auto manifest = config::load_manifest(*files, manifest_path);
  if (!manifest) return report(as_bad_input(manifest.failure()));
  const auto names = values.count("name") ? values["name"].as<std::vector<std::string>>()
                                          : std::vector<std::string>();
  const auto wanted = [&](const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& name : names)
    if (name != "admin" && config::find_node(*manifest, name) == nullptr)
      return report({errc::bad_usage, "the manifest has no node '" + name + "'"});
  certs_run run{*files, manifest->tls().folder(), manifest->cluster().id(), days,
                values.count("renew") > 0};
  if (auto done = files->create_folders(run.folder); !done) return report(done.failure());
  const auto ca = run.authority();
  if (!ca) return report(as_bad_input(ca.failure()));
  for (const auto& n : manifest->nodes())
    if (wanted(n.name()))
      if (auto done = run.one(*ca, {run.cluster, n.role(), n.name()}, {n.address()}); !done)
        return report(done.failure());
  if (wanted("admin"))
    if (auto done = run.one(*ca, {run.cluster, "admin", "admin"}, {}); !done)
      return report(done.failure());
  return exit_done;
}

}  // namespace troupe
