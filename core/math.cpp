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

void sigmoid_all(const double* x, std::size_t count, double* out) {
  const __m128d sign = _mm_set1_pd(-0.0), one = _mm_set1_pd(1), zero = _mm_setzero_pd();
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const __m128d at = _mm_loadu_pd(x + i);
    const __m128d e = Sleef_expd2_u10sse2(_mm_or_pd(at, sign));  // of -|x|
    const __m128d low = _mm_cmplt_pd(at, zero);
    const __m128d top = _mm_or_pd(_mm_and_pd(low, e), _mm_andnot_pd(low, one));
    _mm_storeu_pd(out + i, _mm_div_pd(top, _mm_add_pd(one, e)));
  }
  if (i < count) out[i] = sigmoid(x[i]);
}

}  // namespace troupe::math
