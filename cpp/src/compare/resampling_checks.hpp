// Checks of resampling, and the integers that it sums.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/read_once.hpp"
#include "base/run.hpp"
#include "exactk/resampling.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The integers of a column. Numbers that another thread changes after they were checked may become
// any integer.
class ScaledNumbers {
 public:
  explicit ScaledNumbers(const ScaledColumn& column)
      : numbers_(column.numbers), factor_(std::ldexp(1.0, column.scale)) {}

  // Returns the number before it is rounded, which is exact unless it is far below 1.
  [[nodiscard]] double product(Offset unit) const {
    return read_once(numbers_[static_cast<std::size_t>(unit)]) * factor_;
  }
  [[nodiscard]] std::int64_t operator[](Offset unit) const {
    const double number = product(unit);
    return std::isnan(number) ? 0 : std::llrint(number);
  }

 private:
  std::span<const double> numbers_;
  double factor_;
};

// Throws unless the request is valid, the sums fit into memory and the magnitudes of each column
// sum to less than 2^magnitude_bits.
[[nodiscard]] std::vector<std::int64_t> checked_totals(const Resampling& request,
                                                       int magnitude_bits, const Run& run);

}  // namespace exactk
