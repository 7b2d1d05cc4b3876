// Discounts of ranks in DCG, correctly rounded on every platform.
#pragma once

#include <cstddef>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The discounts of the ranks 1, 2, ..., and their prefix sums in rank order.
class DiscountTable {
 public:
  // Stores the prefix sums of up to `sum_depth` ranks. Discounts are available at any rank; those
  // up to `ranks` are stored too, as far as that pays.
  DiscountTable(DiscountFields fields, Count sum_depth, Count ranks, const Run& run);

  [[nodiscard]] double at(Count rank) const noexcept {
    return rank <= depth() ? discounts_[static_cast<std::size_t>(rank - 1)]
                           : discount(fields_, rank);
  }
  [[nodiscard]] double sum_to(Count rank) const noexcept {
    return sums_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Count depth() const noexcept { return static_cast<Count>(discounts_.size()); }

 private:
  DiscountFields fields_;
  std::vector<double> discounts_;
  std::vector<double> sums_;  // sums_[n] is the sum of the first n
};

}  // namespace exactk
