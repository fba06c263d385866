// troupe evaluate, troupe export: the command lines of what is done with a saved model.

#include <iostream>
#include <sstream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/evaluate.hpp"
#include "apps/commands/export.hpp"

namespace troupe {

namespace po = boost::program_options;

int evaluate_command(const std::vector<std::string>& arguments) {
  command_line line("evaluate --model DIR [FILE]... [options]",
                    "Measures a saved model on data files, or without any on the test data of its "
                    "job. Prints a line for "
                    "each figure: its name and its value, or '-' where it is not defined.");
  evaluate_options options;
  line.options().add_options()("model", po::value(&options.model)->required()->value_name("DIR"),
                               "the model's folder")(
      "train", po::bool_switch(&options.train),
      "the files are the training data: figures are named so, and there is an objective")(
      "set", po::value(&options.set)->composing()->value_name("KEY=VALUE"),
      "overrides a key of the job that the model was made by, as in --set data.max_bad_rows=10");
  line.positional("file", -1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (values.count("file")) options.data = values["file"].as<std::vector<std::string>>();
  const auto done = evaluate_model(posix_file_system(), options, std::cout);
  return done ? exit_done : report(as_bad_input(done.failure()));
}

int export_command(const std::vector<std::string>& arguments) {
  command_line line(
      "export --model DIR [--format text] [--output FILE] [options]",
      "Writes a saved model as text: a comment line for each table, then key, values and, where a "
      "dictionary has one, the name, separated by tabs.");
  export_options options;
  std::string output;
  std::size_t telling = 0;
  line.options().add_options()("model", po::value(&options.model)->required()->value_name("DIR"),
                               "the model's folder")(
      "format", po::value(&options.format)->default_value("text"), "text")(
      "output", po::value(&output)->value_name("FILE"),
      "where it goes; standard output if left out")("weights-only",
                                                    po::bool_switch(&options.text.weights_only),
                                                    "leaves out rows of nothing but zeros")(
      "dictionary", po::value(&options.dictionary)->value_name("FILE"),
      "lines 'key TAB name', instead of the names saved with the model")(
      "telling", po::value(&telling)->value_name("N"),
      "only the N features that speak most for the positive class, and the N most against it");
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  const auto files = posix_file_system();
  std::ostringstream text;
  const auto done =
      telling > 0 ? print_telling_features(*files, options.model, options.dictionary, telling, text)
                  : export_model(*files, options, text);
  if (!done) return report(as_bad_input(done.failure()));
  if (output.empty()) {
    std::cout << text.str();
    return exit_done;
  }
  const auto written = write_text_atomically(*files, output, text.str());
  return written ? exit_done : report(written.failure());
}

}  // namespace troupe
