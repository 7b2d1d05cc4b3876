// Four lanes. Compiled with -mavx2.

#include <immintrin.h>

#include "kernels/columns.hpp"
#include "kernels/divide.hpp"
#include "kernels/mix_items.hpp"
#include "kernels/select.hpp"
#include "kernels/table.hpp"
#include "kernels/unit_sums.hpp"
#include "kernels/vectors.hpp"

namespace exactk {
namespace {

// Sets all bits of each lane whose bit, among the four lowest, is set.
__m256i lane_mask(std::uint64_t bits) {
  const __m256i lanes = _mm256_setr_epi64x(1, 2, 4, 8);
  const __m256i lane_bits =
      _mm256_and_si256(_mm256_set1_epi64x(static_cast<std::int64_t>(bits)), lanes);
  return _mm256_cmpeq_epi64(lane_bits, lanes);
}

struct Lanes {
  static constexpr std::size_t kWidth = 4;
  using Doubles = __m256d;
  using Integers = __m256i;

  static Doubles load(const double* from) { return _mm256_loadu_pd(from); }
  static Doubles load(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
  static void store(double* to, Doubles numbers) { _mm256_storeu_pd(to, numbers); }
  static Integers load(const std::int64_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(std::int64_t* to, Integers numbers) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), numbers);
  }
  static Doubles broadcast(double number) { return _mm256_set1_pd(number); }
  static Integers broadcast(std::int64_t number) { return _mm256_set1_epi64x(number); }
  static Integers zero() { return _mm256_setzero_si256(); }
  static Integers bits(Doubles numbers) { return _mm256_castpd_si256(numbers); }
  static Doubles plus(Doubles one, Doubles other) { return _mm256_add_pd(one, other); }
  static Integers plus(Integers one, Integers other) { return _mm256_add_epi64(one, other); }
  static Doubles minus(Doubles one, Doubles other) { return _mm256_sub_pd(one, other); }
  static Integers minus(Integers one, Integers other) { return _mm256_sub_epi64(one, other); }
  static Doubles times(Doubles one, Doubles other) { return _mm256_mul_pd(one, other); }
  static Doubles quotient(Doubles one, Doubles other, Doubles by_zero) {
    return _mm256_blendv_pd(_mm256_div_pd(one, other), by_zero,
                            _mm256_cmp_pd(other, _mm256_setzero_pd(), _CMP_EQ_OQ));
  }
  // Replaces numbers by 0 where the lane's bit is not set.
  static Doubles zero_unless(Doubles numbers, std::uint64_t bits) {
    return _mm256_and_pd(numbers, _mm256_castsi256_pd(lane_mask(bits)));
  }
  static Integers bit_or(Integers one, Integers other) { return _mm256_or_si256(one, other); }
  // Multiplies the lower halves as signed integers.
  static Integers low_product(Integers one, Integers other) { return _mm256_mul_epi32(one, other); }
  static std::int64_t sum(Integers numbers) {
    const __m128i pairs =
        _mm_add_epi64(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(pairs, _mm_unpackhi_epi64(pairs, pairs)));
  }
  static bool any_bit(Integers numbers) { return _mm256_testz_si256(numbers, numbers) == 0; }
  static bool any_negative(Integers numbers) {
    return _mm256_movemask_pd(_mm256_castsi256_pd(numbers)) != 0;
  }
};

void store_low_halves(std::uint32_t* to, __m256i numbers) {
  const __m256i low =
      _mm256_permutevar8x32_epi32(numbers, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(low));
}

struct Float32Lanes {
  static constexpr std::size_t kWidth = 8;
  static constexpr float kLowest = kLowestFloat;
  using Score = float;
  using Vector = __m256;

  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector scores) { _mm256_storeu_ps(to, scores); }
  static Vector broadcast(float score) { return _mm256_set1_ps(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) { return _mm256_max_ps(one, other); }
  static unsigned mask(Vector flags) { return static_cast<unsigned>(_mm256_movemask_ps(flags)); }
  // Replaces scores by the lowest one where a bit is set.
  static Vector lower_where(Vector scores, std::uint64_t bits) {
    const __m256i lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i lane_bits =
        _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits & 0xffU)), lanes);
    const __m256i set = _mm256_cmpeq_epi32(lane_bits, lanes);
    return _mm256_blendv_ps(scores, broadcast(kLowest), _mm256_castsi256_ps(set));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector scores) {
    return mask(_mm256_cmp_ps(scores, scores, _CMP_UNORD_Q));
  }
  static unsigned at_least(Vector scores, Vector bound) {
    return mask(_mm256_cmp_ps(scores, bound, _CMP_GE_OQ));
  }
  static unsigned above(Vector scores, Vector bound) {
    return mask(_mm256_cmp_ps(scores, bound, _CMP_GT_OQ));
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m256i;
  static Counts zero_counts() { return _mm256_setzero_si256(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return _mm256_sub_epi32(counts, _mm256_castps_si256(_mm256_cmp_ps(score, bound, _CMP_GT_OQ)));
  }
  static void store(std::uint32_t* to, Counts counts) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), counts);
  }
};

struct Float64Lanes {
  static constexpr std::size_t kWidth = 4;
  static constexpr double kLowest = kLowestDouble;
  using Score = double;
  using Vector = __m256d;

  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, Vector scores) { _mm256_storeu_pd(to, scores); }
  static Vector broadcast(double score) { return _mm256_set1_pd(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) { return _mm256_max_pd(one, other); }
  static unsigned mask(Vector flags) { return static_cast<unsigned>(_mm256_movemask_pd(flags)); }
  // Replaces scores by the lowest one where a bit is set.
  static Vector lower_where(Vector scores, std::uint64_t bits) {
    return _mm256_blendv_pd(scores, broadcast(kLowest), _mm256_castsi256_pd(lane_mask(bits)));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector scores) {
    return mask(_mm256_cmp_pd(scores, scores, _CMP_UNORD_Q));
  }
  static unsigned at_least(Vector scores, Vector bound) {
    return mask(_mm256_cmp_pd(scores, bound, _CMP_GE_OQ));
  }
  static unsigned above(Vector scores, Vector bound) {
    return mask(_mm256_cmp_pd(scores, bound, _CMP_GT_OQ));
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m256i;
  static Counts zero_counts() { return _mm256_setzero_si256(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return _mm256_sub_epi64(counts, _mm256_castpd_si256(_mm256_cmp_pd(score, bound, _CMP_GT_OQ)));
  }
  static void store(std::uint32_t* to, Counts counts) { store_low_halves(to, counts); }
};

struct Int64Lanes {
  static constexpr std::size_t kWidth = 4;
  static constexpr std::int64_t kLowest = kLowestInteger;
  using Score = std::int64_t;
  using Vector = __m256i;

  static Vector load(const std::int64_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(std::int64_t* to, Vector scores) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), scores);
  }
  static Vector broadcast(std::int64_t score) { return _mm256_set1_epi64x(score); }
  static unsigned mask(Vector flags) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(flags)));
  }
  static Vector greater_of(Vector one, Vector other) {
    return _mm256_blendv_epi8(other, one, _mm256_cmpgt_epi64(one, other));
  }
  // Replaces scores by the lowest one where a bit is set.
  static Vector lower_where(Vector scores, std::uint64_t bits) {
    return _mm256_blendv_epi8(scores, broadcast(kLowest), lane_mask(bits));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector) { return 0; }
  static unsigned at_least(Vector scores, Vector bound) {
    return 0xfU & ~mask(_mm256_cmpgt_epi64(bound, scores));
  }
  static unsigned above(Vector scores, Vector bound) {
    return mask(_mm256_cmpgt_epi64(scores, bound));
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m256i;
  static Counts zero_counts() { return _mm256_setzero_si256(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(score, bound));
  }
  static void store(std::uint32_t* to, Counts counts) { store_low_halves(to, counts); }
};

}  // namespace

const Kernels avx2_kernels{.sum_unit_terms = &sum_unit_terms<Lanes>,
                           .divide = &divide<Lanes>,
                           .mix_items = &mix_items<Lanes>,
                           .columns = kColumnKernels<Lanes, Float64Lanes>,
                           .float32 = kScoreKernels<Float32Lanes>,
                           .float64 = kScoreKernels<Float64Lanes>,
                           .int64 = kScoreKernels<Int64Lanes>,
                           .float32_vectors = kVectorKernels<Lanes, float>,
                           .float64_vectors = kVectorKernels<Lanes, double>};

}  // namespace exactk
