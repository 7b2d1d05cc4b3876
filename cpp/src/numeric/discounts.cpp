// Computing 1/log2(x) in doubles would round twice. Here the logarithm is a double-double and only
// the quotient is rounded.

#include "numeric/discounts.hpp"

#include <algorithm>
#include <array>

#include "numeric/double_double.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {
namespace {

constexpr double compute_discount(Discount kind, Count rank) noexcept {
  if (kind == Discount::log2) return divide({1, 0}, log2_of(static_cast<double>(rank + 1))).high;
  return rank <= 2 ? 1.0 : divide({1, 0}, log2_of(static_cast<double>(rank))).high;
}

// 1/log2(n) for one part of the first thousand values of n, computed at compile time.
constexpr std::size_t kPartSize = 256;  // the most that compilers evaluate at once
template <std::size_t Part>
constexpr auto kInverseLog2 = [] {
  std::array<double, kPartSize> inverse{};
  for (std::size_t i = 0; i < kPartSize; ++i) {
    const auto n = static_cast<Count>(Part * kPartSize + i);
    inverse[i] = n < 2 ? 1 : compute_discount(Discount::log2, n - 1);
  }
  return inverse;
}();
constexpr std::array kParts = {&kInverseLog2<0>, &kInverseLog2<1>, &kInverseLog2<2>,
                               &kInverseLog2<3>};

// A larger table costs more than computing the discounts of the few hits below it.
constexpr Count kMaxRanks = Count{1} << 14U;

}  // namespace

double discount(Discount kind, Count rank) noexcept {
  const auto n = static_cast<std::size_t>(kind == Discount::log2 ? rank + 1 : rank);
  if (n < kParts.size() * kPartSize) return (*kParts[n / kPartSize])[n % kPartSize];
  return compute_discount(kind, rank);
}

DiscountTable::DiscountTable(Discount kind, Count sum_depth, Count ranks, const Run& run)
    : kind_(kind) {
  const auto depth = static_cast<std::size_t>(std::max(sum_depth, std::min(ranks, kMaxRanks)));
  discounts_.reserve(depth);
  sums_.reserve(depth + 1);
  sums_.push_back(0);
  for (std::size_t i = 0; i < depth; ++i) {
    if (i % 4096 == 4095) run.checkpoint();
    discounts_.push_back(discount(kind, static_cast<Count>(i) + 1));
    sums_.push_back(sums_.back() + discounts_.back());
  }
}

}  // namespace exactk
