// Sums and products of doubles without rounding: a result is the unevaluated sum of two doubles.
// Nothing but +, - and x, so that it is the same on every platform.
#pragma once

namespace metrik {

struct Pair {  // high + low, |low| <= ulp(high) / 2
  double high = 0;
  double low = 0;
};

constexpr Pair quick_two_sum(double a, double b) noexcept {  // |a| >= |b|
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

constexpr Pair two_sum(double a, double b) noexcept {  // Knuth
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// Dekker. Exact for factors below 2^996 and a product that is 0 or above 2^-969.
constexpr Pair two_product(double a, double b) noexcept {
  constexpr double kSplitter = 134217729;  // 2^27 + 1
  const auto split = [](double x) {
    const double scaled = kSplitter * x;
    const double high = scaled - (scaled - x);
    return Pair{high, x - high};
  };
  const double product = a * b;
  const Pair x = split(a);
  const Pair y = split(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

}  // namespace metrik
