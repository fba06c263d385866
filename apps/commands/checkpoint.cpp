// troupe checkpoint: what checkpoints there are, whether they are whole, and a model of one.

#include <iostream>

#include "actors/scheduler/checkpoint_store.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/model/checkpoint_export.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

using number = std::optional<std::uint64_t>;

result<std::vector<listed_checkpoint>> list(const std::string& folder) {
  auto all = checkpoint_store(posix_file_system(), folder).list();
  if (!all) return all;
  if (all->empty()) return error{errc::bad_usage, "there are no checkpoints in " + folder};
  return all;
}

result<listed_checkpoint> pick(const std::string& folder, number wanted) {
  const auto all = list(folder);
  if (!all) return all.failure();
  if (!wanted) return all->back();
  for (const auto& one : *all)
    if (one.number == *wanted) return one;
  return error{errc::bad_usage, format("there is no checkpoint %llu in %s",
                                       static_cast<unsigned long long>(*wanted), folder.c_str())};
}

int ls(const std::string& folder) {
  const auto all = list(folder);
  if (!all) return report(all.failure());
  std::cout << "number  clock       shards  size        job\n";
  for (const auto& one : *all) {
    std::cout << format("%-6llu  ", static_cast<unsigned long long>(one.number));
    if (!one.manifest) {
      std::cout << "not whole: " << one.fault << '\n';
      continue;
    }
    const auto& m = *one.manifest;
    std::uint64_t bytes = 0;
    for (const auto& f : m.files()) bytes += f.size();
    std::cout << format("%-10llu  %-6d  %-10s  %s%s\n", static_cast<unsigned long long>(m.clock()),
                        m.shards_size(), human_bytes(bytes).c_str(), m.job().c_str(),
                        m.one_cut() ? "" : " (each shard at its own clock)");
  }
  return exit_done;
}

int verify(const std::string& folder, number wanted) {
  const auto all = list(folder);
  if (!all) return report(all.failure());
  bool whole = true, found = false;
  for (const auto& one : *all) {
    if (wanted && one.number != *wanted) continue;
    found = true;
    const auto verdict = verify_checkpoint(*posix_file_system(), one.folder);
    whole &= verdict.ok();
    std::cout << one.folder << ": " << (verdict ? "whole" : verdict.failure().text) << '\n';
  }
  if (!found) return report(pick(folder, wanted).failure());
  return whole ? exit_done : exit_failed;
}

int export_model_of(const std::string& folder, number wanted, const std::string& model) {
  if (model.empty()) return report({errc::bad_usage, "checkpoint export needs --model DIR"});
  const auto one = pick(folder, wanted);
  if (!one) return report(one.failure());
  const auto done = export_checkpoint(*posix_file_system(), one->folder, model);
  if (!done) return report(done.failure());
  std::cout << "checkpoint " << one->number << " is the model in " << model << '\n';
  return exit_done;
}

}  // namespace

int checkpoint_command(const std::vector<std::string>& arguments) {
  command_line line(
      "checkpoint ls|verify|export FOLDER [options] | checkpoint now --manifest FILE",
      "ls: the checkpoints in a folder. verify: reads all of them, or the one that is "
      "named, and says which are whole. export: makes a model of the latest, or of the "
      "one that is named, for 'troupe evaluate', 'predict' and 'export'. now: has a running "
      "cluster take one.");
  std::string manifest;
  std::string model;
  std::uint64_t which = 0;
  line.options().add_options()("number", po::value(&which)->value_name("N"),
                               "the checkpoint with this number")(
      "model", po::value(&model)->value_name("DIR"), "export: the model's folder")(
      "manifest", po::value(&manifest)->value_name("FILE"), "now: the cluster's manifest");
  line.positional("word", 2);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  const auto words = values.count("word") ? values["word"].as<std::vector<std::string>>()
                                          : std::vector<std::string>();
  const auto wanted = values.count("number") ? number(which) : number();
  if (words.size() == 1 && words[0] == "now") return checkpoint_now(manifest);
  if (words.size() == 2) {
    if (words[0] == "ls") return ls(words[1]);
    if (words[0] == "verify") return verify(words[1], wanted);
    if (words[0] == "export") return export_model_of(words[1], wanted, model);
  }
  return report(
      {errc::bad_usage,
       "checkpoint takes ls, verify or export, and a folder, or now; see 'troupe checkpoint "
       "--help'"});
}

}  // namespace troupe
