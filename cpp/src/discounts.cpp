// libm's log2 differs by an ulp between platforms, and 1/log2(x) rounds twice. Here the logarithm
// is an unevaluated sum of two doubles ("double-double", about 106 bits), built of +, -, x and /
// alone, and is rounded once at the end.

#include "discounts.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "double_double.hpp"

namespace metrik {
namespace {

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

// 1, 1/3, 1/5, ...: the series of atanh. With s^2 < 0.0295 the first term left out is below 2^-120.
constexpr auto kInverseOdd = [] {
  std::array<Pair, 24> inverse{};
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[i] = divide({1, 0}, {static_cast<double>(2 * i + 1), 0});
  }
  return inverse;
}();

// log2(n) for n >= 1, by log(m) = 2 atanh((m - 1) / (m + 1)), where n = m 2^e and m lies in
// [sqrt(1/2), sqrt(2)).
Pair log2_of(Count n) noexcept {
  constexpr Pair kTwoOverLog2 = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};  // 2 / ln 2
  int exponent = 0;
  double mantissa = 2 * std::frexp(static_cast<double>(n), &exponent);
  --exponent;
  if (mantissa >= std::numbers::sqrt2) {
    mantissa /= 2;
    ++exponent;
  }
  const Pair s = divide({mantissa - 1, 0}, two_sum(mantissa, 1));
  const Pair square = multiply(s, s);
  Pair series;
  for (std::size_t i = kInverseOdd.size(); i-- > 0;) {
    series = add(multiply(series, square), kInverseOdd[i]);
  }
  const Pair logarithm = multiply(multiply(s, series), kTwoOverLog2);
  return add({static_cast<double>(exponent), 0}, logarithm);
}

}  // namespace

double discount(Discount kind, Count rank) noexcept {
  if (kind == Discount::log2) return divide({1, 0}, log2_of(rank + 1)).high;
  return rank <= 2 ? 1.0 : divide({1, 0}, log2_of(rank)).high;
}

DiscountTable::DiscountTable(Discount kind, Count depth) {
  discounts_.reserve(static_cast<std::size_t>(depth));
  sums_.reserve(static_cast<std::size_t>(depth) + 1);
  sums_.push_back(0);
  for (Count rank = 1; rank <= depth; ++rank) {
    discounts_.push_back(discount(kind, rank));
    sums_.push_back(sums_.back() + discounts_.back());
  }
}

}  // namespace metrik
