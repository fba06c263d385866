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

}  // namespace

int make_data_command(const std::vector<std::string>& arguments) {
  command_line line("make-data --debian FOLDER | --synthetic FOLDER [options]",
                    "Makes train.svm and test.svm: out of this machine's Debian package index (is "
                    "a package a program?), "
                    "or out of a made-up model whose weights it writes beside them.");
  apps::synthetic_options synthetic;
  std::string debian;
  line.options().add_options()("debian", po::value(&debian)->value_name("FOLDER"),
                               "from the package index")(
      "synthetic", po::value(&synthetic.folder)->value_name("FOLDER"),
      "from a known sparse logistic model")(
      "rows", po::value(&synthetic.rows)->default_value(synthetic.rows),
      "synthetic: training rows")(
      "test-rows", po::value(&synthetic.test_rows)->default_value(synthetic.test_rows),
      "synthetic: test rows")("features",
                              po::value(&synthetic.features)->default_value(synthetic.features),
                              "synthetic: features in all")(
      "per-row", po::value(&synthetic.per_row)->default_value(synthetic.per_row),
      "synthetic: features of a row, on average")(
      "seed", po::value(&synthetic.seed)->default_value(synthetic.seed), "synthetic: the seed");
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (debian.empty() == synthetic.folder.empty())
    return report(
        {errc::bad_usage, "make-data needs either --debian FOLDER or --synthetic FOLDER"});
  return debian.empty() ? make_synthetic(synthetic) : make_debian(debian);
}

}  // namespace troupe
