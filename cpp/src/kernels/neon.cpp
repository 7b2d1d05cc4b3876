// Two lanes of 64 bits and four of 32, which every 64-bit ARM CPU has.

#include <arm_neon.h>

#include "kernels/all.hpp"

namespace exactk {
namespace {

constexpr std::uint64_t kBits64[] = {1, 2};
constexpr std::uint32_t kBits32[] = {1, 2, 4, 8};
constexpr std::uint8_t kBits8[] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};

// Sets all bits of each lane whose bit, among the lowest, is set.
uint64x2_t lanes_of_64(std::uint64_t bits) {
  return vtstq_u64(vdupq_n_u64(bits), vld1q_u64(kBits64));
}
uint32x4_t lanes_of_32(std::uint64_t bits) {
  return vtstq_u32(vdupq_n_u32(static_cast<std::uint32_t>(bits)), vld1q_u32(kBits32));
}

// Comparisons, one bit a lane once they are asked for it.
struct Flags64 {
  uint64x2_t flags;
  operator unsigned() const {  // NOLINT(*-explicit-*): the kernels take a number
    return static_cast<unsigned>(vaddvq_u64(vandq_u64(flags, vld1q_u64(kBits64))));
  }
  Flags64& operator|=(Flags64 other) {
    flags = vorrq_u64(flags, other.flags);
    return *this;
  }
};
struct Flags32 {
  uint32x4_t flags;
  operator unsigned() const {  // NOLINT(*-explicit-*): the kernels take a number
    return vaddvq_u32(vandq_u32(flags, vld1q_u32(kBits32)));
  }
  Flags32& operator|=(Flags32 other) {
    flags = vorrq_u32(flags, other.flags);
    return *this;
  }
};

struct Lanes {
  static constexpr std::size_t kWidth = 2;
  using Doubles = float64x2_t;
  using Integers = int64x2_t;

  static Doubles load(const double* from) { return vld1q_f64(from); }
  static Doubles load(const float* from) { return vcvt_f64_f32(vld1_f32(from)); }
  static void store(double* to, Doubles numbers) { vst1q_f64(to, numbers); }
  static Integers load(const std::int64_t* from) { return vld1q_s64(from); }
  static void store(std::int64_t* to, Integers numbers) { vst1q_s64(to, numbers); }
  static Doubles broadcast(double number) { return vdupq_n_f64(number); }
  static Integers broadcast(std::int64_t number) { return vdupq_n_s64(number); }
  static Integers zero() { return vdupq_n_s64(0); }
  static Integers bits(Doubles numbers) { return vreinterpretq_s64_f64(numbers); }
  static Doubles plus(Doubles one, Doubles other) { return vaddq_f64(one, other); }
  static Integers plus(Integers one, Integers other) { return vaddq_s64(one, other); }
  static Doubles minus(Doubles one, Doubles other) { return vsubq_f64(one, other); }
  static Integers minus(Integers one, Integers other) { return vsubq_s64(one, other); }
  static Doubles times(Doubles one, Doubles other) { return vmulq_f64(one, other); }
  static Doubles quotient(Doubles one, Doubles other, Doubles by_zero) {
    return vbslq_f64(vceqzq_f64(other), by_zero, vdivq_f64(one, other));
  }
  // Replaces numbers by 0 where the lane's bit is not set.
  static Doubles zero_unless(Doubles numbers, std::uint64_t bits) {
    return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(numbers), lanes_of_64(bits)));
  }
  static Integers bit_or(Integers one, Integers other) { return vorrq_s64(one, other); }
  static Integers bit_xor(Integers one, Integers other) { return veorq_s64(one, other); }
  // Multiplies the lower halves as unsigned integers.
  static Integers word_product(Integers one, Integers other) {
    return vreinterpretq_s64_u64(
        vmull_u32(vmovn_u64(vreinterpretq_u64_s64(one)), vmovn_u64(vreinterpretq_u64_s64(other))));
  }
  static Integers high_word(Integers numbers) {
    return vreinterpretq_s64_u64(vshrq_n_u64(vreinterpretq_u64_s64(numbers), 32));
  }
  // Stores the lower halves of the four words of each lane side by side.
  static void store_calls(std::uint64_t* to, const Integers* words) {
    const auto join = [](Integers low, Integers high) {
      return vreinterpretq_u64_s64(vsliq_n_s64(low, high, 32));
    };
    const uint64x2_t first = join(words[0], words[1]);
    const uint64x2_t second = join(words[2], words[3]);
    vst1q_u64(to, vzip1q_u64(first, second));
    vst1q_u64(to + 2, vzip2q_u64(first, second));
  }
  // Counts the thresholds, in ascending order, that each of 64 words of 16 bits reaches, and writes
  // the bits of the counts: bit i of all words to bits[i].
  static void count_reached(const std::uint64_t* words, const std::uint16_t* thresholds,
                            std::uint64_t* bits) {
    for (std::size_t i = 0; i < 4; ++i) bits[i] = 0;
    const uint8x8_t lane_bits = vld1_u8(kBits8);
    for (std::size_t part = 0; part < 8; ++part) {
      const uint16x8_t numbers = vreinterpretq_u16_u64(vld1q_u64(words + 2 * part));
      uint16x8_t count = vdupq_n_u16(0);
      for (std::size_t i = 0; i < kThresholds; ++i) {
        count = vsubq_u16(count, vcgeq_u16(numbers, vdupq_n_u16(thresholds[i])));
      }
      const uint8x8_t counts = vmovn_u16(count);
      for (std::size_t i = 0; i < 4; ++i) {
        const uint8x8_t is_set = vtst_u8(counts, vdup_n_u8(static_cast<std::uint8_t>(1U << i)));
        bits[i] |= std::uint64_t{vaddv_u8(vand_u8(is_set, lane_bits))} << 8 * part;
      }
    }
  }
  // Stores 64 bytes: bit i of each byte from word i.
  static void store_patterns(const std::uint64_t* words, std::uint8_t* to) {
    const uint8x16_t lane_bits = vld1q_u8(kBits8);
    for (std::size_t part = 0; part < 4; ++part) {
      uint8x16_t patterns = vdupq_n_u8(0);
      for (unsigned i = 0; i < kTableUnits; ++i) {
        const auto byte = [&](std::size_t number) {
          return vdup_n_u8(static_cast<std::uint8_t>(words[i] >> 8 * number));
        };
        const uint8x16_t is_set =
            vtstq_u8(vcombine_u8(byte(2 * part), byte(2 * part + 1)), lane_bits);
        const uint8x16_t pattern = vdupq_n_u8(static_cast<std::uint8_t>(1U << i));
        patterns = vorrq_u8(patterns, vandq_u8(is_set, pattern));
      }
      vst1q_u8(to + 16 * part, patterns);
    }
  }
  // Multiplies the lower halves as signed integers.
  static Integers low_product(Integers one, Integers other) {
    return vmull_s32(vmovn_s64(one), vmovn_s64(other));
  }
  static std::int64_t sum(Integers numbers) { return vaddvq_s64(numbers); }
  // Adds up partial sums in the order of VectorKernels.
  static double fold(const Doubles* sums) {
    const float64x2_t pair = plus(plus(sums[0], sums[2]), plus(sums[1], sums[3]));
    return vgetq_lane_f64(pair, 0) + vgetq_lane_f64(pair, 1);
  }
  static bool any_bit(Integers numbers) {
    return (vgetq_lane_s64(numbers, 0) | vgetq_lane_s64(numbers, 1)) != 0;
  }
  static bool any_negative(Integers numbers) {
    return (vgetq_lane_s64(numbers, 0) | vgetq_lane_s64(numbers, 1)) < 0;
  }
};

struct Float32Lanes {
  static constexpr std::size_t kWidth = 4;
  static constexpr float kLowest = kLowestFloat;
  using Score = float;
  using Vector = float32x4_t;

  static Vector load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vector scores) { vst1q_f32(to, scores); }
  static Vector broadcast(float score) { return vdupq_n_f32(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) {
    return vbslq_f32(vcgtq_f32(one, other), one, other);
  }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return vbslq_f32(lanes_of_32(bits >> first), broadcast(kLowest), scores);
  }
  static Flags32 empty_mask() { return {vdupq_n_u32(0)}; }
  static Flags32 is_nan(Vector scores) { return {vmvnq_u32(vceqq_f32(scores, scores))}; }
  static unsigned at_least(Vector scores, Vector bound) {
    return Flags32{vcgeq_f32(scores, bound)};
  }
  static unsigned above(Vector scores, Vector bound) { return Flags32{vcgtq_f32(scores, bound)}; }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = uint32x4_t;
  static Counts zero_counts() { return vdupq_n_u32(0); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return vsubq_u32(counts, vcgtq_f32(score, bound));
  }
  static void store(std::uint32_t* to, Counts counts) { vst1q_u32(to, counts); }
};

struct Float64Lanes {
  static constexpr std::size_t kWidth = 2;
  static constexpr double kLowest = kLowestDouble;
  using Score = double;
  using Vector = float64x2_t;

  static Vector load(const double* from) { return vld1q_f64(from); }
  static void store(double* to, Vector scores) { vst1q_f64(to, scores); }
  static Vector broadcast(double score) { return vdupq_n_f64(score); }
  // Returns the second operand if one is NaN.
  static Vector greater_of(Vector one, Vector other) {
    return vbslq_f64(vcgtq_f64(one, other), one, other);
  }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return vbslq_f64(lanes_of_64(bits >> first), broadcast(kLowest), scores);
  }
  static Flags64 empty_mask() { return {vdupq_n_u64(0)}; }
  static Flags64 is_nan(Vector scores) {
    return {veorq_u64(vceqq_f64(scores, scores), vdupq_n_u64(~std::uint64_t{0}))};
  }
  static unsigned at_least(Vector scores, Vector bound) {
    return Flags64{vcgeq_f64(scores, bound)};
  }
  static unsigned above(Vector scores, Vector bound) { return Flags64{vcgtq_f64(scores, bound)}; }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = uint64x2_t;
  static Counts zero_counts() { return vdupq_n_u64(0); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return vsubq_u64(counts, vcgtq_f64(score, bound));
  }
  static void store(std::uint32_t* to, Counts counts) { vst1_u32(to, vmovn_u64(counts)); }
};

struct Int64Lanes {
  static constexpr std::size_t kWidth = 2;
  static constexpr std::int64_t kLowest = kLowestInteger;
  using Score = std::int64_t;
  using Vector = int64x2_t;

  static Vector load(const std::int64_t* from) { return vld1q_s64(from); }
  static void store(std::int64_t* to, Vector scores) { vst1q_s64(to, scores); }
  static Vector broadcast(std::int64_t score) { return vdupq_n_s64(score); }
  static Vector greater_of(Vector one, Vector other) {
    return vbslq_s64(vcgtq_s64(one, other), one, other);
  }
  // Replaces scores by the lowest one where a bit is set, from the bit `first` on.
  static Vector lower_where(Vector scores, std::uint64_t bits, std::size_t first) {
    return vbslq_s64(lanes_of_64(bits >> first), broadcast(kLowest), scores);
  }
  static unsigned empty_mask() { return 0; }
  static unsigned is_nan(Vector) { return 0; }
  static unsigned at_least(Vector scores, Vector bound) {
    return Flags64{vcgeq_s64(scores, bound)};
  }
  static unsigned above(Vector scores, Vector bound) { return Flags64{vcgtq_s64(scores, bound)}; }
  static std::int64_t count(std::uint64_t bits) { return __builtin_popcountll(bits); }
  using Counts = uint64x2_t;
  static Counts zero_counts() { return vdupq_n_u64(0); }
  static Counts increment_where_above(Counts counts, Vector score, Vector bound) {
    return vsubq_u64(counts, vcgtq_s64(score, bound));
  }
  static void store(std::uint32_t* to, Counts counts) { vst1_u32(to, vmovn_u64(counts)); }
};

struct ProductLanes : Float32Lanes {
  static constexpr std::size_t kPartVectors = 4;
  static constexpr std::size_t kPartUsers = 4;  // 16 sums of the 32 registers
  static Vector multiply_add(Vector one, Vector other, Vector sum) {
    return vfmaq_f32(sum, one, other);
  }
};

}  // namespace

const Kernels neon_kernels = kKernels<Lanes, Float32Lanes, Float64Lanes, Int64Lanes, ProductLanes>;

}  // namespace exactk
