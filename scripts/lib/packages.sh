# The Debian packages that Troupe is built and tested with, and how a script gets them. Sourced, never run.
#
#   ensure_packages build test     installs what of these groups is missing; says what it does
#   no_install=yes                 set by --no-install: names what is missing and goes on
#
# Each line: group, package, what for.

# Numbers are printed, read and sorted in one way on every machine.
export LC_ALL=C.UTF-8

troupe_packages="
build cmake                        the build is described in CMake
build ninja-build                  the build runs in Ninja
build ccache                       a second build takes seconds
build g++                          the compiler
build pkg-config                   finds xxhash and sleef
build libcaf-dev                   actors: the C++ Actor Framework
build protobuf-compiler            messages and the schema of job files
build libprotobuf-dev              the same, at run time
build libssl-dev                   TLS between nodes, and their certificates
build libboost-program-options-dev the command line
build libspdlog-dev                logs
build libtomlplusplus-dev          job files are TOML
build libxxhash-dev                checksums, hashes of names, the digest of a model
build libzstd-dev                  compresses what travels
build liblz4-dev                   the same, faster and less
build libsleef-dev                 exp and log with the same bits on every processor
build libjs-chart.js               charts on the pages of virtual runs
build libgoogle-perftools-dev      tcmalloc, which a simulation of a thousand nodes needs
build zlib1g-dev                   data files in .gz
build liblzma-dev                  data files in .xz
build libzip-dev                   models as .npz
test  doctest-dev                  the tests' framework
test  librapidcheck-dev            tests of laws on random input
test  liblinear-tools              reads the models that we export
test  xz-utils                     unpacks real data for it
test  iproute2                     networks of the tests' own, to cut
test  openssh-server               nodes that are started by ssh
fuzz  clang                        libFuzzer, which the fuzzers are built with
fuzz  libclang-rt-14-dev           its run time
plot  gnuplot-nox                  draws the plots of experiments
plot  jq                           reads results for them
lint  clang-format                 the layout of code
lint  clang-tidy                   finds what compilers let pass
lint  shellcheck                   the same for scripts
"

say() { printf '== %s\n' "$*"; }

fail() {  # CODE MESSAGE...
  local code=$1
  shift
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit "$code"
}

packages_of() {  # GROUP...
  local group package purpose
  while read -r group package purpose; do
    if [[ -n $group && " $* " == *" $group "* ]]; then printf '%s\n' "$package"; fi
  done <<<"$troupe_packages"
}

purpose_of() {  # PACKAGE
  local group package purpose
  while read -r group package purpose; do
    if [[ $package == "$1" ]]; then printf '%s\n' "$purpose"; fi
  done <<<"$troupe_packages"
}

is_installed() {  # PACKAGE
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# The words that make a command run as root without a question; fails where there are none.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo -n --preserve-env=DEBIAN_FRONTEND "$@"
  else
    return 126
  fi
}

update_package_index() {
  say "updating the package index (apt-get update)"
  as_root apt-get -qq -o Acquire::Retries=3 update
}

ensure_packages() {  # GROUP...
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian system: expecting these to be installed: $(packages_of "$@" | tr '\n' ' ')"
    return
  fi
  while read -r package; do
    is_installed "$package" || missing+=("$package")
  done < <(packages_of "$@")
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi

  say "missing Debian packages:"
  for package in "${missing[@]}"; do printf '   %-29s %s\n' "$package" "$(purpose_of "$package")"; done
  if [[ ${no_install:-no} == yes ]]; then
    say "not installing them (--no-install); what needs them will fail"
    return
  fi
  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  as_root true || fail 2 "installing needs root, and sudo does not work here without a question; run:
  sudo sh -c '$line'"
  export DEBIAN_FRONTEND=noninteractive
  update_package_index || say "the package index could not be updated; trying with the present one"
  say "installing ${#missing[@]} packages"
  as_root apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install -y --no-install-recommends \
    "${missing[@]}" >/dev/null || fail 2 "installing failed; as root, run:
  $line"
}

# Compiling against CAF takes about 1.5 GB a process, so memory limits the jobs as cores do.
build_jobs() {
  local cores kilobytes
  cores=$(nproc)
  kilobytes=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || echo 0)
  awk -v cores="$cores" -v kb="${kilobytes:-0}" \
    'BEGIN {most = int(kb / 1500000); if (most < 1) most = 1; print (most < cores ? most : cores)}'
}

# A first configuration leaves out what the caller has no use for; a folder that somebody configured already
# keeps its options.
configure() {  # PRESET OPTION...
  local preset=$1 log
  shift
  if [[ -f build/$preset/CMakeCache.txt && -f build/$preset/build.ninja && $# -eq 0 ]]; then return; fi
  say "configuring build/$preset"
  log=$(cmake --preset "$preset" "$@" 2>&1) || {
    printf '%s\n' "$log" >&2
    fail 1 "CMake could not configure build/$preset; its last lines say what is missing"
  }
}

# Prints the build's output only when it fails or takes long enough to be watched.
build() {  # PRESET TARGET...
  local preset=$1
  shift
  say "building in build/$preset: ${*:-everything}"
  cmake --build "build/$preset" --parallel "$(build_jobs)" ${@:+--target "$@"} ||
    fail 1 "the build failed; the first error above is the one to look at"
}
