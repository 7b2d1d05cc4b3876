// One lane, for any CPU; four for products.

#include "kernels/all.hpp"

namespace exactk {
namespace {

struct Lanes {
  static constexpr std::size_t kWidth = 1;
  using Doubles = double;
  using Integers = std::uint64_t;  // wraps around, as vectors do

  static Doubles load(const double* from) { return *from; }
  static Doubles load(const float* from) { return *from; }
  static void store(double* to, Doubles numbers) { *to = numbers; }
  static Integers load(const std::int64_t* from) { return static_cast<Integers>(*from); }
  static void store(std::int64_t* to, Integers numbers) {
    *to = static_cast<std::int64_t>(numbers);
  }
  static Doubles broadcast(double number) { return number; }
  static Integers broadcast(std::int64_t number) { return static_cast<Integers>(number); }
  static Integers zero() { return 0; }
  static Integers bits(Doubles numbers) { return __builtin_bit_cast(Integers, numbers); }
  template <class Numbers>
  static Numbers plus(Numbers one, Numbers other) {
    return one + other;
  }
  template <class Numbers>
  static Numbers minus(Numbers one, Numbers other) {
    return one - other;
  }
  static Doubles times(Doubles one, Doubles other) { return one * other; }
  static Doubles quotient(Doubles one, Doubles other, Doubles by_zero) {
    return other != 0 ? one / other : by_zero;
  }
  // Replaces numbers by 0 where the lane's bit is not set.
  static Doubles zero_unless(Doubles numbers, std::uint64_t bits) {
    return (bits & 1U) != 0 ? numbers : 0;
  }
  static Integers bit_or(Integers one, Integers other) { return one | other; }
  static Integers bit_xor(Integers one, Integers other) { return one ^ other; }
  // Multiplies the lower halves as unsigned integers.
  static Integers word_product(Integers one, Integers other) {
    return (one & 0xffffffffU) * (other & 0xffffffffU);
  }
  static Integers high_word(Integers numbers) { return numbers >> 32U; }
  // Stores the lower halves of the four words side by side.
  static void store_calls(std::uint64_t* to, const Integers* words) {
    to[0] = (words[0] & 0xffffffffU) | words[1] << 32U;
    to[1] = (words[2] & 0xffffffffU) | words[3] << 32U;
  }
  // Counts the thresholds, in ascending order, that each of 64 words of 16 bits reaches, and writes
  // the bits of the counts: bit i of all words to bits[i].
  static void count_reached(const std::uint64_t* words, const std::uint16_t* thresholds,
                            std::uint64_t* bits) {
    for (std::size_t i = 0; i < 4; ++i) bits[i] = 0;
    for (unsigned word = 0; word < 64; ++word) {
      const auto number = static_cast<std::uint16_t>(words[word / 4] >> 16 * (word % 4));
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < kThresholds; ++i) count += number >= thresholds[i] ? 1 : 0;
      for (unsigned i = 0; i < 4; ++i) bits[i] |= (count >> i & 1U) << word;
    }
  }
  // Stores 64 bytes: bit i of each byte from word i.
  static void store_patterns(const std::uint64_t* words, std::uint8_t* to) {
    for (unsigned byte = 0; byte < 8; ++byte) {
      std::uint64_t patterns = 0;
      for (unsigned i = 0; i < kTableUnits; ++i) {
        // The byte, eight times; of the n-th, bit n; and from there to the lowest bit.
        const std::uint64_t bits = (words[i] >> 8 * byte & 0xffU) * 0x0101010101010101U;
        const std::uint64_t bit_n = bits & 0x8040201008040201U;
        patterns |= ((bit_n + 0x7f7f7f7f7f7f7f7fU) >> 7U & 0x0101010101010101U) << i;
      }
      __builtin_memcpy(to + std::size_t{8} * byte, &patterns, sizeof patterns);
    }
  }
  // Multiplies the lower halves as signed integers.
  static Integers low_product(Integers one, Integers other) {
    const auto low = [](Integers number) {
      return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(number))};
    };
    return static_cast<Integers>(low(one) * low(other));
  }
  static std::int64_t sum(Integers numbers) { return static_cast<std::int64_t>(numbers); }
  // Adds up partial sums in the order of VectorKernels.
  static double fold(const Doubles* sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
  static bool any_bit(Integers numbers) { return numbers != 0; }
  static bool any_negative(Integers numbers) { return numbers >> 63U != 0; }
};

template <class T>
constexpr T kLowestOf = static_cast<T>(kLowestDouble);
template <>
constexpr std::int64_t kLowestOf<std::int64_t> = kLowestInteger;

template <class T>
struct ScoreLanes {
  static constexpr std::size_t kWidth = 1;
  static constexpr T kLowest = kLowestOf<T>;
  using Score = T;
  using Vector = T;

  static Vector load(const T* from) { return *from; }
  static void store(T* to, Vector scores) { *to = scores; }
  static Vector broadcast(T score) { return score; }
  static Vector greater_of(Vector one, Vector other) { return one > other ? one : other; }
  // Replaces the score by the lowest one where the bit is set.
  static Vector lower_where(Vector score, std::uint64_t bits, std::size_t first) {
    return (bits >> first & 1U) != 0 ? kLowest : score;
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector scores) {
    return scores != scores ? 1 : 0;  // NOLINT(misc-redundant-expression): not for NaN
  }
  static unsigned at_least(Vector scores, Vector bound) { return scores >= bound ? 1 : 0; }
  static unsigned above(Vector scores, Vector bound) { return scores > bound ? 1 : 0; }
  // Counts bits in pairs, nibbles, bytes and the word, because the function that a compiler would
  // call is outside of the kernels.
  static std::int64_t count(std::uint64_t bits) {
    bits -= bits >> 1U & 0x5555555555555555U;
    bits = (bits & 0x3333333333333333U) + (bits >> 2U & 0x3333333333333333U);
    bits = (bits + (bits >> 4U)) & 0x0f0f0f0f0f0f0f0fU;
    return static_cast<std::int64_t>(bits * 0x0101010101010101U >> 56U);
  }
  using Counts = std::uint32_t;
  static Counts zero_counts() { return 0; }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return counts + above(score, bound);
  }
  static void store(std::uint32_t* to, Counts counts) { *to = counts; }
};

// In vectors of four, which compilers split where a CPU has none.
// In vectors of four, which compilers split where a CPU has none.
struct ProductLanes {
  static constexpr std::size_t kWidth = 4;
  static constexpr std::size_t kPartVectors = 4;
  static constexpr std::size_t kPartUsers = 2;
  using Vector [[gnu::vector_size(16)]] = float;
  static Vector load(const float* from) {
    Vector numbers;
    __builtin_memcpy(&numbers, from, sizeof numbers);
    return numbers;
  }
  static void store(float* to, Vector numbers) { __builtin_memcpy(to, &numbers, sizeof numbers); }
  static Vector broadcast(float number) { return Vector{number, number, number, number}; }
  static Vector multiply_add(Vector one, Vector other, Vector sum) { return one * other + sum; }
};

}  // namespace

const Kernels scalar_kernels =
    kKernels<Lanes, ScoreLanes<float>, ScoreLanes<double>, ScoreLanes<std::int64_t>, ProductLanes>;

}  // namespace exactk
