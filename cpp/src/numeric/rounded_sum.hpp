// The sum of doubles, rounded once, so that it does not depend on their order.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "numeric/double_double.hpp"

namespace exactk {

// Keeps the exact sum as doubles that do not overlap (Shewchuk 1997), few unless the exponents of
// the terms vary widely. Neither terms nor sums may overflow.
class RoundedSum {
 public:
  void clear() noexcept { parts_.clear(); }

  void add(double term) {
    std::size_t count = 0;
    for (const double part : parts_) {
      const Pair sum = two_sum(term, part);
      if (sum.low != 0) parts_[count++] = sum.low;
      term = sum.high;
    }
    parts_.resize(count);
    parts_.push_back(term);
  }

  // Returns the nearest double; of two, the even one.
  [[nodiscard]] double total() const noexcept {
    Pair sum;
    std::size_t i = parts_.size();
    while (i > 0 && sum.low == 0) sum = two_sum(sum.high, parts_[--i]);
    // Half way between two doubles, as far as the parts summed so far: the next part decides.
    const bool is_decided = i == 0 || sum.low == 0 || (sum.low > 0) != (parts_[i - 1] > 0);
    if (is_decided) return sum.high;
    const double next = sum.high + 2 * sum.low;
    return next - sum.high == 2 * sum.low ? next : sum.high;
  }

 private:
  std::vector<double> parts_;  // ascending in magnitude
};

// The sum of doubles in two, which nearly always decide what the exact sum rounds to.
class ApproximateSum {
 public:
  void add(double term) noexcept {
    const Pair sum = two_sum(sum_, term);
    const Pair rest = two_sum(rest_, sum.low);
    sum_ = sum.high;
    rest_ = rest.high;
    doubt_ += 2 * std::abs(rest.low);
  }

  // Whether `total` is the exact sum, rounded once, or not finite.
  [[nodiscard]] bool is_certain() const noexcept {
    if (doubt_ == 0) return true;
    // At least an ulp of the rest, which else would be rounded to what may lie half way.
    const double doubt = doubt_ + 0x1p-52 * std::abs(rest_);
    return sum_ + (rest_ - doubt) == sum_ + (rest_ + doubt) || !std::isfinite(sum_);
  }
  // Infinity or NaN if the sum of the first terms overflows.
  [[nodiscard]] double total() const noexcept { return sum_ + rest_; }

 private:
  double sum_ = 0;
  double rest_ = 0;   // what rounding left out of the sum
  double doubt_ = 0;  // above what rounding left out of the rest
};

// Returns the sum of doubles, rounded once; infinity or NaN if it overflows. `exact` is scratch
// space.
[[nodiscard]] inline double rounded_sum(std::span<const double> terms, RoundedSum& exact) {
  ApproximateSum sum;
  for (const double term : terms) sum.add(term);
  if (sum.is_certain()) return sum.total();
  exact.clear();
  for (const double term : terms) exact.add(term);
  return exact.total();
}

}  // namespace exactk
