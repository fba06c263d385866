#include "core/math.hpp"

#include <emmintrin.h>
#include <sleef.h>

namespace troupe::math {

// The two-lane functions of a named instruction set: SLEEF's scalar ones dispatch by processor.
double exp(double x) {
  return _mm_cvtsd_f64(Sleef_expd2_u10sse2(_mm_set1_pd(x)));
}
double log(double x) {
  return _mm_cvtsd_f64(Sleef_logd2_u10sse2(_mm_set1_pd(x)));
}
double log1p(double x) {
  return _mm_cvtsd_f64(Sleef_log1pd2_u10sse2(_mm_set1_pd(x)));
}
double pow(double base, double exponent) {
  return _mm_cvtsd_f64(Sleef_powd2_u10sse2(_mm_set1_pd(base), _mm_set1_pd(exponent)));
}

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + exp(-x));
  const double e = exp(x);
  return e / (1 + e);
}

double softplus(double x) {
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

}  // namespace troupe::math
