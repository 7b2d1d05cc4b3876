// Four lanes. Compiled with -mavx2.

#include <immintrin.h>

#include "kernels/divide.hpp"
#include "kernels/table.hpp"
#include "kernels/unit_sums.hpp"

namespace metrik {
namespace {

struct Lanes {
  static constexpr std::size_t kWidth = 4;
  using Doubles = __m256d;
  using Integers = __m256i;

  static Doubles load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, Doubles numbers) { _mm256_storeu_pd(to, numbers); }
  static Doubles all(double number) { return _mm256_set1_pd(number); }
  static Integers all(std::int64_t number) { return _mm256_set1_epi64x(number); }
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
  static Integers either(Integers one, Integers other) { return _mm256_or_si256(one, other); }
  // Of the lower halves, as signed integers.
  static Integers low_product(Integers one, Integers other) { return _mm256_mul_epi32(one, other); }
  static std::int64_t sum(Integers numbers) {
    const __m128i pairs =
        _mm_add_epi64(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(pairs, _mm_unpackhi_epi64(pairs, pairs)));
  }
  static bool any_negative(Integers numbers) {
    return _mm256_movemask_pd(_mm256_castsi256_pd(numbers)) != 0;
  }
};

}  // namespace

const Kernels avx2_kernels{.sum_unit_terms = &sum_unit_terms<Lanes>, .divide = &divide<Lanes>};

}  // namespace metrik
