// The loops that profit from special instruction sets. Each has one source that is compiled once
// per instruction set.
//
// Code compiled for a wide instruction set must not run without it. Therefore kernels/ shares no
// function with the rest: no standard library, and no inline function that a linker could merge
// with the same function compiled for another instruction set (the test exactk_kernels_are_alone
// checks this with nm).
#pragma once

#include <cstddef>
#include <cstdint>

namespace exactk {

// Terms per call of a kernel.
inline constexpr std::size_t kTerms = 32;

// A term in [0, 1], rounded to a multiple of 2^-80, is split into the digits a 2^-26 + b 2^-53 + c
// 2^-80. Digits are in [-2^26, 2^26], so a product of two fits 64 bits with room to add hundreds.
inline constexpr int kDigitBits = 27;
inline constexpr int kTopScale = 26;
inline constexpr int kUnitScale = kTopScale + 2 * kDigitBits;

// Sums over terms: of their digits, and of the digits of their squares, most significant first.
struct UnitDigits {
  std::int64_t total[3];
  std::int64_t squares[5];
};

// Columns have one term per user. Their sizes are multiples of kColumnStep, so that flags of users
// fill words, and at most kColumnTerms, so that sums of products of digits fit 64 bits.
inline constexpr std::size_t kColumnStep = 64;
inline constexpr std::size_t kColumnTerms = 512;

struct ColumnKernels {
  // Writes a bit per term: whether it is a number, not NaN.
  void (*find_numbers)(const double* terms, std::size_t size, std::uint64_t* numbers);
  // Returns whether all numbers are in [low, high] or NaN. `size` is any multiple of kColumnStep.
  bool (*are_within)(const double* numbers, std::size_t size, double low, double high);
  // Splits the terms, each times 2^-26 x `scale`, into digits: kColumnTerms of each place. Terms
  // without a bit in `present` count as 0; the others must then be in [-1, 1]. `scale` is a power
  // of 2, and `inverse` is 1 / `scale`. Returns whether the digits hold every bit of the terms.
  bool (*split)(const double* terms, const std::uint64_t* present, std::size_t size, double scale,
                double inverse, std::int64_t* digits, UnitDigits* sums);
  // Splits terms in [0, 1], each rounded to a multiple of 2^-80.
  void (*split_unit)(const double* terms, const std::uint64_t* present, std::size_t size,
                     std::int64_t* digits, UnitDigits* sums);
  // Sums the products of two columns of digits, as digits like UnitDigits::squares.
  void (*multiply)(const std::int64_t* one, const std::int64_t* other, std::size_t size,
                   std::int64_t* products);
  // Counts the present terms that are greater, or less, than those of the other column.
  void (*compare)(const double* one, const double* other, const std::uint64_t* present,
                  std::size_t size, std::int64_t* greater, std::int64_t* less);
};

// Scores are processed in chunks. Score i of a chunk belongs to group i % kGroups.
inline constexpr std::size_t kChunkScores = 256;
inline constexpr std::size_t kGroups = 16;

// Scores are compared with each other in multiples of this number.
inline constexpr std::size_t kCompareBlock = 32;

// No score is lower.
inline constexpr float kLowestFloat = -__builtin_inff();
inline constexpr double kLowestDouble = -__builtin_inf();
inline constexpr std::int64_t kLowestInteger = -9223372036854775807 - 1;

template <class Score>
struct ScoreKernels {
  // Computes the greatest score in each group of each chunk, without excluded scores and NaN; the
  // lowest score if none is left. `excluded`: one bit per score, or null. Returns whether any score
  // is NaN, excluded or not.
  bool (*group_maxima)(const Score* scores, std::size_t chunks, const std::uint64_t* excluded,
                       Score* maxima);
  // Writes the positions of the scores that are at least `least`, ascending. Returns their number.
  std::size_t (*find_at_least)(const Score* scores, std::size_t size, Score least,
                               std::uint32_t* positions);
  // Lists the scores that are at least `least`, with their positions from `first` on, ascending.
  // Returns their number.
  std::size_t (*list_at_least)(const Score* scores, std::size_t size, Score least,
                               std::uint32_t first, Score* listed, std::uint32_t* positions);
  // Adds to each bound's count the scores that beat it. Only greater scores beat the bounds from
  // index `strict` on; equal scores also beat those before.
  void (*count_beating)(const Score* scores, std::size_t size, const Score* bounds,
                        std::size_t strict, std::size_t bound_count, std::int64_t* counts);
  // Adds to each bound's counts the scores above it, and those below it.
  void (*count_around)(const Score* scores, std::size_t size, const Score* bounds,
                       std::size_t bound_count, std::int64_t* above, std::int64_t* below);
  // Counts how many of the first `size` scores are above each of the first `padded_size`.
  void (*count_above)(const Score* scores, std::size_t size, std::size_t padded_size,
                      std::uint32_t* counts);
};

// Vectors are multiplied and compared in double precision. The terms of a pair are added up in
// kPartialSums sums, term j in sum j mod kPartialSums, and these are added as ((0 + 4) + (2 + 6)) +
// ((1 + 5) + (3 + 7)): the same on every CPU.
inline constexpr std::size_t kPartialSums = 8;

template <class Number>
struct VectorKernels {
  // Computes the products of one vector with each of the others.
  void (*dots)(const double* one, const Number* const* others, std::size_t count, std::size_t width,
               double* products);
  // Computes the product of each vector with itself.
  void (*squares)(const Number* const* vectors, std::size_t count, std::size_t width,
                  double* squares);
  // Computes the squared distance between one vector and each of the others.
  void (*squared_distances)(const double* one, const Number* const* others, std::size_t count,
                            std::size_t width, double* squares);
};

// Items of a panel of packed vectors.
inline constexpr std::size_t kPanelItems = 32;

struct ProductKernels {
  // Packs up to kPanelItems rows, `stride` numbers apart: number j of item i becomes number
  // j x kPanelItems + i of the panel. Items that are missing become 0.
  void (*pack)(const float* rows, std::size_t count, std::size_t stride, std::size_t width,
               float* panel);
  // Multiplies vectors of users, row by row, with the items of all panels. The products of a user
  // are `stride` apart. Terms may be added in any order, and multiplied and added at once.
  void (*multiply)(const float* vectors, std::size_t count, std::size_t width, const float* panels,
                   std::size_t panel_count, float* products, std::size_t stride);
};

// How an item's key and the bits of its grade are mixed for digests. States keep digests, so the
// numbers are part of their format; the factors are those of splitmix64.
inline constexpr std::uint64_t kGradeSeed = 0x082efa98ec4e6c89;
inline constexpr std::uint64_t kGradeFactor = 0x9e3779b97f4a7c15;
inline constexpr std::uint64_t kFirstMixFactor = 0xbf58476d1ce4e5b9;
inline constexpr std::uint64_t kSecondMixFactor = 0x94d049bb133111eb;

// Resamples, which give each unit a random sign or count, are summed in blocks, by tables of all
// subsets of a few units. Units are taken in steps of several tables, columns in vectors.
inline constexpr std::size_t kBlockResamples = 1024;
inline constexpr std::size_t kTableUnits = 6;
inline constexpr std::size_t kSubsets = std::size_t{1} << kTableUnits;
inline constexpr std::size_t kStepTables = 5;
inline constexpr std::size_t kStepUnits = kStepTables * kTableUnits;
inline constexpr std::size_t kVectorColumns = 8;

// Random numbers that are independent of those of other seeds and streams.
struct RandomStream {
  std::uint64_t seed;
  std::uint32_t number;
};

// Four times a unit's numbers are in the sums of a resample: the index of the first of each.
struct RareCount {
  std::uint32_t sums;
  std::uint32_t numbers;
};

// How many lists of rare counts may hold: a count of 8 is two of 4, and a few beyond the end are
// written in vain.
inline constexpr std::size_t kRareCounts = 2 * kStepUnits * kBlockResamples + 4;

struct ResamplingKernels {
  // Draws the signs of the units of a step, which have the given keys. Writes a byte per table and
  // resample, with a bit per unit: 1 for +.
  void (*draw_signs)(const std::uint64_t* keys, const RandomStream& stream, std::uint32_t block,
                     std::uint8_t* patterns);
  // Adds the numbers, units x kVectorColumns, whose bit is set to the sums, resamples x
  // kVectorColumns.
  void (*add_chosen)(const std::uint8_t* patterns, const std::int64_t* numbers, std::int64_t* sums);
  // Draws the counts of the units of a step. Writes patterns for the bits that stand for 1, then
  // those for 2, and lists what is left of the counts. Returns the length of the list.
  std::size_t (*draw_counts)(const std::uint64_t* keys, const RandomStream& stream,
                             std::uint32_t block, std::uint8_t* patterns, RareCount* rare);
  // Adds the numbers times their counts to the sums.
  void (*add_counted)(const std::uint8_t* patterns, const RareCount* rare, std::size_t rare_count,
                      const std::int64_t* numbers, std::int64_t* sums);
};

// Lists and truths that are matched by a kernel, and the slots of its table: a power of 2, few
// enough for the nearest cache.
inline constexpr std::size_t kShortList = 128;
inline constexpr std::size_t kShortTruth = 64;
inline constexpr unsigned kShortSlotBits = 14;
inline constexpr std::size_t kShortSlots = std::size_t{1} << kShortSlotBits;

// Odd factors of the halves of an id.
struct ShortFactors {
  std::uint32_t low;
  std::uint32_t high;
};

// The positions of a list, at most kShortList, as bits.
struct PositionBits {
  std::uint64_t low;
  std::uint64_t high;
};

template <class Id>
struct ShortListKernels {
  // Returns the positions of the list, which has from 1 to kShortList items, whose item is in the
  // truth, which has at most kShortTruth. Clears `is_certain` if an item repeats in either, or if
  // too many share slots to tell; the positions may then be any. `slots`: kShortSlots bytes of the
  // thread, of which none is kShortList or more.
  PositionBits (*match)(const std::int64_t* truth, std::size_t truth_size, const Id* list,
                        std::size_t list_size, ShortFactors factors, std::uint8_t* slots,
                        bool* is_certain);
};

template <class Score>
struct ShortScoreKernels {
  // Returns the ranks, as positions from 0 on, of the items at these positions of a row, which has
  // at most kShortList scores. Clears `is_certain` if any score is NaN or below `least`, or if one
  // of these items ties with another item or with `least`; the ranks may then be any.
  PositionBits (*rank)(const Score* scores, std::size_t size, Score least, PositionBits positions,
                       bool* is_certain);
};

struct Kernels {
  // Sums kTerms terms. Returns whether all of them are in [0, 1], as the sums require.
  bool (*sum_unit_terms)(const double* terms, UnitDigits* sums);
  // Computes kTerms quotients; `by_zero` if the denominator is 0.
  void (*divide)(const double* numerators, const double* denominators, double by_zero,
                 double* quotients);
  // Return the bitwise "or" of the words.
  std::uint32_t (*or_of_uint32)(const std::uint32_t* words, std::size_t size);
  std::uint64_t (*or_of_uint64)(const std::uint64_t* words, std::size_t size);
  // Mixes each key with its grade, or with 1 if `grades` is null. `mixed` may be `keys`. Returns
  // the sum of what is mixed.
  std::uint64_t (*mix_items)(const std::uint64_t* keys, const double* grades, std::size_t size,
                             std::uint64_t* mixed);
  ShortListKernels<std::int32_t> int32_lists;
  ShortListKernels<std::int64_t> int64_lists;
  ShortListKernels<std::uint32_t> uint32_lists;
  ShortListKernels<std::uint64_t> uint64_lists;
  ShortScoreKernels<float> float32_rows;
  ShortScoreKernels<double> float64_rows;
  ColumnKernels columns;
  ResamplingKernels resampling;
  ProductKernels products;
  ScoreKernels<float> float32;
  ScoreKernels<double> float64;
  ScoreKernels<std::int64_t> int64;
  VectorKernels<float> float32_vectors;
  VectorKernels<double> float64_vectors;
};

extern const Kernels scalar_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
extern const Kernels neon_kernels;

}  // namespace exactk
