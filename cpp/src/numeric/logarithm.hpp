// Logarithms that are the same on every platform, whereas those of libm differ by an ulp. They use
// only +, -, x and /, on unevaluated sums of two doubles.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "numeric/double_double.hpp"

namespace exactk {

inline constexpr Pair kLog2 = {std::numbers::ln2, 0x1.abc9e3b39803fp-56};  // natural

// The coefficients 1, 1/3, 1/5, ... of the atanh series. With s^2 < 0.0295 the first omitted term
// is below 2^-120.
inline constexpr auto kInverseOdd = [] {
  std::array<Pair, 24> inverse{};
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[i] = divide({1, 0}, {static_cast<double>(2 * i + 1), 0});
  }
  return inverse;
}();

// The base-2 logarithm of a positive normal double x = m 2^e with m in [sqrt(1/2), sqrt(2)), by
// log(m) = 2 atanh((m - 1) / (m + 1)).
[[nodiscard]] constexpr Pair log2_of(double x) noexcept {
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  constexpr Pair kTwoOverLog2 = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};  // 2 / ln 2
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52U) - 1023;
  auto mantissa = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52U));
  if (mantissa >= std::numbers::sqrt2) {
    mantissa /= 2;
    ++exponent;
  }
  const Pair s = divide({mantissa - 1, 0}, two_sum(mantissa, 1));
  const Pair square = multiply(s, s);
  // The terms after the first 11 sum to less than 2^-108, so a double holds enough of their digits.
  constexpr std::size_t kPairs = 11;
  double rest = 0;
  for (std::size_t i = kInverseOdd.size(); i-- > kPairs;) {
    rest = rest * square.high + kInverseOdd[i].high;
  }
  Pair series{rest, 0};
  for (std::size_t i = kPairs; i-- > 0;) {
    series = add(multiply(series, square), kInverseOdd[i]);
  }
  const Pair logarithm = multiply(multiply(s, series), kTwoOverLog2);
  return add({static_cast<double>(exponent), 0}, logarithm);
}

// Returns the natural logarithm, rounded once from about 100 bits.
[[nodiscard]] constexpr double natural_log(double x) noexcept {
  return multiply(log2_of(x), kLog2).high;
}

}  // namespace exactk
