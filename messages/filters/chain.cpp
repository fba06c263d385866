#include "messages/filters/chain.hpp"

#include <algorithm>
#include <set>

#include "core/finite.hpp"
#include "core/text.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

const auto& specs_of(const pb::TableSpec& table, direction way) {
  return way == direction::push ? table.push_filters() : table.pull_filters();
}

filter_place place_of(const pb::TableSpec& table, direction way, content_memories* memories) {
  filter_place place;
  if (table.by_range()) place.keys = partitioning::by_range({table.first_key(), table.last_key()});
  place.doubles = table.value_type() == "f64";
  place.memories = memories;
  place.pulled = way == direction::pull;
  if (way == direction::push) {
    place.period = std::max(1u, table.pushes());
    place.numbers = table.width() * place.period;
    place.plain = 1;
  } else {
    place.numbers = place.period = table.width() * (1 + table.shows());
    place.plain = table.width();
  }
  return place;
}

void count(byte_counts& counts, std::size_t place, const payload& message, std::size_t notes) {
  if (counts.size() <= place) counts.resize(place + 1);
  counts[place] += message.keys.size() + message.values.size() + notes;
}

}  // namespace

result<void> check_filters(const pb::TableSpec& table) {
  for (const auto way : {direction::push, direction::pull}) {
    const std::string where = "table '" + table.name() + "', filters of " +
                              (way == direction::push ? "pushes" : "pulls") + ": ";
    bool lossless = false, hidden = false;
    std::string shortens;
    std::set<std::string> names;
    for (const auto& spec : specs_of(table, way)) {
      const auto entry = filter_registry::global().find(spec.name());
      if (!entry) return error{errc::bad_config, where + entry.failure().text};
      if (const auto numbers = numbers_of(spec, *entry); !numbers)
        return error{errc::bad_config, where + numbers.failure().text};
      if (entry->make_value && lossless)
        return error{errc::bad_config, where + "'" + spec.name() +
                                           "' loses something, and must stand before those that "
                                           "only encode"};
      // Twice the same would, of a cache, send a hash of what has never been sent.
      if (!names.insert(spec.name()).second)
        return error{errc::bad_config, where + "'" + spec.name() + "' is there twice"};
      if (entry->make_value && entry->make_transmission) {
        // The second would take the bytes of the first for numbers.
        if (!shortens.empty())
          return error{errc::bad_config, where + "'" + shortens + "' and '" + spec.name() +
                                             "' both send numbers in fewer bits, and only one can"};
        shortens = spec.name();
      }
      const bool drops = entry->make_value && !entry->make_transmission;
      if (drops && way == direction::pull)
        return error{errc::bad_config,
                     where + "'" + spec.name() + "' leaves rows out, and a pull wants all"};
      if (entry->reads_keys && hidden)
        return error{errc::bad_config, where + "'" + spec.name() +
                                           "' must stand before filters that make fewer bytes of "
                                           "the keys"};
      lossless = lossless || !entry->make_value;
      hidden = hidden || entry->hides_keys;
    }
  }
  return {};
}

bool keeps_residues(const pb::JobPlan& plan) {
  for (const auto& table : plan.tables())
    for (const auto& spec : table.push_filters())
      if (const auto entry = filter_registry::global().find(spec.name());
          entry && entry->keeps_residue)
        return true;
  return false;
}

value_chain::value_chain(const pb::TableSpec& table, direction way)
    : doubles_(table.value_type() == "f64") {
  for (const auto& spec : specs_of(table, way)) {
    const auto entry = filter_registry::global().find(spec.name());
    if (!entry || !entry->make_value) continue;
    const auto numbers = numbers_of(spec, *entry);
    if (numbers) filters_.push_back(entry->make_value(*numbers, place_of(table, way, nullptr)));
  }
}

void value_chain::apply(payload& rows, const filter_moment& when) {
  for (const auto& filter : filters_) {
    const auto& values = rows.values;
    if (!(doubles_ ? all_finite(values.as<double>()) : all_finite(values.as<float>()))) return;
    filter->apply(rows, when);
  }
}

transmission_chain::transmission_chain(const pb::TableSpec& table, direction way,
                                       content_memories* memories)
    : names_(count_names(table, way)) {
  auto place = place_of(table, way, memories);
  std::uint32_t number = 0;
  for (const auto& spec : specs_of(table, way)) {
    const auto entry = filter_registry::global().find(spec.name());
    if (entry && entry->make_transmission) {
      if (const auto numbers = numbers_of(spec, *entry))
        filters_.push_back({number, entry->make_transmission(*numbers, place)});
      place.packed = place.packed || entry->make_value;
    }
    ++number;
  }
}

std::vector<std::string> count_names(const pb::TableSpec& table, direction way) {
  std::vector<std::string> names{"raw"};
  for (const auto& spec : specs_of(table, way)) {
    const auto entry = filter_registry::global().find(spec.name());
    if (entry && entry->make_transmission) names.push_back(spec.name());
  }
  return names;
}

void transmission_chain::encode(payload& message, pb::Encoding& encoding, byte_counts& counts,
                                bool only_counts) {
  count(counts, 0, message, 0);
  std::size_t place = 0, noted = 0;
  for (const auto& [number, filter] : filters_) {
    std::string notes;
    if (!only_counts && filter->encode(message, notes)) {
      noted += notes.size();
      auto* step = encoding.add_steps();
      step->set_filter(number);
      step->set_notes(std::move(notes));
    }
    count(counts, ++place, message, noted);
  }
}

undone transmission_chain::decode(payload& message, const pb::Encoding& encoding,
                                  byte_counts& counts) {
  std::size_t place = filters_.size(), noted = 0;
  for (const auto& step : encoding.steps()) noted += step.notes().size();
  count(counts, place, message, noted);
  int step = encoding.steps_size();
  while (place > 0) {
    const auto& [number, filter] = filters_[--place];
    if (step > 0 && encoding.steps(step - 1).filter() == number) {
      const auto& notes = encoding.steps(--step).notes();
      noted -= notes.size();
      const auto result = filter->decode(message, notes);
      if (result != undone::done) return result;
    }
    count(counts, place, message, noted);
  }
  return step == 0 ? undone::done : undone::damaged;
}

}  // namespace troupe
