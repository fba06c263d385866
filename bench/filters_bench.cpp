// What filters cost, one core.
//
// Speed: encoding and decoding messages of 20,000 keys and values (f32, width 1), in GB of keys and
// values a second, against memcpy of the same bytes. Lossy filters: rounding, and what packs the
// rounded. Values are a normal draw, and change by about a thousandth from message to message; the
// keys stay, but for key_cache, which is also shown keys that never come again.
//
// In one process: pushes of 10,000 keys through actors, with no filters, with filters that are left
// out because the server is near, and with filters that are forced.
//
// Medians of 7 turns, in each of which all sides run.

#include <cstdio>
#include <cstring>
#include <string>

#include "apps/local/local_cluster.hpp"
#include "bench/push_load.hpp"
#include "messages/filters/chain.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t keys_of_message = 20'000;
constexpr std::size_t messages = 200;

struct sides {
  double encode = 0, decode = 0, bytes_left = 0;  // GB/s, GB/s, share
};

std::vector<payload> drawn_messages(bool keys_repeat) {
  random_source random(5);
  std::vector<payload> all;
  std::vector<float> values(keys_of_message);
  for (auto& x : values) x = static_cast<float>(random.normal());
  blob keys;
  for (std::size_t m = 0; m < messages; ++m) {
    if (m == 0 || !keys_repeat) {
      std::vector<position> positions(keys_of_message);
      for (auto& p : positions) p = mix(random.below(10'000'000));
      std::sort(positions.begin(), positions.end());
      keys = blob::copy_of(span<const position>(positions));
    }
    for (auto& x : values) x *= 1 + static_cast<float>(random.normal()) / 1000;
    all.push_back({keys, blob::copy_of(span<const float>(values))});
  }
  return all;
}

std::size_t size_of(const payload& p) {
  return p.keys.size() + p.values.size();
}

double copied_per_second(const std::vector<payload>& all) {
  std::vector<std::byte> to(size_of(all[0]));
  std::size_t bytes = 0;
  const double seconds = seconds_of([&] {
    for (const auto& p : all) {
      std::memcpy(to.data(), p.keys.data(), p.keys.size());
      std::memcpy(to.data() + p.keys.size(), p.values.data(), p.values.size());
      bytes += size_of(p);
      asm volatile("" : : "r"(to.data()) : "memory");  // the copies are made
    }
  });
  return static_cast<double>(bytes) / 1e9 / seconds;
}

sides filtered_per_second(const std::vector<payload>& all, const std::string& filter) {
  pb::TableSpec table;
  table.set_name("weights");
  table.set_width(1);
  table.set_value_type("f32");
  table.add_push_filters()->set_name(filter);
  content_memories there(std::size_t{64} << 20, std::size_t{64} << 20);
  content_memories here(std::size_t{1} << 20, std::size_t{64} << 20);
  value_chain losing(table, direction::push);
  transmission_chain out(table, direction::push, &here), in(table, direction::push, &there);
  byte_counts sent, received;
  double bytes = 0;
  std::vector<std::pair<payload, pb::Encoding>> encoded(all.size());
  const double encoding = seconds_of([&] {
    for (std::size_t m = 0; m < all.size(); ++m) {
      auto& [message, steps] = encoded[m];
      message = all[m];
      losing.apply(message, {1, 0, m, 0});
      out.encode(message, steps, sent);
      bytes += static_cast<double>(size_of(all[m]));
    }
  });
  const double decoding = seconds_of([&] {
    for (auto& [message, steps] : encoded)
      if (in.decode(message, steps, received) != undone::done)
        std::fprintf(stderr, "filters_bench: %s does not decode\n", filter.c_str());
  });
  return {bytes / 1e9 / encoding, bytes / 1e9 / decoding,
          static_cast<double>(sent.back()) / static_cast<double>(sent.front())};
}

void measure_speed() {
  std::printf("%-24s | %9s | %12s %9s | %12s %9s\n", "filter", "of raw", "encode GB/s", "/ memcpy",
              "decode GB/s", "/ memcpy");
  const auto repeating = drawn_messages(true), fresh = drawn_messages(false);
  for (const std::string name :
       {"key_cache", "key_cache, fresh keys", "key_delta", "value_delta", "zstd", "lz4", "bf16",
        "f16", "fixed8", "fixed16", "significant", "random_skip"}) {
    const auto& all = name == "key_cache, fresh keys" ? fresh : repeating;
    std::vector<double> encode, decode, encode_ratio, decode_ratio;
    double left = 0;
    for (int turn = 0; turn < turns; ++turn) {
      const double copied = copied_per_second(all);
      const auto now = filtered_per_second(all, name.substr(0, name.find(',')));
      encode.push_back(now.encode);
      decode.push_back(now.decode);
      encode_ratio.push_back(now.encode / copied);
      decode_ratio.push_back(now.decode / copied);
      left = now.bytes_left;
    }
    std::printf("%-24s | %8.0f%% | %12.2f %9.2f | %12.2f %9.2f\n", name.c_str(), 100 * left,
                median(encode), median(encode_ratio), median(decode), median(decode_ratio));
  }
}

cluster_settings cluster_of(const std::shared_ptr<pushing_application>& app,
                            const std::vector<std::string>& filters, bool everywhere) {
  cluster_settings c;
  auto& plan = c.scheduler.job.plan;
  plan.set_slots(1);
  auto& table = add_table(plan, "weights");
  for (const auto& name : filters) table.add_push_filters()->set_name(name);
  plan.set_filters_everywhere(everywhere);
  patient_timings(plan);
  scores_nothing(c, app);
  return c;
}

bool measure_one_process() {
  const std::vector<std::string> lossless{"value_delta", "key_cache", "key_delta", "zstd"};
  auto lossy = lossless;
  lossy.insert(lossy.begin(), "fixed8");
  const struct {
    const char* name;
    std::vector<std::string> filters;
    bool forced;
  } all_sides[] = {{"no filters", {}, false},
                   {"lossless, near", lossless, false},
                   {"lossless, forced", lossless, true},
                   {"and fixed8, near", lossy, false},
                   {"and fixed8, forced", lossy, true}};
  std::vector<double> rate[5], ratio[5];
  for (int turn = 0; turn < turns; ++turn) {
    double now[5] = {};
    for (int side = 0; side < 5; ++side) {
      auto app = std::make_shared<pushing_application>();
      app->l.pushes = 400;
      const auto status =
          run_local_cluster(cluster_of(app, all_sides[side].filters, all_sides[side].forced));
      if (status.phase() != pb::JobStatus::FINISHED) {
        std::fprintf(stderr, "filters_bench: %s\n", status.text().c_str());
        return false;
      }
      now[side] = static_cast<double>(app->l.pushes * app->l.keys) / 1e6 /
                  (app->out.ended - app->out.begun);
      rate[side].push_back(now[side]);
      ratio[side].push_back(now[side] / now[0]);
    }
  }
  std::printf("\n%-24s | %12s %9s\n", "pushes in one process", "Mkeys/s", "/ none");
  for (int side = 0; side < 5; ++side)
    std::printf("%-24s | %12.1f %9.2f\n", all_sides[side].name, median(rate[side]),
                median(ratio[side]));
  return true;
}

}  // namespace
}  // namespace troupe::bench

int main() {
  troupe::bench::measure_speed();
  return troupe::bench::measure_one_process() ? 0 : 1;
}
