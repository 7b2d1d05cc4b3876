// Computing 1/log2(x) in doubles would round twice. Here the logarithm is a double-double and only
// the quotient is rounded.

#include "numeric/discounts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "numeric/double_double.hpp"
#include "numeric/logarithm.hpp"
#include "numeric/power_of_two.hpp"

namespace exactk {
namespace {

// Returns log(base) / log(number).
constexpr double ratio_of_logs(double base, Count number) noexcept {
  return divide(log2_of(base), log2_of(static_cast<double>(number))).high;
}

// 1/log2(n) for one part of the first thousand values of n, computed at compile time.
constexpr std::size_t kPartSize = 256;  // the most that compilers evaluate at once
template <std::size_t Part>
constexpr auto kInverseLog2 = [] {
  std::array<double, kPartSize> inverse{};
  for (std::size_t i = 0; i < kPartSize; ++i) {
    const auto n = static_cast<Count>(Part * kPartSize + i);
    inverse[i] = n < 2 ? 1 : ratio_of_logs(2, n);
  }
  return inverse;
}();
constexpr std::array kParts = {&kInverseLog2<0>, &kInverseLog2<1>, &kInverseLog2<2>,
                               &kInverseLog2<3>};

// Below 2^-1000, geometric weights are 0.
constexpr double kMostHalvings = 1000;

// A larger table costs more than computing the discounts of the few hits below it.
constexpr Count kMaxRanks = Count{1} << 14U;

// Returns 1/log2(number) for a number from 2.
double inverse_log2(Count number) noexcept {
  const auto n = static_cast<std::size_t>(number);
  if (n < kParts.size() * kPartSize) return (*kParts[n / kPartSize])[n % kPartSize];
  return ratio_of_logs(2, number);
}

}  // namespace

double discount(const DiscountFields& fields, Count rank) noexcept {
  const auto i = static_cast<std::size_t>(rank);
  const auto number = static_cast<double>(rank);
  switch (fields.discount) {
    case Discount::log2:
      return inverse_log2(rank + 1);
    case Discount::log2_floored:
      return rank == 1 ? 1 : inverse_log2(rank);
    case Discount::log:
      return ratio_of_logs(fields.discount_base, rank + 1);
    case Discount::log_floored:
      return number <= fields.discount_base ? 1 : ratio_of_logs(fields.discount_base, rank);
    case Discount::inverse:
      return 1 / number;
    case Discount::power: {
      const Pair exponent = multiply({fields.discount_power, 0}, log2_of(number));
      return inverse_power_of_two(exponent.high, exponent.low);
    }
    case Discount::geometric: {
      const Pair halvings = multiply({1 - number, 0}, log2_of(fields.discount_persistence));
      if (halvings.high > kMostHalvings) return 0;
      return inverse_power_of_two(halvings.high, halvings.low);
    }
    case Discount::none:
      return 1;
    case Discount::table:
      return i <= fields.discount_table.size() ? fields.discount_table[i - 1] : 0;
  }
  return 0;
}

DiscountTable::DiscountTable(DiscountFields fields, Count sum_depth, Count ranks, const Run& run)
    : fields_(std::move(fields)) {
  const auto depth = static_cast<std::size_t>(std::max(sum_depth, std::min(ranks, kMaxRanks)));
  discounts_.reserve(depth);
  sums_.reserve(depth + 1);
  sums_.push_back(0);
  for (std::size_t i = 0; i < depth; ++i) {
    if (i % 4096 == 4095) run.checkpoint();
    discounts_.push_back(discount(fields_, static_cast<Count>(i) + 1));
    sums_.push_back(sums_.back() + discounts_.back());
  }
}

}  // namespace exactk
