// Sums of doubles that do not depend on the order of the terms, so threads, blocks and shards can
// be merged in any order. They are integers, whose addition is associative.
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

// The sum of terms in [0, 1], each rounded to a multiple of 2^-80, and the sum of the squares of
// the rounded terms. Holds fewer than 2^47 terms.
class UnitSums {
 public:
  // Adds at most kTerms terms if all are in [0, 1], and returns whether they are. Rejects -0.0.
  bool add(std::span<const double> terms, const Kernels& kernels) noexcept;
  // Adds a term in [0, 1] several times.
  void add_repeated(double term, Count times, const Kernels& kernels) noexcept;
  void add(const UnitSums& other) noexcept;
  [[nodiscard]] ExactInteger total() const;
  [[nodiscard]] ExactInteger squares() const;

 private:
  Int128 total_ = 0;                                                            // x 2^-80
  std::array<Int128, std::extent_v<decltype(UnitDigits::squares)>> squares_{};  // see UnitDigits
};

// The sum of any finite doubles, as an integer wide enough for every bit of every double.
class WideSum {
 public:
  void add(double term) noexcept;
  void add(const WideSum& other) noexcept;
  [[nodiscard]] ExactInteger integer() const;

 private:
  static constexpr int kScale = 1074;  // the smallest double is 2^-1074
  static constexpr int kWordBits = 32;
  // 2^1024 / 2^-1074 needs 2098 bits; 62 more leave room for 2^62 terms.
  static constexpr std::size_t kDigits = (kScale + 1024 + 62 + kWordBits - 1) / kWordBits;

  void carry() noexcept;

  std::array<std::int64_t, kDigits> digits_{};  // base 2^32, least significant first
  std::int64_t pending_additions_ = 0;          // additions since the digits were last carried
};

}  // namespace exactk
