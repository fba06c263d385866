#pragma once
// Transcendental functions that give the same bits on every x86-64 machine. The C library chooses
// its own implementation by processor (with or without fused multiply-add), so its results may
// differ in the last bit. Error at most 1 ulp (SLEEF, SSE2 variants).

#include <cstddef>

namespace troupe::math {

double exp(double x);
double log(double x);
double log1p(double x);  // log(1 + x), exact for small x
double pow(double base, double exponent);

// 1 / (1 + exp(-x)) and log(1 + exp(x)), without overflow at either end.
double sigmoid(double x);
double softplus(double x);
// The same bits as sigmoid() of each, two at a time.
void sigmoid_all(const double* x, std::size_t count, double* out);

}  // namespace troupe::math
