// Sums of doubles that do not depend on the order of their terms, so that threads, blocks and
// shards may be merged in any order: integers are associative, floating-point numbers are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "metrik/types.hpp"

namespace metrik {

__extension__ using Int128 = __int128;

// The sum of terms in [0, 1], each rounded to a multiple of 2^-80, and of the squares of just these
// rounded terms. Room for 2^47 of them.
class UnitSums {
 public:
  void add(std::span<const double> terms) noexcept;  // within [0, 1]
  void add(const UnitSums& other) noexcept;
  [[nodiscard]] ExactInteger total() const;
  [[nodiscard]] ExactInteger squares() const;

 private:
  static constexpr std::size_t kStride = 32;

  void add_some(std::span<const double> terms) noexcept;  // at most kStride

  Int128 total_ = 0;  // x 2^-80
  // A term is high 2^-40 + low 2^-80. The sums of high^2, high x low and low^2:
  Int128 high_high_ = 0;
  Int128 high_low_ = 0;
  Int128 low_low_ = 0;
};

// The sum of any finite doubles: an integer wide enough for every bit of every double.
class WideSum {
 public:
  void add(double term) noexcept;
  void add(const WideSum& other) noexcept;
  [[nodiscard]] ExactInteger integer() const;

 private:
  static constexpr int kScale = 1074;  // of the smallest double, 2^-1074
  static constexpr int kDigitBits = 32;
  // 2^1024 / 2^-1074 needs 2098 bits; 62 more leave room for 2^62 terms.
  static constexpr std::size_t kDigits = (kScale + 1024 + 62 + kDigitBits - 1) / kDigitBits;

  void carry() noexcept;

  std::array<std::int64_t, kDigits> digits_{};  // base 2^32, least significant first
  std::int64_t pending_ = 0;                    // additions since the digits were last carried
};

}  // namespace metrik
