// Sums of doubles that do not depend on the order of their terms, so that threads, blocks and
// shards may be merged in any order: integers are associative, floating-point numbers are not.
#pragma once

#include <cstdint>
#include <vector>

#include "metrik/types.hpp"

namespace metrik {

// Which integer holds the sum. The choice depends on the metric alone, never on the data.
enum class Exactness : std::uint8_t {
  unit,          // terms in [0, 1]: 128-bit fixed point, terms rounded to a multiple of 2^-80
  unit_squares,  // squares of just these rounded terms, as multiples of 2^-160
  any            // any finite double: an integer wide enough for every bit of every double
};

class ExactSum {
 public:
  explicit ExactSum(Exactness exactness);

  void add(double term) noexcept;            // finite; within [0, 1] for Exactness::unit
  void add_square(double term) noexcept;     // within [0, 1]; for Exactness::unit_squares
  void add(const ExactSum& other) noexcept;  // of the same exactness
  void clear() noexcept;
  [[nodiscard]] ExactInteger integer() const;

 private:
  __extension__ using Int128 = __int128;

  void add_wide(double term) noexcept;
  void carry() noexcept;

  Exactness exactness_;
  Int128 fixed_ = 0;                  // unit: all of it; unit_squares: the low 96 bits
  Int128 fixed_high_ = 0;             // unit_squares: the rest
  std::vector<std::int64_t> digits_;  // any: base 2^32, least significant first
  std::int64_t pending_ = 0;          // additions since the digits were last carried
};

}  // namespace metrik
