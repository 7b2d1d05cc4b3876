// Columns of terms: splits them into digits, and sums products and comparisons of two columns.
#pragma once

#include "kernels/table.hpp"
#include "kernels/unit_sums.hpp"

namespace exactk {

// Calls body(word, position, bit) for the vectors of a column: the word of bits that a vector
// belongs to, its first term, and the bit of that term in the word.
template <std::size_t width, class Body>
void for_each_vector(std::size_t size, const Body& body) {
  for (std::size_t word = 0; word * kColumnStep < size; ++word) {
    for (std::size_t bit = 0; bit < kColumnStep; bit += width) {
      body(word, word * kColumnStep + bit, bit);
    }
  }
}

// Runs of one digit alternate, so that a column is one stream of memory for vectors of any width.
inline constexpr std::size_t kDigitRun = 8;

constexpr std::size_t first_digit(std::size_t term) {
  return term / kDigitRun * (3 * kDigitRun) + term % kDigitRun;
}

template <class ScoreLanes>
void find_numbers(const double* terms, std::size_t size, std::uint64_t* numbers) {
  constexpr std::uint64_t kAll = (std::uint64_t{1} << ScoreLanes::kWidth) - 1;
  for_each_vector<ScoreLanes::kWidth>(
      size, [&](std::size_t word, std::size_t position, std::size_t bit) {
        if (bit == 0) numbers[word] = 0;
        const std::uint64_t nan = ScoreLanes::is_nan(ScoreLanes::load(terms + position));
        numbers[word] |= (nan ^ kAll) << bit;
      });
}

template <class ScoreLanes>
bool are_within(const double* numbers, std::size_t size, double low, double high) {
  const auto lows = ScoreLanes::broadcast(low);
  const auto highs = ScoreLanes::broadcast(high);
  unsigned outside = 0;
  for_each_vector<ScoreLanes::kWidth>(
      size, [&](std::size_t /*word*/, std::size_t position, std::size_t /*bit*/) {
        const auto vector = ScoreLanes::load(numbers + position);
        outside |= ScoreLanes::above(vector, highs) | ScoreLanes::above(lows, vector);
      });
  return outside == 0;
}

// The terms of a column, digit by digit.
template <class Lanes>
struct ColumnDigits {
  using Doubles = Lanes::Doubles;

  // Adds a vector of terms, scaled. Returns what digits do not hold of them.
  TermDigits<Lanes> add(Doubles scaled, std::size_t position) {
    const TermDigits<Lanes> split = split_scaled_terms<Lanes>(scaled);
    sums.add(split);
    std::int64_t* const to = digits + first_digit(position);
    Lanes::store(to, split.a);
    Lanes::store(to + kDigitRun, split.b);
    Lanes::store(to + 2 * kDigitRun, split.c);
    return split;
  }

  std::int64_t* digits;
  DigitSums<Lanes> sums{};
};

template <class Lanes>
bool split_column(const double* terms, const std::uint64_t* present, std::size_t size, double scale,
                  double inverse, std::int64_t* digits, UnitDigits* sums) {
  using Doubles = Lanes::Doubles;
  const Doubles scales = Lanes::broadcast(scale);
  const Doubles inverses = Lanes::broadcast(inverse);
  ColumnDigits<Lanes> column{digits};
  typename Lanes::Integers lost = Lanes::zero();
  for_each_vector<Lanes::kWidth>(size, [&](std::size_t word, std::size_t position,
                                           std::size_t bit) {
    const Doubles term = Lanes::zero_unless(Lanes::load(terms + position), present[word] >> bit);
    const Doubles scaled = Lanes::times(term, scales);
    const auto rest = column.add(scaled, position).rest;
    // What the scaling loses of numbers near 0 is not in the rest.
    const auto unscaled = Lanes::bits(Lanes::minus(Lanes::times(scaled, inverses), term));
    lost = Lanes::bit_or(lost, Lanes::bit_or(rest, unscaled));
  });
  column.sums.store(size, sums);
  return !Lanes::any_bit(Lanes::plus(lost, lost));  // without the sign, which -0 sets
}

template <class Lanes>
void split_unit_column(const double* terms, const std::uint64_t* present, std::size_t size,
                       std::int64_t* digits, UnitDigits* sums) {
  const auto scale = Lanes::broadcast(static_cast<double>(1U << unsigned{kTopScale}));
  ColumnDigits<Lanes> column{digits};
  for (std::size_t word = 0; word * kColumnStep < size; ++word) {
    const std::uint64_t bits = present[word];
    for (std::size_t bit = 0; bit < kColumnStep; bit += Lanes::kWidth) {
      const std::size_t position = word * kColumnStep + bit;
      auto term = Lanes::load(terms + position);
      if (bits != ~std::uint64_t{0}) term = Lanes::zero_unless(term, bits >> bit);
      column.add(Lanes::times(term, scale), position);
    }
  }
  column.sums.store(size, sums);
}

template <class Lanes>
void multiply_columns(const std::int64_t* one, const std::int64_t* other, std::size_t size,
                      std::int64_t* products) {
  using Integers = Lanes::Integers;
  Integers sums[5] = {Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero()};
  const auto add = [&](std::size_t to, Integers factor, Integers other_factor) {
    sums[to] = Lanes::plus(sums[to], Lanes::low_product(factor, other_factor));
  };
  for (std::size_t i = 0; i < size; i += Lanes::kWidth) {
    Integers factors[3];
    Integers others[3];
    for (std::size_t digit = 0; digit < 3; ++digit) {
      factors[digit] = Lanes::load(one + first_digit(i) + digit * kDigitRun);
      others[digit] = Lanes::load(other + first_digit(i) + digit * kDigitRun);
    }
    for (std::size_t digit = 0; digit < 3; ++digit) {
      add(digit, factors[digit], others[0]);
      add(digit + 1, factors[digit], others[1]);
      add(digit + 2, factors[digit], others[2]);
    }
  }
  for (std::size_t i = 0; i < 5; ++i) products[i] = Lanes::sum(sums[i]);
}

template <class ScoreLanes>
void compare_columns(const double* one, const double* other, const std::uint64_t* present,
                     std::size_t size, std::int64_t* greater, std::int64_t* less) {
  *greater = 0;
  *less = 0;
  for (std::size_t word = 0; word * kColumnStep < size; ++word) {
    std::uint64_t above = 0;
    std::uint64_t below = 0;
    for (std::size_t bit = 0; bit < kColumnStep; bit += ScoreLanes::kWidth) {
      const auto first = ScoreLanes::load(one + word * kColumnStep + bit);
      const auto second = ScoreLanes::load(other + word * kColumnStep + bit);
      above |= std::uint64_t{ScoreLanes::above(first, second)} << bit;
      below |= std::uint64_t{ScoreLanes::above(second, first)} << bit;
    }
    *greater += ScoreLanes::count(above & present[word]);
    *less += ScoreLanes::count(below & present[word]);
  }
}

template <class Lanes, class ScoreLanes>
inline constexpr ColumnKernels kColumnKernels{.find_numbers = &find_numbers<ScoreLanes>,
                                              .are_within = &are_within<ScoreLanes>,
                                              .split = &split_column<Lanes>,
                                              .split_unit = &split_unit_column<Lanes>,
                                              .multiply = &multiply_columns<Lanes>,
                                              .compare = &compare_columns<ScoreLanes>};

}  // namespace exactk
