#include "actors/server/loading.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "actors/server/row_file.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

const char* name_of(value_type type) {
  return type == value_type::f64 ? "f64" : "f32";
}

result<void> check(const row_file_facts& found, const table& into, const std::string& path,
                   bool with_state) {
  const auto& spec = into.spec();
  if (found.type != spec.type || found.width != spec.width)
    return error{errc::bad_config,
                 format("table '%s': %s has %u values of %s to a key, and this job %u of %s",
                        spec.name.c_str(), path.c_str(), found.width, name_of(found.type),
                        spec.width, name_of(spec.type))};
  if (with_state && found.state_bytes != into.state_bytes())
    return error{
        errc::bad_config,
        format("table '%s': %s has %llu bytes of optimiser state to a row, and the updater "
               "of this job %zu",
               spec.name.c_str(), path.c_str(), static_cast<unsigned long long>(found.state_bytes),
               into.state_bytes())};
  return {};
}

bool owned(const std::vector<closed_range>& segments, position p) {
  const auto after =
      std::upper_bound(segments.begin(), segments.end(), p,
                       [](position x, const closed_range& s) { return x < s.first; });
  return after != segments.begin() && std::prev(after)->contains(p);
}

struct placed {
  position at;
  std::size_t row;
};

// The rows that are ours, at their places in `into`, in order.
result<std::vector<placed>> own_rows(const table_rows& rows, const partitioning& written,
                                     const table& into) {
  std::vector<placed> own;
  for (std::size_t i = 0; i < rows.positions.size(); ++i) {
    const auto key = written.key_at(rows.positions[i]);
    if (!into.spec().keys.contains(key))
      return error{errc::bad_config,
                   format("table '%s' has no place for key %llu: widen its first and last",
                          into.spec().name.c_str(), static_cast<unsigned long long>(key))};
    const auto at = into.spec().keys.position_of(key);
    if (owned(into.segments(), at)) own.push_back({at, i});
  }
  std::sort(own.begin(), own.end(), [](const placed& a, const placed& b) { return a.at < b.at; });
  return own;
}

template <class Bytes>
void gather(const Bytes& from, std::size_t row_bytes, const std::vector<placed>& own, Bytes& into) {
  into.resize(own.size() * row_bytes);
  if (row_bytes == 0) return;
  for (std::size_t i = 0; i < own.size(); ++i)
    std::memcpy(into.data() + i * row_bytes, from.data() + own[i].row * row_bytes, row_bytes);
}

result<std::uint64_t> load_file(file_system& files, const std::string& path,
                                const std::vector<std::shared_ptr<table>>& tables,
                                bool with_state) {
  const auto file = row_file::open(files, path);
  if (!file) return file.failure();
  const auto& facts = file->facts();
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const auto& t) { return t->spec().name == facts.table; });
  if (found == tables.end())
    return error{errc::bad_config,
                 path + " is of table '" + facts.table + "', which this job does not have"};
  auto& into = **found;
  if (auto fits = check(facts, into, path, with_state); !fits) return fits.failure();
  std::uint64_t loaded = 0;
  for (std::size_t b = 0; b < file->blocks(); ++b) {
    const auto rows = file->read(b);
    if (!rows) return rows.failure();
    const auto own = own_rows(*rows, facts.keys, into);
    if (!own) return own.failure();
    table_rows kept;
    for (const auto& one : *own) kept.positions.push_back(one.at);
    gather(rows->values, into.spec().row_bytes(), *own, kept.values);
    if (with_state) gather(rows->state, into.state_bytes(), *own, kept.state);
    const bool state = with_state && into.state_bytes() > 0;
    if (auto done =
            into.put(kept.positions, kept.values.data(), state ? kept.state.data() : nullptr);
        !done)
      return done.failure();
    loaded += kept.positions.size();
  }
  return loaded;
}

}  // namespace

pb::LoadedPart load_part(file_system& files, const std::vector<std::shared_ptr<table>>& tables,
                         const pb::LoadPart& request) {
  pb::LoadedPart loaded;
  if (request.replace())
    for (const auto& t : tables) {
      const auto segments = t->segments();
      for (const auto& s : segments) t->remove_segment(s);
      for (const auto& s : segments) t->add_segment(s);
    }
  for (const auto& name : request.files()) {
    const auto rows = load_file(files, request.folder() + "/" + name, tables, request.with_state());
    if (!rows) {
      loaded.set_code(static_cast<std::int32_t>(rows.failure().code));
      loaded.set_text(rows.failure().text);
      return loaded;
    }
    loaded.set_rows(loaded.rows() + *rows);
  }
  loaded.set_done(true);
  return loaded;
}

}  // namespace troupe
