#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>

#include "apps/corpus/debian_corpus.hpp"
#include "core/text.hpp"

namespace troupe::apps {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

error without_index(const std::string& why) {
  return {errc::io, "'apt-cache dumpavail' " + why +
                        "; without Debian's package index, 'troupe make-data --synthetic' makes "
                        "data with a known truth"};
}

}  // namespace

result<std::string> dump_package_index() {
  std::FILE* pipe = popen("LC_ALL=C apt-cache dumpavail 2>/dev/null", "r");
  if (pipe == nullptr) return without_index("could not be started");
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (std::size_t got;
       text.size() <= most_bytes && (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  const int status = pclose(pipe);
  if (text.size() > most_bytes) return without_index("prints more than 1 GiB");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return without_index("is not installed here");
  if (status != 0)
    return without_index(
        format("failed with exit code %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  return text;
}

}  // namespace troupe::apps
