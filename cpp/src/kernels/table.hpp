// The loops that are worth an instruction set of their own: one text each, compiled once for each.
//
// What is compiled for a wide instruction set must not be used without it. So kernels/ shares no
// function with the rest: no standard library, nothing inline that a linker could merge with the
// same thing compiled for another (the test metrik_kernels_are_alone asks nm).
#pragma once

#include <cstddef>
#include <cstdint>

namespace metrik {

// Terms that a kernel takes at a time.
inline constexpr std::size_t kTerms = 32;

// A term in [0, 1] is, rounded to a multiple of 2^-80, the digits a 2^-26 + b 2^-53 + c 2^-80: from
// -2^26 to 2^26, so that a product of two fits 64 bits with room to add hundreds.
inline constexpr int kDigitBits = 27;
inline constexpr int kTopScale = 26;
inline constexpr int kUnitScale = kTopScale + 2 * kDigitBits;

// Sums over some terms, of their digits and of those of their squares, most significant first.
struct UnitDigits {
  std::int64_t total[3];
  std::int64_t squares[5];
};

struct Kernels {
  // The sums over kTerms terms. Returns whether all of these were in [0, 1], as the sums need.
  bool (*sum_unit_terms)(const double* terms, UnitDigits* sums);
  // kTerms quotients; `by_zero` where the denominator is 0.
  void (*divide)(const double* numerators, const double* denominators, double by_zero,
                 double* quotients);
};

extern const Kernels scalar_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace metrik
