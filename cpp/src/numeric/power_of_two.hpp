// Powers of two that are the same on every platform, whereas those of libm differ by an ulp. They
// use only +, -, x and /, on unevaluated sums of two doubles.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "numeric/double_double.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {

// 1 / n!, the coefficients of the exponential series.
inline constexpr auto kInverseFactorials = [] {
  std::array<Pair, 27> inverse{};
  inverse[0] = {1, 0};
  for (std::size_t i = 1; i < inverse.size(); ++i) {
    inverse[i] = divide(inverse[i - 1], {static_cast<double>(i), 0});
  }
  return inverse;
}();

// Sums x^n / n! for n < terms. Those from `pairs` on are so small that a double holds enough of
// their digits.
[[nodiscard]] constexpr Pair exponential_series(Pair x, std::size_t terms,
                                                std::size_t pairs) noexcept {
  double rest = 0;
  for (std::size_t i = terms; i-- > pairs;) rest = rest * x.high + kInverseFactorials[i].high;
  Pair series{rest, 0};
  for (std::size_t i = pairs; i-- > 0;) series = add(multiply(series, x), kInverseFactorials[i]);
  return series;
}

// 2^(i / 32).
inline constexpr auto kRootsOf2 = [] {
  std::array<Pair, 32> roots{};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(roots.size());
    roots[i] = exponential_series(multiply({exponent, 0}, kLog2), 27, 27);
  }
  return roots;
}();

// Returns 2^(x + low) for x from 0 to 1, to about 100 bits. |low| <= ulp(x) / 2.
[[nodiscard]] inline Pair power_below_two(double x, double low) noexcept {
  if (x == 0 && low == 0) return {1, 0};
  const double scaled = x * static_cast<double>(kRootsOf2.size());
  const double root = std::floor(scaled);
  // Below 2^-5.5, so that the first term that is left out is below 2^-113, and the first that
  // is but a double below 2^-50.
  const double part = (scaled - root) / static_cast<double>(kRootsOf2.size());
  const Pair rest = multiply(two_sum(part, low), kLog2);
  return multiply(kRootsOf2[static_cast<std::size_t>(root)], exponential_series(rest, 14, 7));
}

// Returns 2^(x + low) for x from 0 to 1023, rounded once from about 100 bits. |low| <= ulp(x) / 2.
[[nodiscard]] inline double power_of_two(double x, double low = 0) noexcept {
  const double whole = std::floor(x);
  return std::ldexp(power_below_two(x - whole, low).high, static_cast<int>(whole));
}

// Returns 2^-(x + low), likewise.
[[nodiscard]] inline double inverse_power_of_two(double x, double low = 0) noexcept {
  const double whole = std::floor(x);
  const Pair inverse = divide({1, 0}, power_below_two(x - whole, low));
  return std::ldexp(inverse.high, -static_cast<int>(whole));
}

}  // namespace exactk
