#include "actors/server/table/initialiser.hpp"

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe {

result<void> check(const initialiser_spec& spec) {
  using kind = initialiser_spec::kind;
  if (!std::isfinite(spec.a) || !std::isfinite(spec.b) || std::fabs(spec.a) > 1e30 ||
      std::fabs(spec.b) > 1e30)
    return error{errc::bad_config,
                 format("the initialiser's numbers %g and %g must be within plus and minus 1e30",
                        spec.a, spec.b)};
  if (spec.how == kind::uniform && spec.a > spec.b)
    return error{
        errc::bad_config,
        format("the initialiser's lower end %g lies above its upper end %g", spec.a, spec.b)};
  if (spec.how == kind::normal && spec.b < 0)
    return error{errc::bad_config,
                 format("the initialiser's standard deviation %g is below 0", spec.b)};
  return {};
}

initialiser::initialiser(const initialiser_spec& spec, const std::string& table, std::uint64_t seed)
    : spec_(spec), seed_(seed_of(seed, xxh64(table, 0))) {}

double initialiser::value(key_id key, std::size_t index) const {
  using kind = initialiser_spec::kind;
  switch (spec_.how) {
    case kind::zero:
      return 0;
    case kind::constant:
      return spec_.a;
    case kind::uniform:
      return spec_.a + (spec_.b - spec_.a) * unit_interval(seed_of(seed_, key, index));
    case kind::normal:
      return spec_.a + spec_.b * random_source(seed_of(seed_, key, index)).normal();
  }
  return 0;
}

template <class T>
void initialiser::fill_all(key_id key, T* values, std::size_t width) const {
  using kind = initialiser_spec::kind;
  if (spec_.how == kind::zero || spec_.how == kind::constant) {
    std::fill(values, values + width, static_cast<T>(value(key, 0)));
    return;
  }
  for (std::size_t i = 0; i < width; ++i) values[i] = static_cast<T>(value(key, i));
}

template void initialiser::fill_all(key_id, float*, std::size_t) const;
template void initialiser::fill_all(key_id, double*, std::size_t) const;

}  // namespace troupe
