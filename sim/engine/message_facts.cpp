#include "sim/engine/message_facts.hpp"

#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/type_nr.hpp>

#include "messages/registration.hpp"

namespace troupe::sim {
namespace {

std::uint64_t size_of(const blob& b) {
  return b.size();
}
std::uint64_t size_of(const google::protobuf::Message& m) {
  return m.ByteSizeLong();
}

constexpr std::uint64_t length_bytes = 4, word_bytes = 8;

}  // namespace

message_facts::message_facts(recorder& names) : names_(names) {
  for_each_message_type([this](const auto& example, const char* name) {
    using type = std::decay_t<decltype(example)>;
    size_of_[typeid(type)] = [](const void* x) { return size_of(*static_cast<const type*>(x)); };
    const std::string full = name;  // "troupe.PushReply"
    by_type_[typeid(type)] = names_.kind("reply " + full.substr(full.find('.') + 1));
  });
}

message_kind message_facts::kind(const caf::type_erased_tuple& content) {
  if (content.empty()) return names_.kind("empty");
  const auto type = content.type(0);
  if (type.first == caf::type_nr<caf::atom_value>::value) {
    const auto atom = content.get_as<caf::atom_value>(0);
    const auto [found, fresh] = by_atom_.emplace(static_cast<std::uint64_t>(atom), 0);
    if (fresh) found->second = names_.kind(caf::to_string(atom));
    return found->second;
  }
  if (type.second != nullptr)
    if (const auto found = by_type_.find(*type.second); found != by_type_.end())
      return found->second;
  return names_.kind(type.first == caf::type_nr<caf::error>::value ? "reply error" : "other");
}

std::uint64_t message_facts::bytes(const caf::type_erased_tuple& content) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto type = content.type(i);
    const auto found = type.second == nullptr ? size_of_.end() : size_of_.find(*type.second);
    sum += found == size_of_.end() ? word_bytes : length_bytes + found->second(content.get(i));
  }
  return sum;
}

}  // namespace troupe::sim
