// Double-double arithmetic. Sums and products of two doubles are exact, as an unevaluated sum of
// two doubles; arithmetic on such pairs keeps about 106 bits. Uses only +, -, x and /, so the
// results are the same on every platform.
#pragma once

namespace exactk {

struct Pair {  // high + low, |low| <= ulp(high) / 2
  double high = 0;
  double low = 0;
};

constexpr Pair quick_two_sum(double a, double b) noexcept {  // Requires |a| >= |b|.
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

constexpr Pair two_sum(double a, double b) noexcept {  // Knuth
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// Dekker's product. Exact for factors below 2^996 and a product that is 0 or above 2^-969.
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

constexpr Pair add(Pair a, Pair b) noexcept {
  const Pair high = two_sum(a.high, b.high);
  const Pair low = two_sum(a.low, b.low);
  const Pair once = quick_two_sum(high.high, high.low + low.high);
  return quick_two_sum(once.high, once.low + low.low);
}

constexpr Pair multiply(Pair a, Pair b) noexcept {
  const Pair product = two_product(a.high, b.high);
  return quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr Pair divide(Pair a, Pair b) noexcept {  // long division, three digits
  const auto minus = [](Pair x, Pair y) { return add(x, {-y.high, -y.low}); };
  const double first = a.high / b.high;
  Pair rest = minus(a, multiply(b, {first, 0}));
  const double second = rest.high / b.high;
  rest = minus(rest, multiply(b, {second, 0}));
  const double third = rest.high / b.high;
  return add(quick_two_sum(first, second), {third, 0});
}

}  // namespace exactk
