#include "apps/chaos/strike.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/math.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

enum stream : std::uint64_t { of_targets = 101, of_moments };

std::optional<std::uint64_t> number_in(const std::string& text, std::size_t from) {
  std::uint64_t n = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + from, end, n);
  if (fault != std::errc() || stop != end || from == text.size()) return std::nullopt;
  return n;
}

bool begins(const std::string& text, const char* with) {
  return text.rfind(with, 0) == 0;
}

class reader {
 public:
  explicit reader(const config::Scenario& s) : scenario_(s), cast_(cast_of(s)) {}

  // `pick` chooses one of several where the text says any.
  result<nodes_meant> operator()(const std::string& text, random_source& pick) const {
    nodes_meant meant;
    if (begins(text, "primary of ")) {
      const auto key = number_in(text, 11);
      if (!key) return error{errc::bad_config, "'" + text + "': a key is a number"};
      meant.primary_of = *key;
      return meant;
    }
    if (begins(text, "label ")) {
      const auto found = scenario_.cluster().labels().find(text.substr(6));
      if (found == scenario_.cluster().labels().end())
        return error{errc::bad_config,
                     "there is no label '" + text.substr(6) + "' in cluster.labels"};
      for (const auto& word : found->second.nodes()) {
        if (begins(word, "label "))
          return error{errc::bad_config, "a label holds nodes, and no labels"};
        const auto nodes = (*this)(word, pick);
        if (!nodes) return nodes;
        meant.nodes.insert(meant.nodes.end(), nodes->nodes.begin(), nodes->nodes.end());
      }
      return meant;
    }
    const bool any = begins(text, "any");
    const auto of = any ? (text == "any"     ? "*"
                           : text.size() > 4 ? text.substr(4) + " *"
                                             : "")
                        : text;
    for (const auto id : cast_.all()) {
      const auto kind = std::string(id.role == pb::SERVER ? "server" : "worker");
      const bool named = of == to_string(id) || (of == "scheduler" && id.role == pb::SCHEDULER);
      const bool of_kind = id.role != pb::SCHEDULER && of == kind + " *" && !cast_.joins_later(id);
      if (named || of_kind || (of == "*" && !cast_.joins_later(id))) meant.nodes.push_back(id);
    }
    if (meant.nodes.empty())
      return error{errc::bad_config,
                   "'" + text +
                       "' is no node of this cluster: 'server 1', 'worker *', 'any server', "
                       "'scheduler', '*', 'label NAME' or 'primary of KEY'"};
    if (any) meant.nodes = {meant.nodes[pick.below(meant.nodes.size())]};
    return meant;
  }

 private:
  const config::Scenario& scenario_;
  const cast cast_;
};

error at_fault(int i, const char* key, const std::string& text) {
  return {errc::bad_config, format("faults[%d].%s: %s", i + 1, key, text.c_str())};
}

// What a target cannot do, or a fault lacks.
std::optional<error> objection(const config::Scenario& s, int i, const fault_kind_facts& kind,
                               target where) {
  const auto& f = s.faults(i);
  if (!kind.possible[static_cast<std::size_t>(where)])
    return at_fault(i, "kind",
                    format("%s is not possible with --target %s: %s", kind.name, to_string(where),
                           kind.impossible_why));
  if (!f.state().empty() && where != target::in_virtual_time)
    return at_fault(i, "state", "only in virtual time can a fault strike at a state");
  if (where == target::in_one_process && begins(f.node(), "primary of "))
    return at_fault(i, "node",
                    "one process is told beforehand whom to strike, and who is the primary then it "
                    "does not know: name a node");
  const bool shapes = kind.kind == fault_kind::latency || kind.kind == fault_kind::bandwidth ||
                      kind.kind == fault_kind::loss;
  if (where == target::on_processes && shapes && f.peer() != "*")
    return at_fault(i, "peer", "on processes it is all of the node's traffic that is shaped: '*'");
  if ((kind.kind == fault_kind::not_a_number || kind.kind == fault_kind::throws) &&
      (f.every() != 0 || !f.state().empty()))
    return at_fault(i, f.every() != 0 ? "every" : "state",
                    "a slot strikes itself: 'slot' and 'clock' say when");
  if (kind.lasts && kind.kind != fault_kind::kill && f.lasts() == 0 && s.scenario().heal_at() == 0)
    return at_fault(i, "lasts",
                    "say how long it lasts, or when everything heals (scenario.heal_at)");
  if (kind.kind == fault_kind::duplicate_name &&
      (f.node() == "scheduler" || f.node() == "any" || f.node() == "*"))
    return at_fault(i, "node",
                    "a second scheduler cannot begin, since its folder is locked: say which server "
                    "or worker");
  if (kind.kind == fault_kind::drop || kind.kind == fault_kind::delay) {
    static const std::set<std::string> messages{"push",
                                                "pull",
                                                "adopt",
                                                "copy",
                                                "lease",
                                                "reply PushReply",
                                                "reply PullReply",
                                                "reply SlotNumbers",
                                                "reply CopyReply",
                                                "reply LeaseReply"};
    if (messages.count(f.message()) == 0) {
      std::string known;
      for (const auto& m : messages) known += (known.empty() ? "'" : ", '") + m + "'";
      return at_fault(i, "message", "'" + f.message() + "' is none of " + known);
    }
  }
  if (kind.kind == fault_kind::join &&
      !(begins(f.node(), "server ") || begins(f.node(), "worker ")))
    return at_fault(i, "node", "who joins is one server or worker, by its number");
  return std::nullopt;
}

}  // namespace

bool nodes_meant::hold(role_id who) const {
  return std::find(nodes.begin(), nodes.end(), who) != nodes.end();
}

std::vector<role_id> cast::all() const {
  std::vector<role_id> ids{the_scheduler};
  for (std::uint32_t i = 0; i < servers_in_all; ++i) ids.push_back(server_role(i));
  for (std::uint32_t i = 0; i < workers_in_all; ++i) ids.push_back(worker_role(i));
  return ids;
}

bool cast::joins_later(role_id who) const {
  return (who.role == pb::SERVER && who.index >= servers) ||
         (who.role == pb::WORKER && who.index >= workers);
}

cast cast_of(const config::Scenario& s) {
  cast c{s.cluster().servers(), s.cluster().workers(), s.cluster().servers(),
         s.cluster().workers()};
  for (const auto& f : s.faults()) {
    if (f.kind() != "join" || f.node().size() < 8) continue;
    const auto index = number_in(f.node(), 7);
    if (!index || *index > 10'000) continue;
    auto& count = begins(f.node(), "server ") ? c.servers_in_all : c.workers_in_all;
    count = std::max(count, static_cast<std::uint32_t>(*index + 1));
  }
  return c;
}

result<plan> plan_of(const config::Scenario& s, target where) {
  const reader read(s);
  plan p;
  const auto heal = duration(s.scenario().heal_at());
  for (int i = 0; i < s.faults_size(); ++i) {
    const auto& f = s.faults(i);
    const auto& kind = *find_fault_kind(f.kind());  // the loader knows no other
    if (auto why = objection(s, i, kind, where)) return *why;
    // Each fault's chances are its own: leaving one out changes no other.
    random_source moments(seed_of(s.scenario().seed(), of_moments, f.at(), f.every(),
                                  static_cast<std::uint64_t>(kind.kind)));
    auto at = duration(f.at());
    std::uint64_t times = 0;
    do {
      random_source targets(seed_of(s.scenario().seed(), of_targets, f.at(), times,
                                    static_cast<std::uint64_t>(kind.kind)));
      strike one;
      one.kind = kind.kind;
      one.how = f;
      auto nodes = read(f.node(), targets);
      if (!nodes) return at_fault(i, "node", nodes.failure().text);
      one.node = std::move(*nodes);
      auto peers = read(f.peer(), targets);
      if (!peers) return at_fault(i, "peer", peers.failure().text);
      one.peer = std::move(*peers);
      if (!f.passed_by().empty()) {
        auto passer = read(f.passed_by(), targets);
        if (!passer) return at_fault(i, "passed_by", passer.failure().text);
        one.passed_by = std::move(*passer);
      }
      one.at = at;
      one.lasts = duration(f.lasts());
      if (kind.lasts && one.lasts == duration::zero() && kind.kind != fault_kind::kill)
        one.lasts = std::max(heal - at, duration(1));
      if (heal > duration::zero() && at + one.lasts > heal && one.lasts > duration::zero())
        one.lasts = std::max(heal - at, duration(1));
      if (heal == duration::zero() || at < heal) {
        p.healed = std::max(p.healed, at + one.lasts);
        p.strikes.push_back(std::move(one));
      }
      ++times;
      at += duration(static_cast<std::int64_t>(-static_cast<double>(f.every()) *
                                               math::log(1 - moments.unit()))) +
            duration(1);
    } while (f.every() > 0 && at <= duration(f.until()) && times < 10'000);
  }
  p.healed = std::max(p.healed, heal);
  std::stable_sort(p.strikes.begin(), p.strikes.end(),
                   [](const strike& a, const strike& b) { return a.at < b.at; });
  return p;
}

std::vector<std::pair<role_id, role_id>> cuts_of(const strike& s, const std::vector<role_id>& nodes,
                                                 const cast& who) {
  std::vector<std::pair<role_id, role_id>> cuts;
  const auto cut = [&](role_id a, role_id b, bool both_ways) {
    if (a == b) return;
    const std::pair<role_id, role_id> there{a, b}, back{b, a};
    for (const auto& way : {there, back})
      if ((both_ways || way == there) && std::find(cuts.begin(), cuts.end(), way) == cuts.end())
        cuts.push_back(way);
  };
  const auto& shape = s.how.shape();
  if (shape == "one" || shape == "one_way") {
    for (const auto n : nodes)
      for (const auto peer : s.peer.nodes) cut(n, peer, shape == "one");
    return cuts;
  }
  const auto all = who.all();
  const auto bridge = server_role(0);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (shape == "ring") {
        const bool servers = all[i].role == pb::SERVER && all[j].role == pb::SERVER;
        const bool next = j - i == 1 || j - i + 1 == who.servers_in_all;
        if (servers && !next) cut(all[i], all[j], true);
      } else if (i % 2 != j % 2 && !(shape == "bridge" && (all[i] == bridge || all[j] == bridge))) {
        cut(all[i], all[j], true);
      }
    }
  return cuts;
}

std::string describe(const strike& s) {
  std::string text = facts_of(s.kind).name;
  const auto name = [](const nodes_meant& who) {
    if (who.primary_of)
      return format("primary of %llu", static_cast<unsigned long long>(*who.primary_of));
    std::string names;
    for (const auto id : who.nodes) names += (names.empty() ? "" : ", ") + to_string(id);
    return names;
  };
  if (s.kind == fault_kind::partition) {
    text += " (" + s.how.shape() + ")";
    if (s.how.shape() != "one" && s.how.shape() != "one_way") return text;
  }
  if (s.kind == fault_kind::not_a_number || s.kind == fault_kind::throws)
    return text + format(" (slot %u, clock %llu)", s.how.slot(),
                         static_cast<unsigned long long>(s.how.clock()));
  if (s.kind == fault_kind::rebalance) return text;
  text += ": " + name(s.node);
  if (std::string(facts_of(s.kind).takes).find("peer") != std::string::npos)
    text += " and " + (s.how.peer() == "*" ? std::string("all") : name(s.peer));
  if (s.kind == fault_kind::drop || s.kind == fault_kind::delay)
    text += " (" + s.how.message() + ")";
  return text;
}

}  // namespace troupe::chaos
