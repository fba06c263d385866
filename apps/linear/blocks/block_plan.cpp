#include "apps/linear/blocks/block_plan.hpp"

#include <algorithm>
#include <map>

#include "core/hash.hpp"
#include "core/wide.hpp"

namespace troupe {
namespace {

struct feature {
  key_id key = 0;
  std::uint32_t field = 0;
  std::uint64_t entries = 0;
};

// Features by key, each once; its field is the smallest that it occurs in.
void put_together(std::vector<feature>& all) {
  std::sort(all.begin(), all.end(), [](const feature& a, const feature& b) {
    return a.key != b.key ? a.key < b.key : a.field < b.field;
  });
  std::size_t kept = 0;
  for (const auto& f : all) {
    if (kept > 0 && all[kept - 1].key == f.key)
      all[kept - 1].entries += f.entries;
    else
      all[kept++] = f;
  }
  all.resize(kept);
}

std::vector<feature> features_of(const block& rows) {
  std::vector<feature> own(rows.keys.size());
  for (std::size_t k = 0; k < own.size(); ++k) own[k] = {rows.keys[k], ~std::uint32_t{0}, 0};
  for (std::size_t e = 0; e < rows.entries(); ++e) {
    auto& f = own[rows.column[e]];
    ++f.entries;
    f.field = std::min(f.field, rows.field.empty() ? 0 : rows.field[e]);
  }
  return own;
}

result<std::vector<feature>> features_of(const dataset& data) {
  std::vector<feature> all;
  std::size_t compact_at = std::size_t{1} << 22;
  for (std::size_t b = 0; b < data.blocks().size(); ++b) {
    const auto rows = data.load_block(b);
    if (!rows) return rows.failure();
    const auto own = features_of(**rows);
    all.insert(all.end(), own.begin(), own.end());
    if (all.size() < compact_at) continue;
    put_together(all);
    compact_at = std::max(compact_at, 2 * all.size());
  }
  put_together(all);
  return all;
}

std::size_t rank_of(const std::vector<feature>& all, key_id key) {
  return static_cast<std::size_t>(
      std::lower_bound(all.begin(), all.end(), key,
                       [](const feature& f, key_id k) { return f.key < k; }) -
      all.begin());
}

// Where runs must be cut so that no row has two features in one: between two neighbours of a row a
// run begins, at the latest with the second. Taking the latest place each time makes the fewest.
result<std::vector<std::size_t>> exclusive_begins(const dataset& data,
                                                  const std::vector<feature>& all) {
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> nearest(all.size(), none);  // the latest feature before it in any row
  std::vector<std::size_t> ranks, row;
  for (std::size_t b = 0; b < data.blocks().size(); ++b) {
    const auto rows = data.load_block(b);
    if (!rows) return rows.failure();
    const auto& r = **rows;
    ranks.clear();
    for (const auto key : r.keys) ranks.push_back(rank_of(all, key));
    for (std::size_t i = 0; i < r.rows(); ++i) {
      row.clear();
      for (auto e = r.row_begin[i]; e < r.row_begin[i + 1]; ++e) row.push_back(ranks[r.column[e]]);
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      for (std::size_t k = 1; k < row.size(); ++k) {
        auto& before = nearest[row[k]];
        before = before == none ? row[k - 1] : std::max(before, row[k - 1]);
      }
    }
  }
  std::vector<std::size_t> begins{0};
  for (std::size_t f = 0; f < all.size(); ++f)
    if (nearest[f] != none && nearest[f] >= begins.back()) begins.push_back(f);
  return begins;
}

std::vector<std::size_t> range_begins(const std::vector<feature>& all, std::uint32_t count) {
  uint128 entries = 0;
  for (const auto& f : all) entries += f.entries;
  std::vector<std::size_t> begins{0};
  uint128 before = 0;
  for (std::size_t f = 0; f < all.size(); ++f) {
    // The run that this feature's first entry belongs to, all entries dealt evenly.
    const auto run = entries > 0 ? static_cast<std::size_t>(before * count / entries) : 0;
    if (run >= begins.size() && f > begins.back()) begins.push_back(f);
    before += all[f].entries;
  }
  return begins;
}

void cut_at(const std::vector<std::size_t>& begins, block_plan& plan) {
  std::uint32_t run = 0;
  for (std::size_t f = 0; f < plan.keys.size(); ++f) {
    if (run + 1 < begins.size() && f >= begins[run + 1]) ++run;
    plan.block[f] = run;
  }
  plan.blocks = static_cast<std::uint32_t>(begins.size());
}

}  // namespace

result<block_cut> block_cut_of(const std::string& word) {
  static const std::map<std::string, block_cut> words{{"auto", block_cut::automatic},
                                                      {"range", block_cut::range},
                                                      {"exclusive", block_cut::exclusive},
                                                      {"group", block_cut::group}};
  if (const auto found = words.find(word); found != words.end()) return found->second;
  return error{errc::bad_config, "solver.by: '" + word + "' is no way to cut features"};
}

std::uint64_t block_plan::digest() const {
  running_hash all;
  all.add(keys.data(), keys.size() * sizeof(key_id));
  all.add(block.data(), block.size() * sizeof(std::uint32_t));
  return all.digest();
}

result<block_plan> plan_blocks(const dataset& rows, const block_plan_settings& settings) {
  const auto all = features_of(rows);
  if (!all) return all.failure();
  block_plan plan;
  for (const auto& f : *all) plan.keys.push_back(f.key);
  plan.block.resize(plan.keys.size());
  if (settings.cut == block_cut::group) {
    if (rows.facts().largest_field == 0)
      return error{
          errc::bad_config,
          "solver.by = \"group\": the training rows do not say which field a feature is of"};
    std::map<std::uint32_t, std::uint32_t> number;
    for (const auto& f : *all) number.emplace(f.field, 0);
    plan.blocks = 0;
    for (auto& [field, n] : number) n = plan.blocks++;
    for (std::size_t i = 0; i < all->size(); ++i) plan.block[i] = number[(*all)[i].field];
    plan.blocks = std::max(1u, plan.blocks);
    return plan;
  }
  if (settings.cut != block_cut::range && settings.count > 1) {
    const auto begins = exclusive_begins(rows, *all);
    if (!begins) return begins.failure();
    if (settings.cut == block_cut::exclusive || begins->size() <= settings.count) {
      cut_at(*begins, plan);
      return plan;
    }
  }
  cut_at(range_begins(*all, settings.count), plan);
  return plan;
}

}  // namespace troupe
