// Eight lanes. Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl.

#include <immintrin.h>

#include "kernels/all.hpp"

namespace exactk {
namespace {

struct Lanes {
  static constexpr std::size_t kWidth = 8;
  using Doubles = __m512d;
  using Integers = __m512i;

  static Doubles load(const double* from) { return _mm512_loadu_pd(from); }
  static Doubles load(const float* from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }
  static void store(double* to, Doubles numbers) { _mm512_storeu_pd(to, numbers); }
  static Integers load(const std::int64_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int64_t* to, Integers numbers) { _mm512_storeu_si512(to, numbers); }
  static Doubles broadcast(double number) { return _mm512_set1_pd(number); }
  static Integers broadcast(std::int64_t number) { return _mm512_set1_epi64(number); }
  static Integers zero() { return _mm512_setzero_si512(); }
  static Integers bits(Doubles numbers) { return _mm512_castpd_si512(numbers); }
  static Doubles plus(Doubles one, Doubles other) { return _mm512_add_pd(one, other); }
  static Integers plus(Integers one, Integers other) { return _mm512_add_epi64(one, other); }
  static Doubles minus(Doubles one, Doubles other) { return _mm512_sub_pd(one, other); }
  static Integers minus(Integers one, Integers other) { return _mm512_sub_epi64(one, other); }
  static Doubles times(Doubles one, Doubles other) { return _mm512_mul_pd(one, other); }
  static Doubles quotient(Doubles one, Doubles other, Doubles by_zero) {
    return _mm512_mask_div_pd(by_zero, _mm512_cmp_pd_mask(other, _mm512_setzero_pd(), _CMP_NEQ_UQ),
                              one, other);
  }
  // Replaces numbers by 0 where the lane's bit is not set.
  static Doubles zero_unless(Doubles numbers, std::uint64_t bits) {
    return _mm512_maskz_mov_pd(static_cast<__mmask8>(bits), numbers);
  }
  static Integers bit_or(Integers one, Integers other) { return _mm512_or_si512(one, other); }
  static Integers bit_xor(Integers one, Integers other) { return _mm512_xor_si512(one, other); }
  // Multiplies the lower halves as unsigned integers.
  static Integers word_product(Integers one, Integers other) {
    return _mm512_mul_epu32(one, other);
  }
  static Integers high_word(Integers numbers) {
    return _mm512_shuffle_epi32(numbers, _MM_PERM_DDBB);
  }
  // Stores the lower halves of the four words of each lane side by side.
  static void store_calls(std::uint64_t* to, const Integers* words) {
    const auto join = [](Integers low, Integers high) {
      return _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(high, 32));
    };
    const Integers first = join(words[0], words[1]);
    const Integers second = join(words[2], words[3]);
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi64(first, low, second));
    _mm512_storeu_si512(to + 8, _mm512_permutex2var_epi64(first, high, second));
  }
  // Counts the thresholds, in ascending order, that each of 64 words of 16 bits reaches, and writes
  // the bits of the counts: bit i of all words to bits[i].
  static void count_reached(const std::uint64_t* words, const std::uint16_t* thresholds,
                            std::uint64_t* bits) {
    const __m512i first = _mm512_loadu_si512(words);
    const __m512i second = _mm512_loadu_si512(words + 8);
    std::uint64_t reached[kThresholds];
    for (std::size_t i = 0; i < kThresholds; ++i) {
      const __m512i threshold = _mm512_set1_epi16(static_cast<short>(thresholds[i]));
      reached[i] = _mm512_cmpge_epu16_mask(first, threshold) |
                   std::uint64_t{_mm512_cmpge_epu16_mask(second, threshold)} << 32U;
    }
    bits[3] = reached[7];
    bits[2] = reached[3] ^ bits[3];
    bits[1] = reached[1] ^ reached[5] ^ bits[2];
    bits[0] = reached[0] ^ reached[2] ^ reached[4] ^ reached[6] ^ bits[1];
  }
  // Stores 64 bytes: bit i of each byte from word i.
  static void store_patterns(const std::uint64_t* words, std::uint8_t* to) {
    __m512i patterns = _mm512_setzero_si512();
    for (unsigned i = 0; i < kTableUnits; ++i) {
      const __m512i bit = _mm512_maskz_set1_epi8(words[i], static_cast<char>(1U << i));
      patterns = _mm512_or_si512(patterns, bit);
    }
    _mm512_storeu_si512(to, patterns);
  }
  // Multiplies the lower halves as signed integers.
  static Integers low_product(Integers one, Integers other) { return _mm512_mul_epi32(one, other); }
  // Uses vectors to the end, which may wrap around; GCC's _mm512_reduce_add_epi64 may not.
  static std::int64_t sum(Integers numbers) {
    const __m256i halves =
        _mm256_add_epi64(_mm512_castsi512_si256(numbers), _mm512_extracti64x4_epi64(numbers, 1));
    const __m128i pairs =
        _mm_add_epi64(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(pairs, _mm_unpackhi_epi64(pairs, pairs)));
  }
  // Adds up partial sums in the order of VectorKernels.
  static double fold(const Doubles* sums) {
    const __m256d fours =
        _mm256_add_pd(_mm512_castpd512_pd256(sums[0]), _mm512_extractf64x4_pd(sums[0], 1));
    const __m128d pairs =
        _mm_add_pd(_mm256_castpd256_pd128(fours), _mm256_extractf128_pd(fours, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
  }
  static bool any_bit(Integers numbers) { return _mm512_test_epi64_mask(numbers, numbers) != 0; }
  static bool any_negative(Integers numbers) { return _mm512_movepi64_mask(numbers) != 0; }
};

struct Float32Lanes {
  static constexpr std::size_t kWidth = 16;
  static constexpr float kLowest = kLowestFloat;
  using Score = float;
  using Vector = __m512;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector scores) { _mm512_storeu_ps(to, scores); }
  static Vector broadcast(float score) { return _mm512_set1_ps(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) { return _mm512_max_ps(one, other); }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return _mm512_mask_mov_ps(scores, static_cast<__mmask16>(bits >> first), broadcast(kLowest));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector scores) { return _mm512_cmp_ps_mask(scores, scores, _CMP_UNORD_Q); }
  static unsigned at_least(Vector scores, Vector bound) {
    return _mm512_cmp_ps_mask(scores, bound, _CMP_GE_OQ);
  }
  static unsigned above(Vector scores, Vector bound) {
    return _mm512_cmp_ps_mask(scores, bound, _CMP_GT_OQ);
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m512i;
  static Counts zero_counts() { return _mm512_setzero_si512(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    const __mmask16 above = _mm512_cmp_ps_mask(score, bound, _CMP_GT_OQ);
    return _mm512_mask_add_epi32(counts, above, counts, _mm512_set1_epi32(1));
  }
  static void store(std::uint32_t* to, Counts counts) { _mm512_storeu_si512(to, counts); }
};

struct Float64Lanes {
  static constexpr std::size_t kWidth = 8;
  static constexpr double kLowest = kLowestDouble;
  using Score = double;
  using Vector = __m512d;

  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static void store(double* to, Vector scores) { _mm512_storeu_pd(to, scores); }
  static Vector broadcast(double score) { return _mm512_set1_pd(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) { return _mm512_max_pd(one, other); }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return _mm512_mask_mov_pd(scores, static_cast<__mmask8>(bits >> first), broadcast(kLowest));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector scores) { return _mm512_cmp_pd_mask(scores, scores, _CMP_UNORD_Q); }
  static unsigned at_least(Vector scores, Vector bound) {
    return _mm512_cmp_pd_mask(scores, bound, _CMP_GE_OQ);
  }
  static unsigned above(Vector scores, Vector bound) {
    return _mm512_cmp_pd_mask(scores, bound, _CMP_GT_OQ);
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m512i;
  static Counts zero_counts() { return _mm512_setzero_si512(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    const __mmask8 above = _mm512_cmp_pd_mask(score, bound, _CMP_GT_OQ);
    return _mm512_mask_add_epi64(counts, above, counts, _mm512_set1_epi64(1));
  }
  static void store(std::uint32_t* to, Counts counts) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(counts));
  }
};

struct Int64Lanes {
  static constexpr std::size_t kWidth = 8;
  static constexpr std::int64_t kLowest = kLowestInteger;
  using Score = std::int64_t;
  using Vector = __m512i;

  static Vector load(const std::int64_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int64_t* to, Vector scores) { _mm512_storeu_si512(to, scores); }
  static Vector broadcast(std::int64_t score) { return _mm512_set1_epi64(score); }
  static Vector greater_of(Vector one, Vector other) { return _mm512_max_epi64(one, other); }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return _mm512_mask_mov_epi64(scores, static_cast<__mmask8>(bits >> first), broadcast(kLowest));
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector) { return 0; }
  static unsigned at_least(Vector scores, Vector bound) {
    return _mm512_cmp_epi64_mask(scores, bound, _MM_CMPINT_NLT);
  }
  static unsigned above(Vector scores, Vector bound) {
    return _mm512_cmp_epi64_mask(scores, bound, _MM_CMPINT_NLE);
  }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = __m512i;
  static Counts zero_counts() { return _mm512_setzero_si512(); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    const __mmask8 above = _mm512_cmp_epi64_mask(score, bound, _MM_CMPINT_NLE);
    return _mm512_mask_add_epi64(counts, above, counts, _mm512_set1_epi64(1));
  }
  static void store(std::uint32_t* to, Counts counts) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(counts));
  }
};

struct ProductLanes : Float32Lanes {
  static constexpr std::size_t kPartVectors = 2;
  static constexpr std::size_t kPartUsers = 12;
  static Vector multiply_add(Vector one, Vector other, Vector sum) {
    return _mm512_fmadd_ps(one, other, sum);
  }
};

}  // namespace

const Kernels avx512_kernels =
    kKernels<Lanes, Float32Lanes, Float64Lanes, Int64Lanes, ProductLanes>;

}  // namespace exactk
