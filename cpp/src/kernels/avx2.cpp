// Four lanes. Compiled with -mavx2 -mfma.

#include <immintrin.h>

#include "kernels/all.hpp"

namespace exactk {
namespace {

// Sets all bits of each lane whose bit, among the four lowest, is set.
__m256i lane_mask(std::uint64_t bits) {
  const __m256i lanes = _mm256_setr_epi64x(1, 2, 4, 8);
  const __m256i lane_bits =
      _mm256_and_si256(_mm256_set1_epi64x(static_cast<std::int64_t>(bits)), lanes);
  return _mm256_cmpeq_epi64(lane_bits, lanes);
}

// Sets the sign of each lane whose bit, among the four from the bit `first` on, is set.
__m256d lane_signs(std::uint64_t bits, std::size_t first) {
  const auto offset = static_cast<std::int64_t>(first);
  const __m256i to_sign = _mm256_setr_epi64x(63 - offset, 62 - offset, 61 - offset, 60 - offset);
  return _mm256_castsi256_pd(
      _mm256_sllv_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(bits)), to_sign));
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
  static Integers bit_xor(Integers one, Integers other) { return _mm256_xor_si256(one, other); }
  // Multiplies the lower halves as unsigned integers.
  static Integers word_product(Integers one, Integers other) {
    return _mm256_mul_epu32(one, other);
  }
  static Integers high_word(Integers numbers) { return _mm256_shuffle_epi32(numbers, 0xf5); }
  // Stores the lower halves of the four words of each lane side by side.
  static void store_calls(std::uint64_t* to, const Integers* words) {
    const auto join = [](Integers low, Integers high) {
      return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa);
    };
    const Integers first = join(words[0], words[1]);
    const Integers second = join(words[2], words[3]);
    const Integers even = _mm256_unpacklo_epi64(first, second);
    const Integers odd = _mm256_unpackhi_epi64(first, second);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4),
                        _mm256_permute2x128_si256(even, odd, 0x31));
  }
  // Counts the thresholds, in ascending order, that each of 64 words of 16 bits reaches, and writes
  // the bits of the counts: bit i of all words to bits[i].
  static void count_reached(const std::uint64_t* words, const std::uint16_t* thresholds,
                            std::uint64_t* bits) {
    for (std::size_t i = 0; i < 4; ++i) bits[i] = 0;
    for (unsigned half = 0; half < 2; ++half) {
      __m256i count_bits[4][2];
      for (std::size_t part = 0; part < 2; ++part) {
        const __m256i numbers = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(words + std::size_t{8} * half + 4 * part));
        __m256i reached[kThresholds];
        for (std::size_t i = 0; i < kThresholds; ++i) {
          const __m256i threshold = _mm256_set1_epi16(static_cast<short>(thresholds[i]));
          reached[i] = _mm256_cmpeq_epi16(_mm256_max_epu16(numbers, threshold), numbers);
        }
        count_bits[3][part] = reached[7];
        count_bits[2][part] = bit_xor(reached[3], reached[7]);
        count_bits[1][part] = bit_xor(bit_xor(reached[1], reached[5]), count_bits[2][part]);
        count_bits[0][part] =
            bit_xor(bit_xor(reached[0], reached[2]),
                    bit_xor(bit_xor(reached[4], reached[6]), count_bits[1][part]));
      }
      for (std::size_t i = 0; i < 4; ++i) {
        const __m256i bytes =
            _mm256_permute4x64_epi64(_mm256_packs_epi16(count_bits[i][0], count_bits[i][1]), 0xd8);
        bits[i] |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_epi8(bytes))} << 32 * half;
      }
    }
  }
  // Stores 64 bytes: bit i of each byte from word i.
  static void store_patterns(const std::uint64_t* words, std::uint8_t* to) {
    const __m256i byte_of_bit =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of_byte = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201));
    for (unsigned half = 0; half < 2; ++half) {
      __m256i patterns = _mm256_setzero_si256();
      for (unsigned i = 0; i < kTableUnits; ++i) {
        const auto bits = static_cast<std::uint32_t>(words[i] >> 32 * half);
        const __m256i bytes =
            _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte_of_bit);
        const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of_byte), bit_of_byte);
        const __m256i pattern = _mm256_set1_epi8(static_cast<char>(1U << i));
        patterns = _mm256_or_si256(patterns, _mm256_and_si256(is_set, pattern));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + std::size_t{32} * half), patterns);
    }
  }
  // Multiplies the lower halves as signed integers.
  static Integers low_product(Integers one, Integers other) { return _mm256_mul_epi32(one, other); }
  static std::int64_t sum(Integers numbers) {
    const __m128i pairs =
        _mm_add_epi64(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(pairs, _mm_unpackhi_epi64(pairs, pairs)));
  }
  // Adds up partial sums in the order of VectorKernels.
  static double fold(const Doubles* sums) {
    const __m256d fours = _mm256_add_pd(sums[0], sums[1]);
    const __m128d pairs =
        _mm_add_pd(_mm256_castpd256_pd128(fours), _mm256_extractf128_pd(fours, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
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
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    const auto half = static_cast<int>(bits >> (first & 32U));
    const auto offset = static_cast<int>(first % 32);
    const __m256i to_sign = _mm256_sub_epi32(_mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24),
                                             _mm256_set1_epi32(offset));
    const __m256i signs = _mm256_sllv_epi32(_mm256_set1_epi32(half), to_sign);
    return _mm256_blendv_ps(scores, broadcast(kLowest), _mm256_castsi256_ps(signs));
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
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return _mm256_blendv_pd(scores, broadcast(kLowest), lane_signs(bits, first));
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
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    const __m256d lowest = _mm256_castsi256_pd(broadcast(kLowest));
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(scores), lowest, lane_signs(bits, first)));
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

struct ProductLanes : Float32Lanes {
  static constexpr std::size_t kPartVectors = 4;
  static constexpr std::size_t kPartUsers = 3;
  static Vector multiply_add(Vector one, Vector other, Vector sum) {
    return _mm256_fmadd_ps(one, other, sum);
  }
};

}  // namespace

const Kernels avx2_kernels = kKernels<Lanes, Float32Lanes, Float64Lanes, Int64Lanes, ProductLanes>;

}  // namespace exactk
