// Filters that lose something, on real data: half of the bytes of values, and the same model to a
// user's eye.
#include <cmath>

#include "tests/e2e/workplace.hpp"
#include "tests/support/real_data.hpp"

using namespace troupe::testing;

namespace {

// Bytes of keys and values before any filter, and as sent.
struct sent_bytes {
  double before = 0, after = 0;
};

sent_bytes bytes_of(const result_page& done, const std::string& direction, const char* by) {
  sent_bytes sum;
  for (const auto& one : done.value("traffic").list_value().values()) {
    const auto& fields = one.struct_value().fields();
    const auto& counts = fields.at(by).list_value();
    if (fields.at("table").string_value() != "weights" || counts.values_size() == 0 ||
        fields.at("direction").string_value() != direction)
      continue;
    sum.before += counts.values(0).number_value();
    sum.after += counts.values(counts.values_size() - 1).number_value();
  }
  return sum;
}

words filters(const std::string& way, const std::string& names) {
  return set("filters." + way + "=[" + names + "]");
}

}  // namespace

TEST_CASE("lossy filters halve their values and cost less than 0.001 AUC on real data") {
  struct {
    const char* name;
    words how;
  } const sets[] = {
      {"a9a", set("training.updater.name=adagrad") + set("training.updater.rate=0.07") +
                  set("training.minibatch=100")},
      {"criteo20k", set("training.updater.name=sgd") + set("training.updater.rate=0.05") +
                        set("training.minibatch=10")}};
  for (const auto& one : sets) {
    const auto data = real_data(one.name);
    if (!data) {
      MESSAGE("skipped: TROUPE_DATA names no folder with ", one.name);
      continue;
    }
    CAPTURE(std::string(one.name));
    const workplace here;
    here.write("job.toml", "[data]\ntrain = \"" + *data + "/train.svm.xz\"\ntest = \"" + *data +
                               "/test.svm.xz\"\ncache = \"cache\"\n"
                               "[model]\noutput = \"\"\n[training]\nepochs = 3\n"
                               "staleness = 0\ncombine = \"each\"\n"
                               "[filters]\neverywhere = true\n"
                               "[cluster]\nworkers = 2\nservers = 2\nslots = 4\n");
    // Counted, and nothing else.
    const std::string none = "\"zstd least_bytes=1e9\"";
    const auto plain = here.train(one.how + filters("push", none) + filters("pull", none));
    const auto pushed = bytes_of(plain, "push", "sent_by_workers").before;
    const auto near_plain = [&](const result_page& done) {
      CHECK(std::fabs(done.number("test_auc") - plain.number("test_auc")) <= 0.001);
    };
    for (const std::string name :
         {"bf16", "f16", "fixed8", "fixed16 bits=12", "significant relative=0.25",
          "random_skip skip=0.505 by_size=1"}) {
      CAPTURE(name);
      const auto done = here.train(one.how + filters("push", "\"" + name + "\""));
      near_plain(done);
      const auto now = bytes_of(done, "push", "sent_by_workers");
      // A key has 8 bytes, and its value had 4. (All 16 bits of fixed16, and its scale, would be a
      // little more than half.)
      CHECK(now.after - now.before * 8 / 12 <= pushed * 4 / 12 * 0.505);
    }
    for (const std::string name : {"bf16", "f16", "fixed8", "fixed16 bits=12"}) {
      CAPTURE(name);
      const auto done = here.train(one.how + filters("pull", "\"" + name + "\""));
      near_plain(done);
      const auto now = bytes_of(done, "pull", "sent_by_servers");
      CHECK(now.after <= now.before * 0.505);
    }
    const std::string lossless = "\"value_delta\", \"key_cache\", \"key_delta\", \"zstd\"";
    near_plain(here.train(
        one.how + filters("push", "\"significant relative=0.1\", \"fixed16\", " + lossless) +
        filters("pull", "\"bf16\", " + lossless)));
  }
}
