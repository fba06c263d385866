#pragma once
// Small text matters shared by configuration, readers and reports.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Edit distance in which a swap of two neighbours counts once (optimal string alignment), and the
// candidate nearest to `word` if it is near enough to be a likely typing error (at most a third of
// the word's letters, at least one), else empty.
std::size_t edit_distance(std::string_view a, std::string_view b);
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "1.5 MB", "820 B"; "12,345"; "1.2 s", "350 ms", "2 min 5 s".
std::string human_bytes(double bytes);
std::string human_count(std::uint64_t count);
std::string human_seconds(double seconds);

}  // namespace troupe
