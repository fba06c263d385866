# Writes which commit is being built to ${OUT}, and touches it only when that has changed:
#   cmake -DSOURCE=... -DOUT=... -P write_commit.cmake
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${SOURCE}" describe --always --dirty=+changes --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit "unknown commit")  # a source archive
endif()
set(text "// Written by the build.
#include \"apps/commands/commit.hpp\"

namespace troupe {

const char* build_commit() { return \"${commit}\"; }

}  // namespace troupe
")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
