#include "core/result.hpp"

namespace troupe {

const char* to_string(errc code) {
  switch (code) {
    case errc::bad_usage:
      return "bad usage";
    case errc::bad_config:
      return "bad configuration";
    case errc::bad_data:
      return "bad data";
    case errc::bad_request:
      return "bad request";
    case errc::io:
      return "input/output";
    case errc::damaged:
      return "damaged file";
    case errc::timeout:
      return "timeout";
    case errc::stale:
      return "stale";
    case errc::rejected:
      return "rejected";
    case errc::lost:
      return "lost";
    case errc::interrupted:
      return "interrupted";
    case errc::internal:
      return "internal error";
  }
  return "unknown";
}

}  // namespace troupe
