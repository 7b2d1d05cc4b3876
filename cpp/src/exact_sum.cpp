#include "exact_sum.hpp"

#include <bit>
#include <cstddef>

namespace metrik {
namespace {

constexpr int kUnitScale = 80;
constexpr double kHalfScale = 0x1p40;
// A digit grows by less than 2^32 an addition, so that 2^30 of them cannot overflow it.
constexpr std::int64_t kMaxPending = std::int64_t{1} << 30U;

__extension__ using UInt128 = unsigned __int128;

struct Rounded {
  double number;
  std::int64_t integer;
};

// To the nearest integer, half to even. |number| <= 2^50. Adding 1.5 x 2^52 leaves no bits for a
// fraction, and the integer in the low bits of the sum.
Rounded rounded(double number) noexcept {
  constexpr double kNoFraction = 0x1.8p52;
  const double sum = number + kNoFraction;
  return {sum - kNoFraction,
          std::bit_cast<std::int64_t>(sum) - std::bit_cast<std::int64_t>(kNoFraction)};
}

template <class Word>
void append_bytes(std::vector<std::uint8_t>& bytes, Word word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
}

}  // namespace

void UnitSums::add(std::span<const double> terms) noexcept {
  for (; terms.size() > kStride; terms = terms.subspan(kStride)) add_some(terms.first(kStride));
  add_some(terms);
}

void UnitSums::add_some(std::span<const double> terms) noexcept {
  // Three loops: most users have no hit and a value of 0, which costs the first loop alone; what
  // the second does, it does to several terms at once.
  std::array<double, kStride>
      nonzero;  // NOLINT(*-member-init): all are filled as far as they are read
  std::size_t count = 0;
  for (const double term : terms) {
    nonzero[count] = term;
    count += term > 0 ? 1 : 0;
  }
  std::array<std::int64_t, kStride> highs;  // NOLINT(*-member-init)
  std::array<std::int64_t, kStride> lows;   // NOLINT(*-member-init)
  std::int64_t high_sum = 0;
  std::int64_t low_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double scaled = nonzero[i] * kHalfScale;
    const Rounded high = rounded(scaled);
    const Rounded low = rounded((scaled - high.number) * kHalfScale);  // the difference is exact
    highs[i] = high.integer;
    lows[i] = low.integer;
    high_sum += high.integer;
    low_sum += low.integer;
  }
  Int128 high_high = 0;
  Int128 high_low = 0;
  Int128 low_low = 0;
  for (std::size_t i = 0; i < count; ++i) {
    high_high += Int128{highs[i]} * highs[i];
    high_low += Int128{highs[i]} * lows[i];
    low_low += Int128{lows[i]} * lows[i];
  }
  total_ += (Int128{high_sum} << 40U) + low_sum;
  high_high_ += high_high;
  high_low_ += high_low;
  low_low_ += low_low;
}

void UnitSums::add(const UnitSums& other) noexcept {
  total_ += other.total_;
  high_high_ += other.high_high_;
  high_low_ += other.high_low_;
  low_low_ += other.low_low_;
}

ExactInteger UnitSums::total() const {
  ExactInteger result{.bytes = {}, .scale = kUnitScale};
  append_bytes(result.bytes, total_, sizeof(total_));
  return result;
}

// high_high 2^80 + 2 high_low 2^40 + low_low, 40 bits at a time.
ExactInteger UnitSums::squares() const {
  constexpr UInt128 kLowMask = (UInt128{1} << 40U) - 1;
  ExactInteger result{.bytes = {}, .scale = 2 * kUnitScale};
  const Int128 low = low_low_;
  append_bytes(result.bytes, low & static_cast<Int128>(kLowMask), 5);
  const Int128 middle = (low >> 40U) + 2 * high_low_;
  append_bytes(result.bytes, middle & static_cast<Int128>(kLowMask), 5);
  append_bytes(result.bytes, (middle >> 40U) + high_high_, sizeof(Int128));
  return result;
}

void WideSum::add(double term) noexcept {
  constexpr std::uint64_t kImplicitOne = std::uint64_t{1} << 52U;
  constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << kDigitBits) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const bool negative = (bits >> 63U) != 0;
  const auto biased = static_cast<unsigned>((bits >> 52U) & 0x7ffU);
  const std::uint64_t fraction = bits & (kImplicitOne - 1);
  const std::uint64_t mantissa = biased == 0 ? fraction : fraction | kImplicitOne;
  const unsigned offset =
      biased == 0 ? 0 : biased - 1;  // the value is mantissa x 2^(offset - 1074)
  UInt128 shifted = UInt128{mantissa} << (offset % kDigitBits);  // at most 84 bits: three digits
  const std::size_t first = offset / kDigitBits;
  for (std::size_t i = first; i < first + 3; ++i) {
    const auto digit = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & kLowDigit);
    digits_[i] += negative ? -digit : digit;
    shifted >>= kDigitBits;
  }
  if (++pending_ >= kMaxPending) carry();
}

void WideSum::add(const WideSum& other) noexcept {
  if (pending_ + other.pending_ + 1 >= kMaxPending) carry();
  for (std::size_t i = 0; i < kDigits; ++i) digits_[i] += other.digits_[i];
  pending_ += other.pending_ + 1;
}

// Leaves every digit but the last within its base.
void WideSum::carry() noexcept {
  std::int64_t above = 0;
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    const std::int64_t digit = digits_[i] + above;
    above = digit >> kDigitBits;
    digits_[i] = digit - (above << kDigitBits);
  }
  digits_.back() += above;
  pending_ = 0;
}

ExactInteger WideSum::integer() const {
  WideSum carried = *this;
  carried.carry();
  ExactInteger result{.bytes = {}, .scale = kScale};
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    append_bytes(result.bytes, carried.digits_[i], kDigitBits / 8);
  }
  append_bytes(result.bytes, carried.digits_.back(), sizeof(std::int64_t));
  return result;
}

}  // namespace metrik
