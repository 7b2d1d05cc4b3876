// libm's log2 differs by an ulp between platforms, and 1/log2(x) rounds twice. Here the logarithm
// is an unevaluated sum of two doubles ("double-double", about 106 bits), built of +, -, x and /
// alone, and is rounded once at the end.

#include "discounts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
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
constexpr Pair log2_of(Count n) noexcept {
  constexpr Pair kTwoOverLog2 = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};  // 2 / ln 2
  auto exponent = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
  double mantissa = static_cast<double>(n) / static_cast<double>(std::uint64_t{1} << exponent);
  if (mantissa >= std::numbers::sqrt2) {
    mantissa /= 2;
    ++exponent;
  }
  const Pair s = divide({mantissa - 1, 0}, two_sum(mantissa, 1));
  const Pair square = multiply(s, s);
  // What follows the first 11 terms is so small that a double holds enough of it: below 2^-108.
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

constexpr double computed(Discount kind, Count rank) noexcept {
  if (kind == Discount::log2) return divide({1, 0}, log2_of(rank + 1)).high;
  return rank <= 2 ? 1.0 : divide({1, 0}, log2_of(rank)).high;
}

// 1/log2(n) for the n of one part of the first thousand, which the compiler has computed.
constexpr std::size_t kPart = 256;  // what compilers are willing to compute at a time
template <std::size_t Part>
constexpr auto kInverseLog2 = [] {
  std::array<double, kPart> inverse{};
  for (std::size_t i = 0; i < kPart; ++i) {
    const auto n = static_cast<Count>(Part * kPart + i);
    inverse[i] = n < 2 ? 1 : computed(Discount::log2, n - 1);
  }
  return inverse;
}();
constexpr std::array kParts = {&kInverseLog2<0>, &kInverseLog2<1>, &kInverseLog2<2>,
                               &kInverseLog2<3>};

// A table deeper than this costs more than the few hits below it.
constexpr Count kMaxRanks = Count{1} << 14U;

}  // namespace

double discount(Discount kind, Count rank) noexcept {
  const auto n = static_cast<std::size_t>(kind == Discount::log2 ? rank + 1 : rank);
  if (n < kParts.size() * kPart) return (*kParts[n / kPart])[n % kPart];
  return computed(kind, rank);
}

DiscountTable::DiscountTable(Discount kind, Count places, Count ranks, const Checkpoint& checkpoint)
    : kind_(kind) {
  const auto depth = static_cast<std::size_t>(std::max(places, std::min(ranks, kMaxRanks)));
  discounts_.reserve(depth);
  sums_.reserve(depth + 1);
  sums_.push_back(0);
  for (std::size_t i = 0; i < depth; ++i) {
    if (i % 4096 == 4095) checkpoint();
    discounts_.push_back(discount(kind, static_cast<Count>(i) + 1));
    sums_.push_back(sums_.back() + discounts_.back());
  }
}

}  // namespace metrik
