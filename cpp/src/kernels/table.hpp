// The loops that are worth an instruction set of their own: one text each, compiled once for each.
//
// What is compiled for a wide instruction set must not be used without it. So kernels/ shares no
// function with the rest: no standard library, nothing inline that a linker could merge with the
// same thing compiled for another (the test exactk_kernels_are_alone asks nm).
#pragma once

#include <cstddef>
#include <cstdint>

namespace exactk {

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

// Scores are looked at in chunks. Of a chunk, score i belongs to group i % kGroups.
inline constexpr std::size_t kChunkScores = 256;
inline constexpr std::size_t kGroups = 16;

// So many scores, or a multiple, are compared with each other.
inline constexpr std::size_t kCompareBlock = 32;

// No score is lower.
inline constexpr float kLowestFloat = -__builtin_inff();
inline constexpr double kLowestDouble = -__builtin_inf();
inline constexpr std::int64_t kLowestInteger = -9223372036854775807 - 1;

template <class Score>
struct ScoreKernels {
  // The greatest of each group of some chunks that are not excluded, the lowest score if there are
  // none but NaN. `excluded`: a bit a score, or null. Returns whether one is NaN, excluded or not.
  bool (*group_maxima)(const Score* scores, std::size_t chunks, const std::uint64_t* excluded,
                       Score* maxima);
  // The positions of those that are at least `least`, ascending. Returns how many there are.
  std::size_t (*find_at_least)(const Score* scores, std::size_t size, Score least,
                               std::uint32_t* positions);
  // Adds to each bound's count the scores that beat it: those above, and from the bound at
  // `strict` on only these; those before it are also beaten by equal scores.
  void (*count_beating)(const Score* scores, std::size_t size, const Score* bounds,
                        std::size_t strict, std::size_t bound_count, std::int64_t* counts);
  // Adds to each bound's counts the scores above it, and those below it.
  void (*count_around)(const Score* scores, std::size_t size, const Score* bounds,
                       std::size_t bound_count, std::int64_t* above, std::int64_t* below);
  // How many of the first `size` scores are above each of the first `padded_size`.
  void (*count_above)(const Score* scores, std::size_t size, std::size_t padded_size,
                      std::uint32_t* counts);
};

// Vectors are multiplied and compared in double precision, each pair's terms added as
// kPartialSums sums, term j to sum j mod kPartialSums, and these as ((0 + 4) + (2 + 6)) + ((1 + 5)
// + (3 + 7)): the same on every CPU.
inline constexpr std::size_t kPartialSums = 8;

template <class Number>
struct VectorKernels {
  // The product of one vector with each of some others.
  void (*dots)(const double* one, const Number* const* others, std::size_t count, std::size_t width,
               double* products);
  // Of each vector with itself.
  void (*squares)(const Number* const* vectors, std::size_t count, std::size_t width,
                  double* squares);
  // Of the difference between one vector and each of some others, with itself.
  void (*squared_distances)(const double* one, const Number* const* others, std::size_t count,
                            std::size_t width, double* squares);
};

struct Kernels {
  // The sums over kTerms terms. Returns whether all of these were in [0, 1], as the sums need.
  bool (*sum_unit_terms)(const double* terms, UnitDigits* sums);
  // kTerms quotients; `by_zero` where the denominator is 0.
  void (*divide)(const double* numerators, const double* denominators, double by_zero,
                 double* quotients);
  ScoreKernels<float> float32;
  ScoreKernels<double> float64;
  ScoreKernels<std::int64_t> int64;
  VectorKernels<float> float32_vectors;
  VectorKernels<double> float64_vectors;
};

extern const Kernels scalar_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace exactk
