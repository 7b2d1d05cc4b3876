// Exact sums of integers times powers of 2, of doubles, and of products of two doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exactk/types.hpp"
#include "numeric/exact_sum.hpp"

namespace exactk {

// Removes the bytes that an integer does not need.
void shorten(ExactInteger& integer);

// A sum of multiples of 2^-scale, as an integer that is as wide as it was made. Its cost grows with
// the digits in use, not with its width.
class FixedPointSum {
 public:
  // Holds 2^62 terms below 2^integer_bits.
  FixedPointSum(int scale, int integer_bits);

  // Adds integer x 2^exponent. |integer| is below 2^126, and the exponent at least -scale.
  void add(Int128 integer, int exponent) noexcept;
  // Add 53 bits, and 106; all are multiples of 2^-scale.
  void add(double term) noexcept;
  void add_product(double factor, double other) noexcept;
  void add(const FixedPointSum& other) noexcept;  // of the same scale and width
  void clear() noexcept;
  [[nodiscard]] int scale() const noexcept { return scale_; }
  // Returns the sum in as few bytes as it needs.
  [[nodiscard]] ExactInteger integer() const;

 private:
  void carry() noexcept;

  int scale_;
  std::vector<std::int64_t> digits_;  // base 2^32, least significant first
  // The digits from begin_ to end_ may be other than 0.
  std::size_t begin_;
  std::size_t end_ = 0;
  std::int64_t pending_additions_ = 0;  // additions since the digits were last carried
};

}  // namespace exactk
