#pragma once

namespace troupe {

// The commit this was built from, "+changes" behind it where the sources were not those of one.
const char* build_commit();

}  // namespace troupe
