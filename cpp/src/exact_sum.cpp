#include "exact_sum.hpp"

#include <bit>
#include <cstddef>

namespace metrik {
namespace {

constexpr int kUnitScale = 80;
constexpr int kAnyScale = 1074;  // of the smallest double, 2^-1074
constexpr int kDigitBits = 32;
// 2^1024 / 2^-1074 needs 2098 bits; 62 more leave room for 2^62 terms.
constexpr std::size_t kDigits = (kAnyScale + 1024 + 62 + kDigitBits - 1) / kDigitBits;
// A digit grows by less than 2^32 an addition, so that 2^30 of them cannot overflow it.
constexpr std::int64_t kMaxPending = std::int64_t{1} << 30U;

struct Parts {
  std::uint64_t mantissa;
  int exponent;  // the value is mantissa x 2^exponent
  bool negative;
};

Parts parts(double value) noexcept {
  constexpr std::uint64_t kImplicitOne = std::uint64_t{1} << 52U;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52U) & 0x7ffU);
  const std::uint64_t fraction = bits & (kImplicitOne - 1);
  return {biased == 0 ? fraction : fraction | kImplicitOne, (biased == 0 ? 1 : biased) - 1075,
          (bits >> 63U) != 0};
}

__extension__ using UInt128 = unsigned __int128;
constexpr unsigned kLowBits = 96;  // of a sum of squares; 31 more hold what is not carried yet
constexpr UInt128 kLowMask = (UInt128{1} << kLowBits) - 1;

struct Fixed {
  std::uint64_t mantissa;
  unsigned shift;  // the value is mantissa x 2^shift, in units of 2^-80
};

// A term in [0, 1], rounded to a multiple of 2^-80. It is in [0, 1] unless another thread writes to
// the input meanwhile; then the sum is wrong, but no shift leaves its range.
Fixed unit_fixed(double term) noexcept {
  const Parts term_parts = parts(term >= 0 && term <= 1 ? term : 0);
  const int shift = term_parts.exponent + kUnitScale;
  if (shift >= 0) return {term_parts.mantissa, static_cast<unsigned>(shift)};
  if (shift <= -64) return {0, 0};
  const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(-shift - 1);
  return {(term_parts.mantissa + half) >> static_cast<unsigned>(-shift), 0};
}

// Sign-extended, so that the integer reads the same at any number of bytes.
template <class Word>
void append_bytes(std::vector<std::uint8_t>& bytes, Word word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
}

}  // namespace

ExactSum::ExactSum(Exactness exactness)
    : exactness_(exactness), digits_(exactness == Exactness::any ? kDigits : 0) {}

void ExactSum::add(double term) noexcept {
  if (exactness_ == Exactness::any) {
    add_wide(term);
    return;
  }
  const Fixed fixed = unit_fixed(term);
  fixed_ += Int128{fixed.mantissa} << fixed.shift;
}

void ExactSum::add_square(double term) noexcept {
  const Fixed fixed = unit_fixed(term);
  const UInt128 square = UInt128{fixed.mantissa} * fixed.mantissa;  // below 2^107
  const unsigned shift = 2 * fixed.shift;                           // at most 56
  fixed_ += static_cast<Int128>((square << shift) & kLowMask);
  fixed_high_ += static_cast<Int128>(square >> (kLowBits - shift));
  carry();
}

void ExactSum::add_wide(double term) noexcept {
  constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << kDigitBits) - 1;
  const Parts term_parts = parts(term);
  const auto offset = static_cast<unsigned>(term_parts.exponent + kAnyScale);
  const std::size_t first = offset / kDigitBits;
  const unsigned shift = offset % kDigitBits;
  UInt128 shifted = UInt128{term_parts.mantissa} << shift;  // at most 84 bits: three digits
  for (std::size_t i = first; i < first + 3; ++i) {
    const auto digit = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & kLowDigit);
    digits_[i] += term_parts.negative ? -digit : digit;
    shifted >>= kDigitBits;
  }
  if (++pending_ >= kMaxPending) carry();
}

void ExactSum::add(const ExactSum& other) noexcept {
  fixed_ += other.fixed_;
  fixed_high_ += other.fixed_high_;
  if (pending_ + other.pending_ + 1 >= kMaxPending) carry();
  for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] += other.digits_[i];
  pending_ += other.pending_ + 1;
  if (exactness_ == Exactness::unit_squares) carry();
}

void ExactSum::clear() noexcept {
  fixed_ = 0;
  fixed_high_ = 0;
  digits_.assign(digits_.size(), 0);
  pending_ = 0;
}

// Leaves every digit but the last within its base.
void ExactSum::carry() noexcept {
  if (exactness_ == Exactness::unit_squares) {
    fixed_high_ += fixed_ >> kLowBits;
    fixed_ &= static_cast<Int128>(kLowMask);
    return;
  }
  std::int64_t above = 0;
  for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
    const std::int64_t digit = digits_[i] + above;
    above = digit >> kDigitBits;
    digits_[i] = digit - (above << kDigitBits);
  }
  if (!digits_.empty()) digits_.back() += above;
  pending_ = 0;
}

ExactInteger ExactSum::integer() const {
  ExactInteger result;
  if (exactness_ == Exactness::unit) {
    result.scale = kUnitScale;
    append_bytes(result.bytes, fixed_, sizeof(fixed_));
    return result;
  }
  if (exactness_ == Exactness::unit_squares) {
    result.scale = 2 * kUnitScale;
    append_bytes(result.bytes, fixed_, kLowBits / 8);
    append_bytes(result.bytes, fixed_high_, sizeof(fixed_high_));
    return result;
  }
  ExactSum carried = *this;
  carried.carry();
  result.scale = kAnyScale;
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    append_bytes(result.bytes, carried.digits_[i], kDigitBits / 8);
  }
  append_bytes(result.bytes, carried.digits_.back(), sizeof(std::int64_t));
  return result;
}

}  // namespace metrik
