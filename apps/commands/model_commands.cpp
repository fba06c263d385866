// troupe evaluate, export, import, inspect: the command lines of what is done with a saved model.

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
      "export --model DIR [--format text|npz|liblinear] [--output FILE] [options]",
      "Writes a saved model for other programs. text: a comment line for each table, then key, "
      "values, optimiser state and, where a dictionary has one, the name, between tabs. npz: "
      "arrays "
      "for NumPy. liblinear: what liblinear's predict reads. 'troupe import' reads them back.");
  export_options options;
  std::size_t telling = 0;
  line.options().add_options()("model", po::value(&options.model)->required()->value_name("DIR"),
                               "the model's folder")(
      "format", po::value(&options.format)->default_value("text"), "text, npz or liblinear")(
      "output", po::value(&options.output)->value_name("FILE"),
      "where it goes; standard output if left out")(
      "weights-only", po::bool_switch(&options.text.weights_only),
      "leaves out optimiser state and rows of nothing but zeros")(
      "dictionary", po::value(&options.dictionary)->value_name("FILE"),
      "lines 'key TAB name', instead of the names saved with the model")(
      "telling", po::value(&telling)->value_name("N"),
      "only the N features that speak most for the positive class, and the N most against it");
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  const auto files = posix_file_system();
  if (telling == 0) {
    const auto done = export_model(*files, options, std::cout);
    return done ? exit_done : report(done.failure());
  }
  std::ostringstream text;
  const auto done =
      print_telling_features(*files, options.model, options.dictionary, telling, text);
  if (!done) return report(as_bad_input(done.failure()));
  if (options.output.empty()) {
    std::cout << text.str();
    return exit_done;
  }
  const auto written = write_text_atomically(*files, options.output, text.str());
  return written ? exit_done : report(written.failure());
}

int import_command(const std::vector<std::string>& arguments) {
  command_line line("import FILE --model DIR [--format text|npz|liblinear]",
                    "Makes a model's folder of a file that 'troupe export' or liblinear's train "
                    "wrote. Values and optimiser state are bit by bit those of the file.");
  import_options options;
  line.options().add_options()("model", po::value(&options.model)->required()->value_name("DIR"),
                               "the model's folder; an older model there is replaced")(
      "format", po::value(&options.format), "text, npz or liblinear; else the content tells");
  line.positional("file", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("file"))
    return report({errc::bad_usage, "import needs a file; see 'troupe import --help'"});
  options.input = values["file"].as<std::vector<std::string>>().front();
  const auto done = import_model(*posix_file_system(), options, std::cout);
  return done ? exit_done : report(done.failure());
}

int inspect_command(const std::vector<std::string>& arguments) {
  command_line line("inspect DIR [options]",
                    "Says what a saved model is: its loss, its labels, how it reads data, norms "
                    "and non-zeros of its tables, its metrics, and its largest weights, by name "
                    "where a dictionary has one. Every checksum is verified on the way.");
  std::string dictionary;
  std::size_t largest = 0;
  line.options().add_options()("largest", po::value(&largest)->default_value(10)->value_name("N"),
                               "the number of weights of each sign that are shown")(
      "dictionary", po::value(&dictionary)->value_name("FILE"),
      "lines 'key TAB name', instead of the names saved with the model");
  line.positional("model", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("model"))
    return report({errc::bad_usage, "inspect needs a model's folder; see 'troupe inspect --help'"});
  const auto done =
      inspect_model(*posix_file_system(), values["model"].as<std::vector<std::string>>().front(),
                    dictionary, largest, std::cout);
  return done ? exit_done : report(as_bad_input(done.failure()));
}

}  // namespace troupe
