#include "apps/chaos/spoil.hpp"

#include <cstdlib>
#include <vector>

namespace troupe::chaos {

void spoil_latest_checkpoint(file_system& files, const std::string& folder, bool truncate,
                             random_source& random) {
  const auto names = files.list(folder);
  if (!names) return;
  std::string latest;
  std::uint64_t number = 0;
  for (const auto& name : *names) {
    if (name.rfind("checkpoint-", 0) != 0 || name.find('.') != std::string::npos) continue;
    const auto n = std::strtoull(name.c_str() + 11, nullptr, 10);
    if (n >= number) {
      number = n;
      latest = folder + "/" + name;
    }
  }
  const auto parts = latest.empty() ? result<std::vector<std::string>>(std::vector<std::string>())
                                    : files.list(latest);
  if (!parts || parts->empty()) return;
  const auto path = latest + "/" + (*parts)[random.below(parts->size())];
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  auto text = read_text(files, path, most);
  if (!text || text->empty()) return;
  if (truncate)
    text->resize(random.below(text->size()));
  else
    (*text)[random.below(text->size())] ^= static_cast<char>(1u << random.below(8));
  if (auto file = files.create(path))
    if ((*file)->append({reinterpret_cast<const std::byte*>(text->data()), text->size()}))
      (void)(*file)->close().ok();
}

}  // namespace troupe::chaos
