// Columns of numbers, one per unit of a chunk, and the exact sums of their products.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "numeric/fixed_point_sum.hpp"

namespace exactk {

// A chunk is a column long.
inline constexpr std::size_t kMaskWords = kColumnTerms / kColumnStep;

// A bit per unit.
using Mask = std::array<std::uint64_t, kMaskWords>;

[[nodiscard]] inline Mask operator&(const Mask& one, const Mask& other) noexcept {
  Mask both;  // NOLINT(*-member-init): filled below
  for (std::size_t i = 0; i < kMaskWords; ++i) both[i] = one[i] & other[i];
  return both;
}

[[nodiscard]] inline Mask operator|(const Mask& one, const Mask& other) noexcept {
  Mask any;  // NOLINT(*-member-init): filled below
  for (std::size_t i = 0; i < kMaskWords; ++i) any[i] = one[i] | other[i];
  return any;
}

[[nodiscard]] inline Count count_bits(const Mask& mask) noexcept {
  Count count = 0;
  for (const std::uint64_t word : mask) count += std::popcount(word);
  return count;
}

// How numbers are summed. The choice depends on the request, never on the numbers.
enum class Resolution : std::uint8_t {
  unit,  // rounded to multiples of 2^-80
  full   // every bit
};

// The numbers of a chunk as digits, if digits can hold them, and their sum.
class Column {
 public:
  // `numbers` are kept by reference. The size is a multiple of kColumnStep; units without a bit in
  // `present` count as 0.
  void assign(const double* numbers, const Mask& present, std::size_t size, Resolution resolution,
              const Kernels& kernels) noexcept;

  void add_to(FixedPointSum& sum) const noexcept;

 private:
  friend class ColumnProduct;

  template <class Visit>
  void for_each_present(const Visit& visit) const noexcept {
    for (std::size_t word = 0; word * kColumnStep < size_; ++word) {
      for (std::uint64_t bits = present_[word]; bits != 0; bits &= bits - 1) {
        visit(word * kColumnStep + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }

  const double* numbers_ = nullptr;
  std::size_t size_ = 0;
  Mask present_{};
  int exponent_ = 0;       // no number exceeds 2^exponent_
  bool is_split_ = false;  // whether the digits hold the numbers
  UnitDigits sums_{};
  std::array<std::int64_t, 3 * kColumnTerms> digits_{};
};

// The sum over the units of the products of two columns, which have the same units.
class ColumnProduct {
 public:
  ColumnProduct() = default;
  ColumnProduct(const Column& one, const Column& other, const Kernels& kernels) noexcept;

  void add_to(FixedPointSum& sum) const noexcept;

 private:
  static constexpr std::size_t kDigits = std::extent_v<decltype(UnitDigits::squares)>;

  const Column* one_ = nullptr;
  const Column* other_ = nullptr;
  std::array<std::int64_t, kDigits> digits_{};  // if both columns are split
};

// The columns of one system and value: its rows, then weights if there are any.
class ColumnSet {
 public:
  void assign(std::span<const double* const> columns, const Mask& present, std::size_t size,
              Resolution resolution, const Kernels& kernels) noexcept;

  [[nodiscard]] const Column& operator[](std::size_t i) const noexcept { return columns_[i]; }
  [[nodiscard]] const ColumnProduct& product(std::size_t i, std::size_t j) const noexcept {
    return products_[i][j];
  }

 private:
  static constexpr std::size_t kMaxColumns = 3;

  std::array<Column, kMaxColumns> columns_{};
  std::array<std::array<ColumnProduct, kMaxColumns>, kMaxColumns> products_;  // of i <= j
};

}  // namespace exactk
