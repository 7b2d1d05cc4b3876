// The sum of doubles, rounded once, so that it does not depend on their order.
#pragma once

#include <cstddef>
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

}  // namespace exactk
