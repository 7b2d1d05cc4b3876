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

// Sign-extended, so that the integer reads the same at any number of bytes.
template <class Word>
void append_bytes(std::vector<std::uint8_t>& bytes, Word word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
}

}  // namespace

ExactSum::ExactSum(Exactness exactness) : digits_(exactness == Exactness::any ? kDigits : 0) {}

void ExactSum::add(double term) noexcept {
  if (!digits_.empty()) {
    add_wide(term);
    return;
  }
  const Parts term_parts = parts(term);
  const int shift = term_parts.exponent + kUnitScale;
  if (shift >= 0) {
    fixed_ += Int128{term_parts.mantissa} << shift;
  } else if (shift > -64) {
    const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(-shift - 1);
    fixed_ += (term_parts.mantissa + half) >> static_cast<unsigned>(-shift);
  }
}

void ExactSum::add_wide(double term) noexcept {
  constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << kDigitBits) - 1;
  const Parts term_parts = parts(term);
  const auto offset = static_cast<unsigned>(term_parts.exponent + kAnyScale);
  const std::size_t first = offset / kDigitBits;
  const unsigned shift = offset % kDigitBits;
  __extension__ using UInt128 = unsigned __int128;
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
  if (pending_ + other.pending_ + 1 >= kMaxPending) carry();
  for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] += other.digits_[i];
  pending_ += other.pending_ + 1;
}

void ExactSum::clear() noexcept {
  fixed_ = 0;
  digits_.assign(digits_.size(), 0);
  pending_ = 0;
}

// Leaves every digit but the last in [0, 2^32).
void ExactSum::carry() noexcept {
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
  if (digits_.empty()) {
    result.scale = kUnitScale;
    append_bytes(result.bytes, fixed_, sizeof(fixed_));
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
