#include "actors/scheduler/view_planning.hpp"

#include <algorithm>

namespace troupe {
namespace {

std::vector<std::uint32_t> indices_of(const std::vector<member>& servers) {
  std::vector<std::uint32_t> all;
  for (const auto& s : servers) all.push_back(s.server);
  return all;
}

// The servers from the one behind `home` on, round the circle of their numbers.
std::vector<std::uint32_t> circle_behind(const std::vector<std::uint32_t>& servers,
                                         std::uint32_t home) {
  auto all = servers;
  const auto first = std::upper_bound(all.begin(), all.end(), home);
  std::rotate(all.begin(), first, all.end());
  all.erase(std::remove(all.begin(), all.end(), home), all.end());
  return all;
}

shard_entry fresh(std::uint32_t number, std::uint64_t view_number, std::uint32_t home,
                  const std::vector<std::uint32_t>& servers, std::uint32_t copies) {
  shard_entry e;
  e.number = e.parent = number;
  e.born = e.epoch = view_number;
  e.home = home;
  e.chain = {home};
  for (const auto server : circle_behind(servers, home))
    if (e.chain.size() <= copies) e.chain.push_back(server);
  return e;
}

// Sets each segment's shard; neighbours of one shard stay apart, as their cut is.
std::vector<segment> cut_at(const std::vector<segment>& segments,
                            const std::vector<closed_range>& ranges, std::uint32_t of,
                            std::uint32_t into) {
  std::vector<segment> out;
  for (const auto& s : segments) {
    if (s.shard != of) {
      out.push_back(s);
      continue;
    }
    position next = s.range.first;
    bool whole = false;
    for (const auto& r : ranges) {
      const auto first = std::max(r.first, s.range.first), last = std::min(r.last, s.range.last);
      if (first > last) continue;
      if (next < first) out.push_back({{next, first - 1}, of});
      out.push_back({{first, last}, into});
      whole = last == s.range.last;
      if (whole) break;
      next = last + 1;
    }
    if (!whole) out.push_back({{next, s.range.last}, of});
  }
  return out;
}

class planner {
 public:
  planner(const view& present, std::uint64_t number, const cluster_facts& facts)
      : present_(present), number_(number), facts_(facts) {
    for (const auto& s : facts.servers) {
      members_.push_back(s.who);
      if (!s.draining) usable_.push_back(s.who.server);
    }
    // Where everybody drains, nobody may.
    if (usable_.empty()) usable_ = indices_of(members_);
    for (const auto& e : present.shards())
      for (const auto& s : facts.servers)
        load_[s.who.server] += e.involves(s.who.server) && alive(s.who.server) ? 1 : 0;
  }

  next_view plan() {
    next_view out;
    bool changed = members_.size() != present_.members().size();
    for (const auto& m : members_) changed |= !present_.has_member(m.server, m.incarnation);
    auto shards = present_.shards();
    for (auto& e : shards) {
      const auto before = e;
      if (!step(e)) {
        out.lost.push_back(e.number);
        e.joining.reset();
        e.quiet = false;
        e.chain = {least_loaded(e).value_or(members_.front().server)};
        ++load_[e.primary()];
        e.restoring = true;
        e.epoch = number_;
        changed = true;
        continue;
      }
      if (e.chain == before.chain && e.joining == before.joining && e.quiet == before.quiet)
        continue;
      e.epoch = number_;
      e.restoring = false;
      changed = true;
    }
    if (changed) out.changed = view(number_, members_, std::move(shards), present_.segments());
    return out;
  }

 private:
  // There, and still the one that the view means.
  bool alive(std::uint32_t server) const {
    return std::any_of(members_.begin(), members_.end(), [&](const member& m) {
      return m.server == server && present_.has_member(m.server, m.incarnation);
    });
  }
  // Whether all who stay have installed the present view.
  bool all_shown(const shard_entry& e) const {
    return std::all_of(facts_.servers.begin(), facts_.servers.end(), [&](const known_server& s) {
      return s.shown || s.draining || !e.holds(s.who.server);
    });
  }
  bool usable(std::uint32_t server) const {
    return std::find(usable_.begin(), usable_.end(), server) != usable_.end();
  }

  bool step(shard_entry& e) {
    const auto key = std::pair(e.number, e.epoch);
    const auto gone = [&](std::uint32_t server) {
      return !alive(server) || facts_.failed.count({key, server}) > 0;
    };
    e.chain.erase(std::remove_if(e.chain.begin(), e.chain.end(), gone), e.chain.end());
    if (e.chain.empty()) return false;
    if (e.joining && gone(*e.joining)) e.joining.reset();
    if (e.joining && facts_.filled.count(key)) {
      e.chain.push_back(*e.joining);
      e.joining.reset();
    }
    const auto wanted = std::min<std::size_t>(facts_.copies + 1, usable_.size());
    const auto staying = static_cast<std::size_t>(
        std::count_if(e.chain.begin(), e.chain.end(), [&](std::uint32_t s) { return usable(s); }));

    // Who is to lead it.
    std::optional<std::uint32_t> leader;
    if (const auto t = facts_.targets.find(e.number);
        t != facts_.targets.end() && usable(t->second))
      leader = t->second;
    else if (usable(e.home))
      leader = e.home;
    e.quiet = false;
    if (leader && e.holds(*leader) && e.primary() != *leader) {
      if (facts_.still.count(key)) {
        e.chain.erase(std::find(e.chain.begin(), e.chain.end(), *leader));
        e.chain.insert(e.chain.begin(), *leader);
      } else {
        e.quiet = true;
        return true;  // one thing at a time
      }
    }
    // Who drains may be the last that lives, without anybody knowing yet: where fewer copies will
    // be left than are wanted of old, those must first have shown that they live and have
    // everything. A primary without copies has its leave to answer from the scheduler: who follows
    // it must first have been its copy, so that it has given that leave itself and can wait for its
    // end.
    const bool leaves = staying >= wanted && staying < e.chain.size();
    if (leaves && staying < std::max(facts_.copies + 1, 2u) &&
        !(facts_.still.count(key) && all_shown(e))) {
      e.quiet = true;
      return true;
    }
    if (staying >= wanted) {
      e.chain.erase(std::remove_if(e.chain.begin(), e.chain.end(),
                                   [&](std::uint32_t s) { return !usable(s); }),
                    e.chain.end());
      // The one that is to lead may still be on its way to the front.
      while (e.chain.size() > wanted) e.chain.pop_back();
    }
    if (e.joining) return true;
    if (leader && facts_.targets.count(e.number) && !e.holds(*leader))
      join(e, *leader);
    else if (staying < wanted)
      if (const auto found = least_loaded(e)) join(e, *found);
    return true;
  }

  void join(shard_entry& e, std::uint32_t server) {
    e.joining = server;
    ++load_[server];
  }

  std::optional<std::uint32_t> least_loaded(const shard_entry& e) const {
    std::optional<std::uint32_t> best;
    auto candidates = circle_behind(usable_, e.home);
    if (usable(e.home)) candidates.insert(candidates.begin(), e.home);  // it has come back
    for (const auto server : candidates) {
      if (e.involves(server)) continue;
      if (server == e.home) return server;
      if (!best || load_.at(server) < load_.at(*best)) best = server;
    }
    return best;
  }

  const view& present_;
  const std::uint64_t number_;
  const cluster_facts& facts_;
  std::vector<member> members_;
  std::vector<std::uint32_t> usable_;
  std::map<std::uint32_t, std::size_t> load_;  // shards it has to do with
};

}  // namespace

view first_view(std::uint64_t number, const std::vector<member>& servers,
                std::uint32_t virtual_nodes, std::uint32_t copies, std::uint32_t first_shard) {
  const auto indices = indices_of(servers);
  std::vector<shard_entry> shards;
  std::map<std::uint32_t, std::uint32_t> shard_of;
  for (const auto server : indices) {
    const auto shard = first_shard + static_cast<std::uint32_t>(shards.size());
    shard_of[server] = shard;
    shards.push_back(fresh(shard, number, server, indices, copies));
  }
  std::vector<segment> segments;
  for (const auto& a : make_ring(indices, virtual_nodes))
    segments.push_back({a.range, shard_of.at(a.server)});
  return view(number, servers, std::move(shards), std::move(segments));
}

view dealt_view(std::uint64_t number, const std::vector<member>& servers,
                std::uint32_t virtual_nodes, std::uint32_t copies, std::uint32_t first_shard,
                const std::vector<std::vector<closed_range>>& ranges,
                std::vector<std::size_t>& parts) {
  const auto indices = indices_of(servers);
  struct piece {
    closed_range range;
    std::size_t part;
    std::uint32_t server;
  };
  std::vector<piece> pieces;
  const auto ring = make_ring(indices, virtual_nodes);
  for (std::size_t part = 0; part < ranges.size(); ++part)
    for (const auto& r : ranges[part])
      for (const auto& a : ring) {
        const auto first = std::max(r.first, a.range.first), last = std::min(r.last, a.range.last);
        if (first <= last) pieces.push_back({{first, last}, part, a.server});
      }
  std::sort(pieces.begin(), pieces.end(),
            [](const piece& a, const piece& b) { return a.range.first < b.range.first; });
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> shard_of;
  for (const auto& p : pieces) shard_of[{p.part, p.server}];
  std::vector<shard_entry> shards;
  parts.clear();
  for (auto& [key, shard] : shard_of) {
    shard = first_shard + static_cast<std::uint32_t>(shards.size());
    shards.push_back(fresh(shard, number, key.second, indices, copies));
    parts.push_back(key.first);
  }
  std::vector<segment> segments;
  for (const auto& p : pieces) segments.push_back({p.range, shard_of.at({p.part, p.server})});
  return view(number, servers, std::move(shards), std::move(segments));
}

next_view plan_view(const view& present, std::uint64_t number, const cluster_facts& facts) {
  return planner(present, number, facts).plan();
}

view split_for(const view& present, std::uint64_t number, std::uint32_t server,
               std::uint32_t virtual_nodes, std::uint32_t next_shard,
               std::vector<std::uint32_t>& made) {
  std::set<std::uint32_t> homes{server};
  for (const auto& e : present.shards()) homes.insert(e.home);
  const std::vector<std::uint32_t> all(homes.begin(), homes.end());
  std::vector<closed_range> ours;
  for (const auto& a : make_ring(all, virtual_nodes))
    if (a.server == server) ours.push_back(a.range);
  auto shards = present.shards();
  auto segments = present.segments();
  for (const auto& e : present.shards()) {
    if (e.home == server) continue;
    auto cut = cut_at(segments, ours, e.number, next_shard);
    const auto of = [&](std::uint32_t shard) {
      return std::any_of(cut.begin(), cut.end(),
                         [shard](const segment& s) { return s.shard == shard; });
    };
    if (!of(next_shard) || !of(e.number)) continue;
    segments = std::move(cut);
    auto part = e;
    part.number = next_shard;
    part.parent = e.number;
    part.born = part.epoch = number;
    part.home = server;
    for (auto& parent : shards)
      if (parent.number == e.number) parent.epoch = number;
    shards.push_back(std::move(part));
    made.push_back(next_shard++);
  }
  return view(number, present.members(), std::move(shards), std::move(segments));
}

view split_in_half(const view& present, std::uint64_t number, std::uint32_t shard,
                   std::uint32_t made) {
  std::vector<closed_range> upper;
  for (const auto& r : present.ranges_of(shard))
    if (r.extent() > 0) upper.push_back({r.first + r.extent() / 2 + 1, r.last});
  auto shards = present.shards();
  for (auto& e : shards)
    if (e.number == shard) {
      e.epoch = number;
      auto part = e;
      part.number = made;
      part.parent = shard;
      part.born = number;
      shards.push_back(std::move(part));
      break;
    }
  return view(number, present.members(), std::move(shards),
              cut_at(present.segments(), upper, shard, made));
}

rebalancing plan_rebalancing(const view& present, const std::vector<known_server>& servers,
                             const std::map<std::uint32_t, std::uint64_t>& load) {
  rebalancing plan;
  std::map<std::uint32_t, std::uint64_t> of_server;
  std::map<std::uint32_t, std::uint32_t> leader;
  for (const auto& s : servers)
    if (!s.draining) of_server[s.who.server] = 0;
  if (of_server.size() < 2) return plan;
  std::uint64_t all = 0;
  for (const auto& e : present.shards()) {
    leader[e.number] = e.primary();
    const auto found = load.find(e.number);
    const auto its = found == load.end() ? 0 : found->second;
    if (of_server.count(e.primary())) of_server[e.primary()] += its;
    all += its;
  }
  const auto fair = all / of_server.size();
  const auto hotter = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto hot = std::max_element(of_server.begin(), of_server.end(), hotter)->first;
  if (of_server[hot] <= fair + fair / 5) return plan;  // even enough
  // The hot server's shards, the largest that fits first, to whoever has the least.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> own;
  for (const auto& [shard, server] : leader)
    if (server == hot) own.emplace_back(load.count(shard) ? load.at(shard) : 0, shard);
  std::sort(own.rbegin(), own.rend());
  for (const auto& [its, shard] : own) {
    const auto cold = std::min_element(of_server.begin(), of_server.end(), hotter)->first;
    if (its == 0 || of_server[cold] + its >= of_server[hot]) continue;
    plan.targets[shard] = cold;
    of_server[hot] -= its;
    of_server[cold] += its;
  }
  if (plan.targets.empty() && !own.empty()) plan.split = own.front().second;
  return plan;
}

}  // namespace troupe
