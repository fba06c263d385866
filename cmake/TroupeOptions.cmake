# The options of the build, and the compiler flags that every target shares.
option(TROUPE_TESTS "Build the tests" ON)
option(TROUPE_BENCH "Build the benchmarks" ON)
option(TROUPE_FUZZ "Build the fuzzers (needs clang)" OFF)
option(TROUPE_WERROR "Treat warnings as errors" ON)
option(TROUPE_REPORT "Build the pages of virtual runs, with the chart library in them" ON)
option(TROUPE_TCMALLOC "Link the executable with tcmalloc: a fifth faster in virtual time" ON)
option(TROUPE_PLANTED_BUGS "For tests alone: compile deliberate bugs of the protocol in (core/planted_bug.hpp)" OFF)
set(TROUPE_SANITIZER "" CACHE STRING "A sanitizer to build with: address, undefined, or empty")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
# -O2 with debug lines; NDEBUG stays off, since assertions state invariants that hold in production too.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache and a precompiled header need these two to agree (ccache manual, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

add_library(troupe_flags INTERFACE)
target_include_directories(troupe_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
# One build gives the same bits on every x86-64 machine: no contraction into fused multiply-adds, no
# fast-math, the baseline instruction set (docs/decisions/0002-determinism.md).
target_compile_options(troupe_flags INTERFACE -ffp-contract=off -fno-fast-math)
target_compile_options(troupe_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wunused -Wnull-dereference $<$<BOOL:${TROUPE_WERROR}>:-Werror>)
# g++ 12 reports null dereferences and uninitialised variants inside the standard library at -O2 that are not there.
target_compile_options(troupe_flags INTERFACE -Wno-null-dereference
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(TROUPE_PLANTED_BUGS)
  target_compile_definitions(troupe_flags INTERFACE TROUPE_PLANTED_BUGS)
endif()
if(TROUPE_FUZZ)
  target_compile_options(troupe_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(troupe_flags INTERFACE -fsanitize=address,undefined)
endif()
if(TROUPE_SANITIZER STREQUAL "address")
  target_compile_options(troupe_flags INTERFACE -fsanitize=address -fno-omit-frame-pointer)
  target_link_options(troupe_flags INTERFACE -fsanitize=address)
elseif(TROUPE_SANITIZER STREQUAL "undefined")
  # -fno-sanitize=null: CAF 0.17 binds a null reference in init_fun_factory.hpp for functions without
  # arguments, harmless and not ours. -fno-sanitize=vptr: Debian's CAF library has no type information to check.
  target_compile_options(troupe_flags INTERFACE -fsanitize=undefined -fno-sanitize=null,vptr
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(troupe_flags INTERFACE -fsanitize=undefined)
elseif(TROUPE_SANITIZER)
  message(FATAL_ERROR "TROUPE_SANITIZER is '${TROUPE_SANITIZER}'; it must be address, undefined or empty")
endif()
