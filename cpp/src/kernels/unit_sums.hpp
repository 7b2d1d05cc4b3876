// Splits terms into digits, and sums the digits and their products, lane by lane.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// Adding 1.5 x 2^52 rounds to an integer and leaves it in the low bits of the sum.
inline constexpr double kNoFraction = 0x1.8p52;
inline constexpr std::uint64_t kNoFractionBits = 0x4338000000000000;

// The digits of terms in the low bits, and what is left of the terms: all bits 0 if that is none.
template <class Lanes>
struct TermDigits {
  Lanes::Integers a;
  Lanes::Integers b;
  Lanes::Integers c;
  Lanes::Integers rest;
};

// Splits terms x 2^26. The remainder of each step is exact; only the last step rounds, half to
// even.
template <class Lanes>
TermDigits<Lanes> split_scaled_terms(typename Lanes::Doubles scaled) {
  using Doubles = Lanes::Doubles;
  const Doubles no_fraction = Lanes::broadcast(kNoFraction);
  const Doubles digit = Lanes::broadcast(static_cast<double>(1U << unsigned{kDigitBits}));
  const Doubles first = Lanes::plus(scaled, no_fraction);
  const Doubles rest = Lanes::minus(scaled, Lanes::minus(first, no_fraction));
  const Doubles scaled_rest = Lanes::times(rest, digit);
  const Doubles second = Lanes::plus(scaled_rest, no_fraction);
  const Doubles scaled_last =
      Lanes::times(Lanes::minus(scaled_rest, Lanes::minus(second, no_fraction)), digit);
  const Doubles third = Lanes::plus(scaled_last, no_fraction);
  const Doubles lost = Lanes::minus(scaled_last, Lanes::minus(third, no_fraction));
  return {Lanes::bits(first), Lanes::bits(second), Lanes::bits(third), Lanes::bits(lost)};
}

// Sums of digits, lane by lane.
template <class Lanes>
struct DigitSums {
  using Integers = Lanes::Integers;

  void add(const TermDigits<Lanes>& digits) {
    const auto& [a, b, c, rest] = digits;
    const Integers twice_a = Lanes::plus(a, a);
    const Integers twice_b = Lanes::plus(b, b);
    total[0] = Lanes::plus(total[0], a);
    total[1] = Lanes::plus(total[1], b);
    total[2] = Lanes::plus(total[2], c);
    squares[0] = Lanes::plus(squares[0], Lanes::low_product(a, a));
    squares[1] = Lanes::plus(squares[1], Lanes::low_product(twice_a, b));
    squares[2] = Lanes::plus(squares[2], Lanes::low_product(twice_a, c));
    squares[2] = Lanes::plus(squares[2], Lanes::low_product(b, b));
    squares[3] = Lanes::plus(squares[3], Lanes::low_product(twice_b, c));
    squares[4] = Lanes::plus(squares[4], Lanes::low_product(c, c));
  }

  void store(std::size_t terms, UnitDigits* sums) const {
    for (int i = 0; i < 3; ++i) {
      const auto sum = static_cast<std::uint64_t>(Lanes::sum(total[i]));
      sums->total[i] = static_cast<std::int64_t>(sum - terms * kNoFractionBits);
    }
    for (int i = 0; i < 5; ++i) sums->squares[i] = Lanes::sum(squares[i]);
  }

  Integers total[3] = {Lanes::zero(), Lanes::zero(), Lanes::zero()};
  Integers squares[5] = {Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero()};
};

template <class Lanes>
bool sum_unit_terms(const double* terms, UnitDigits* sums) {
  using Doubles = Lanes::Doubles;
  using Integers = Lanes::Integers;
  constexpr std::int64_t kOne = 0x3ff0000000000000;  // the bits of 1.0

  const Doubles top = Lanes::broadcast(static_cast<double>(1U << unsigned{kTopScale}));
  const Integers one = Lanes::broadcast(kOne);
  DigitSums<Lanes> digit_sums;
  Integers outside = Lanes::zero();  // a sign bit is set if a term is outside [0, 1]

  for (std::size_t i = 0; i < kTerms; i += Lanes::kWidth) {
    const Doubles term = Lanes::load(terms + i);
    // For nonnegative doubles, the order of the bits is that of the numbers.
    const Integers bits = Lanes::bits(term);
    outside = Lanes::bit_or(outside, Lanes::bit_or(bits, Lanes::minus(one, bits)));

    digit_sums.add(split_scaled_terms<Lanes>(Lanes::times(term, top)));
  }

  digit_sums.store(kTerms, sums);
  return !Lanes::any_negative(outside);
}

}  // namespace exactk
