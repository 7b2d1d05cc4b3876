// Sums of doubles that do not depend on the order of their terms, so that threads, blocks and
// shards may be merged in any order: integers are associative, floating-point numbers are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "exactk/types.hpp"
#include "kernels/table.hpp"

namespace exactk {

__extension__ using Int128 = __int128;

// The sum of terms in [0, 1], each rounded to a multiple of 2^-80, and of the squares of just these
// rounded terms. Room for fewer than 2^47 of them.
class UnitSums {
 public:
  // Adds at most kTerms terms if all are in [0, 1], and returns whether they are. -0.0 is not.
  bool add(std::span<const double> terms, const Kernels& kernels) noexcept;
  void add(const UnitSums& other) noexcept;
  [[nodiscard]] ExactInteger total() const;
  [[nodiscard]] ExactInteger squares() const;

 private:
  Int128 total_ = 0;                                                            // x 2^-80
  std::array<Int128, std::extent_v<decltype(UnitDigits::squares)>> squares_{};  // see UnitDigits
};

// The sum of any finite doubles: an integer wide enough for every bit of every double.
class WideSum {
 public:
  void add(double term) noexcept;
  void add(const WideSum& other) noexcept;
  [[nodiscard]] ExactInteger integer() const;

 private:
  static constexpr int kScale = 1074;  // of the smallest double, 2^-1074
  static constexpr int kWordBits = 32;
  // 2^1024 / 2^-1074 needs 2098 bits; 62 more leave room for 2^62 terms.
  static constexpr std::size_t kDigits = (kScale + 1024 + 62 + kWordBits - 1) / kWordBits;

  void carry() noexcept;

  std::array<std::int64_t, kDigits> digits_{};  // base 2^32, least significant first
  std::int64_t pending_additions_ = 0;          // additions since the digits were last carried
};

}  // namespace exactk
