#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "core/log.hpp"

int main(int argc, char** argv) {
  // What nodes log of faults that are meant says nothing here.
  troupe::log_settings quiet;
  quiet.level = troupe::log_level::off;
  if (!troupe::configure_log(quiet)) return 1;
  return doctest::Context(argc, argv).run();
}
