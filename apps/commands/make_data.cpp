// troupe make-data: data to learn from, for a machine that has none at hand.

#include "apps/make_data.hpp"

#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/corpus/debian_corpus.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

int make_debian(const std::string& folder) {
  const auto index = apps::dump_package_index();
  if (!index) return report(index.failure());
  const auto facts = apps::write_debian_corpus(*posix_file_system(), folder, *index);
  if (!facts) return report(facts.failure());
  std::cout << folder << ": " << human_count(facts->train_rows) << " training rows with "
            << human_count(facts->train_features) << " features, " << human_count(facts->test_rows)
            << " test rows; " << human_count(facts->programs) << " rows are programs\n";
  return exit_done;
}

int make_synthetic(const apps::synthetic_options& options) {
  if (const auto made = apps::make_synthetic_data(*posix_file_system(), options); !made)
    return report(made.failure());
  std::cout << options.folder << ": " << human_count(options.rows) << " training rows, "
            << human_count(options.test_rows) << " test rows, the true weights in truth.txt\n";
  return exit_done;
}

// A number of things. The option library would take -1 for the largest there is.
struct count_option {
  std::uint64_t* value;
  const char* name;
};

result<void> take(const po::variables_map& values, const count_option& option) {
  const auto given = values[option.name].as<std::int64_t>();
  if (given < 0)
    return error{errc::bad_usage, std::string("--") + option.name + " must not be negative"};
  *option.value = static_cast<std::uint64_t>(given);
  return {};
}

}  // namespace

int make_data_command(const std::vector<std::string>& arguments) {
  command_line line("make-data --debian FOLDER | --synthetic FOLDER [options]",
                    "Makes train.svm and test.svm: out of this machine's Debian package index (is "
                    "a package a program?), "
                    "or out of a made-up model whose weights it writes beside them.");
  apps::synthetic_options synthetic;
  std::string debian;
  const count_option counts[] = {{&synthetic.rows, "rows"},
                                 {&synthetic.test_rows, "test-rows"},
                                 {&synthetic.features, "features"},
                                 {&synthetic.per_row, "per-row"},
                                 {&synthetic.seed, "seed"}};
  const auto with_default = [](std::uint64_t value) {
    return po::value<std::int64_t>()->default_value(static_cast<std::int64_t>(value));
  };
  line.options().add_options()("debian", po::value(&debian)->value_name("FOLDER"),
                               "from the package index")(
      "synthetic", po::value(&synthetic.folder)->value_name("FOLDER"),
      "from a known sparse logistic model")("rows", with_default(synthetic.rows),
                                            "synthetic: training rows")(
      "test-rows", with_default(synthetic.test_rows), "synthetic: test rows")(
      "features", with_default(synthetic.features), "synthetic: features in all")(
      "per-row", with_default(synthetic.per_row), "synthetic: features of a row, on average")(
      "seed", with_default(synthetic.seed), "synthetic: the seed");
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  for (const auto& option : counts)
    if (const auto taken = take(values, option); !taken) return report(taken.failure());
  if (debian.empty() == synthetic.folder.empty())
    return report(
        {errc::bad_usage, "make-data needs either --debian FOLDER or --synthetic FOLDER"});
  return debian.empty() ? make_synthetic(synthetic) : make_debian(debian);
}

}  // namespace troupe
