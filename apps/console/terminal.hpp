#pragma once
// The terminal that a report goes to.

#include <cstddef>
#include <string_view>

namespace troupe::console {

// Whether the descriptor is a terminal that can rewrite a line (TERM is set and not "dumb").
bool is_terminal(int descriptor);
// Columns that a line may fill without wrapping; 79 where the descriptor cannot say.
std::size_t terminal_width(int descriptor);
// Writes all of it; a reader that has gone away is no error of ours, so failures are not reported.
void write_to(int descriptor, std::string_view text);

}  // namespace troupe::console
