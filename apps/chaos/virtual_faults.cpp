#include "apps/chaos/virtual_faults.hpp"

#include <algorithm>
#include <cstring>

#include "actors/supervision/landmarks.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe::chaos {
namespace {

using sim::node_number;

// A fault that its budget does not allow now is tried again so often, so far apart.
constexpr int most_tries = 20;
constexpr duration between_tries = std::chrono::milliseconds(5);
// What is over at once counts as in force for so long.
constexpr duration aftermath = std::chrono::milliseconds(20);

instant at_time(duration d) {
  return {d.count()};
}

}  // namespace

virtual_faults::virtual_faults(const plan& p, cast who, virtual_stage& stage, settings s)
    : plan_(p), who_(who), stage_(stage), s_(std::move(s)), random_(seed_of(401, s_.seed)) {
  for (const auto& one : plan_.strikes)
    if (one.how.state().empty() && one.kind != fault_kind::not_a_number &&
        one.kind != fault_kind::throws)
      stage_.sim().at(at_time(one.at), [this, &one] { try_strike(one, 0, std::nullopt); });
  stage_.listen([this](node_number n, const char* which) { on_landmark(n, which); });
}

std::size_t virtual_faults::in_force() const {
  return static_cast<std::size_t>(
      std::count_if(active_.begin(), active_.end(), [](const auto& a) { return !a->over; }));
}

void virtual_faults::on_landmark(node_number n, const char* which) {
  const auto now = stage_.sim().now();
  if (std::strcmp(which, landmark::view_made) == 0) view_made_at_ = now;
  for (std::size_t i = 0; i < plan_.strikes.size(); ++i) {
    const auto& one = plan_.strikes[i];
    if (one.how.state() != which || now < at_time(one.at)) continue;
    const auto meant = numbers_of(one.passed_by ? *one.passed_by : one.node);
    if (std::find(meant.begin(), meant.end(), n) == meant.end()) continue;
    if (++passed_[i] != one.how.occurrence()) continue;
    // Before the turn is over, since it takes time.
    stage_.sim().at(now, [this, &one, n, which] {
      const auto itself = one.passed_by ? std::nullopt : std::optional<node_number>(n);
      if (try_strike(one, most_tries, itself)) ++covered_[{one.kind, which}];
    });
  }
  std::set<fault_kind> kinds;
  for (const auto& a : active_)
    if (!a->over || now < a->until + aftermath) kinds.insert(a->what->kind);
  for (const auto kind : kinds) ++covered_[{kind, which}];
}

std::vector<node_number> virtual_faults::numbers_of(const nodes_meant& meant) const {
  std::vector<node_number> numbers;
  for (const auto id : meant.nodes)
    // A cluster that was restored may be smaller.
    if (const auto n = stage_.cast().number(id); n != sim::nowhere) numbers.push_back(n);
  if (meant.primary_of && stage_.status() && stage_.status()->has_view())
    if (const auto v = view::from_message(stage_.status()->view()); v && !v->empty()) {
      const auto place = partitioning::by_hash().position_of(*meant.primary_of);
      const auto* shard = v->find(v->segment_of(place).shard);
      if (shard != nullptr) numbers.push_back(stage_.cast().number(server_role(shard->primary())));
    }
  return numbers;
}

// ---- The budget.

std::set<node_number> virtual_faults::takes(const strike& s,
                                            const std::vector<node_number>& nodes) const {
  std::set<node_number> taken;
  const auto servers_of = [&](const std::vector<node_number>& some) {
    for (const auto n : some)
      if (is_server(n)) taken.insert(n);
  };
  switch (s.kind) {
    case fault_kind::kill:
    case fault_kind::pause:
    case fault_kind::duplicate_name:
    case fault_kind::skew:
    case fault_kind::slow:
      servers_of(nodes);
      break;
    case fault_kind::latency:
      if (2 * (s.how.latency() + s.how.jitter()) < s_.death_after.count()) break;
      [[fallthrough]];
    case fault_kind::bandwidth:
    case fault_kind::half_open:
    case fault_kind::loss:
    case fault_kind::partition: {
      const auto& shape = s.how.shape();
      if (shape == "halves" || shape == "bridge") {  // those behind the scheduler's back
        for (node_number n = 1; n <= who_.servers_in_all; ++n)
          if (n % 2 == 1 && !(shape == "bridge" && n == bridge)) taken.insert(n);
        break;
      }
      if (shape == "ring") break;  // the scheduler hears everybody: copies are replaced
      servers_of(nodes);
      // Whom the scheduler does not hear it takes for dead.
      if (std::count(nodes.begin(), nodes.end(), node_number{0}) > 0)
        servers_of(numbers_of(s.peer));
      break;
    }
    default:
      break;
  }
  return taken;
}

// Whether each shard keeps a copy that lives, is in reach, and has everything.
bool virtual_faults::affordable(const std::set<node_number>& servers) const {
  if (servers.empty() || s_.may_lose) return true;
  if (shards_move_ && view_may_be_old()) return false;
  const auto& status = stage_.status();
  if (!status || !status->has_view()) return false;
  const auto v = view::from_message(status->view());
  if (!v || v->empty()) return false;
  const auto now = stage_.sim().now();
  const auto is_good = [&](std::uint32_t index) {
    const auto n = stage_.cast().number(server_role(index));
    const auto out = out_until_.find(n);
    return servers.count(n) == 0 && (out == out_until_.end() || out->second < now) &&
           !stage_.sim().down(n) && v->has_member(index, stage_.incarnation(n));
  };
  return std::all_of(v->shards().begin(), v->shards().end(), [&](const shard_entry& e) {
    return std::any_of(e.chain.begin(), e.chain.end(), is_good);
  });
}

void virtual_faults::withhold(const strike& s, const char* why) {
  struck record;
  record.text = describe(s);
  record.kind = s.kind;
  record.from = record.to = duration(stage_.sim().now().ns);
  record.withheld = why;
  faults_.push_back(std::move(record));
}

bool virtual_faults::try_strike(const strike& s, int tries, std::optional<node_number> at_state) {
  auto nodes =
      at_state && !s.node.primary_of ? std::vector<node_number>{*at_state} : numbers_of(s.node);
  if (nodes.empty()) {
    withhold(s, "nobody is known to be meant yet");
    return false;
  }
  if (affordable(takes(s, nodes))) {
    begin(s, std::move(nodes));
    return true;
  }
  if (tries >= most_tries) {
    withhold(s, "it would take the last copy of a shard that is in reach");
    return false;
  }
  s_.on_trouble_until(stage_.sim().now() + between_tries + s.lasts);
  stage_.sim().at(stage_.sim().now() + between_tries,
                  [this, &s, tries] { try_strike(s, tries + 1, std::nullopt); });
  return false;
}

// ---- Beginning and ending.

void virtual_faults::begin(const strike& s, std::vector<node_number> nodes) {
  const auto now = stage_.sim().now();
  auto made = std::make_unique<active>();
  auto& a = *made;
  a.what = &s;
  a.nodes = std::move(nodes);
  a.until = now + s.lasts;
  a.fault = faults_.size();
  struck record;
  record.text = describe(s);
  record.kind = s.kind;
  record.from = duration(now.ns);
  for (const auto n : a.nodes) record.nodes.push_back(name(n));
  const bool for_good = s.kind == fault_kind::kill && s.lasts == duration::zero();
  record.to = for_good ? duration(-1) : duration(a.until.ns);
  faults_.push_back(std::move(record));
  // What has hit a server may have cost it its place, which the view says only later.
  for (const auto n : takes(s, a.nodes))
    out_until_[n] = std::max(out_until_[n], a.until + 3 * s_.death_after);
  shards_move_ |=
      s.kind == fault_kind::drain || s.kind == fault_kind::rebalance || s.kind == fault_kind::join;
  s_.on_trouble_until(a.until);
  active_.push_back(std::move(made));
  carry_out(a);
  if (facts_of(s.kind).lasts && s.lasts > duration::zero())
    stage_.sim().at(a.until, [this, &a] { end(a); });
  else if (!for_good)
    a.over = true;
}

void virtual_faults::on_own_fault(fault_kind kind, std::uint32_t slot, std::uint64_t clock) {
  for (const auto& s : plan_.strikes)
    if (s.kind == kind && s.how.slot() == slot && s.how.clock() == clock) return begin(s, {});
}

void virtual_faults::end(active& a) {
  a.over = true;
  if (a.end) a.end();
  if (a.what->kind == fault_kind::drop || a.what->kind == fault_kind::delay) meddle();
  bool relinked = false;
  for (const auto& c : changes_) relinked |= c.of == &a;
  if (!relinked) return;
  std::vector<std::pair<node_number, node_number>> ways;
  for (const auto& c : changes_)
    if (c.of == &a) ways.emplace_back(c.from, c.to);
  changes_.erase(std::remove_if(changes_.begin(), changes_.end(),
                                [&](const change_of_link& c) { return c.of == &a; }),
                 changes_.end());
  for (const auto& [from, to] : ways) relink(from, to);
}

std::vector<struck> virtual_faults::take_faults(instant end) {
  for (auto& f : faults_)
    if (f.to < duration::zero() || duration(end.ns) < f.to) f.to = duration(end.ns);
  return std::move(faults_);
}

}  // namespace troupe::chaos
