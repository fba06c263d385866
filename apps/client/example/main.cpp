// A worker of one's own: it counts how often each of a hundred keys was drawn, together with all
// other workers of the cluster, and says at the end how many draws there were.
//
//   averages cluster.toml worker-0 50

#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <troupe/client.hpp>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: averages MANIFEST NAME CLOCKS\n");
    return 2;
  }
  troupe::client::options how;
  how.manifest = argv[1];
  how.name = argv[2];
  how.clocks = std::strtoull(argv[3], nullptr, 10);
  troupe::client cluster(how);
  double total = 0;
  std::map<std::uint32_t, troupe::client_ticket> last;  // push, by slot
  while (const auto turn = cluster.next_clock()) {
    // By now the push of the clock before has arrived everywhere.
    if (last.count(turn->slot) > 0) cluster.wait(last[turn->slot]);
    // Ten keys of the hundred, others in every clock.
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 10; ++i)
      keys.push_back((turn->clock * 7 + turn->slot + i * 10) % 100);
    const auto all = cluster.pull_range(*turn, "counts", 0, 99);
    const auto mine = cluster.pull(*turn, "counts", keys, {all});  // after the other
    const auto rows = cluster.wait(all);
    total = std::accumulate(rows.floats.begin(), rows.floats.end(), 0.0);
    if (cluster.wait(mine).floats.size() != keys.size()) return 1;
    last[turn->slot] = cluster.push(*turn, "counts", keys, std::vector<float>(keys.size(), 1));
    cluster.end_clock(*turn, keys.size());
  }
  std::printf("%s: at least %.0f draws were counted\n", argv[2], total);
  return 0;
} catch (const troupe::client_error& e) {
  std::fprintf(stderr, "averages: %s\n", e.what());
  return 1;
}
