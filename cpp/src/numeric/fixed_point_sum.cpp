#include "numeric/fixed_point_sum.hpp"

#include <algorithm>
#include <bit>

namespace exactk {
namespace {

constexpr int kWordBits = 32;
constexpr std::int64_t kBase = std::int64_t{1} << kWordBits;
// An addition grows a digit by less than 2^32, so 2^30 additions cannot overflow it.
constexpr std::int64_t kMaxAdditions = std::int64_t{1} << 30U;
constexpr int kBitsOfCount = 62;

__extension__ using UInt128 = unsigned __int128;

struct Dyadic {  // integer x 2^exponent
  std::int64_t integer;
  int exponent;
};

Dyadic dyadic_of(double number) noexcept {
  constexpr std::uint64_t kImplicitOne = std::uint64_t{1} << 52U;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto biased = static_cast<int>((bits >> 52U) & 0x7ffU);
  const std::uint64_t fraction = bits & (kImplicitOne - 1);
  const auto mantissa = static_cast<std::int64_t>(biased == 0 ? fraction : fraction | kImplicitOne);
  return {bits >> 63U != 0 ? -mantissa : mantissa, std::max(biased, 1) - 1075};
}

}  // namespace

FixedPointSum::FixedPointSum(int scale, int integer_bits)
    : scale_(scale),
      digits_(static_cast<std::size_t>((scale + integer_bits + kBitsOfCount) / kWordBits + 1)),
      begin_(digits_.size()) {}

void FixedPointSum::add(Int128 integer, int exponent) noexcept {
  constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << kWordBits) - 1;
  const auto position = static_cast<unsigned>(exponent + scale_);
  const unsigned shift = position % kWordBits;
  const bool is_negative = integer < 0;
  auto rest = static_cast<UInt128>(is_negative ? -integer : integer);
  std::size_t i = position / kWordBits;
  // Terms exceed the width only if another thread writes to the input.
  if (integer == 0 || i >= digits_.size()) return;
  begin_ = std::min(begin_, i);
  for (std::uint64_t carried = 0; (rest != 0 || carried != 0) && i < digits_.size(); ++i) {
    const std::uint64_t shifted =
        ((static_cast<std::uint64_t>(rest) & kLowDigit) << shift) | carried;
    const auto digit = static_cast<std::int64_t>(shifted & kLowDigit);
    digits_[i] += is_negative ? -digit : digit;
    carried = shifted >> unsigned{kWordBits};
    rest >>= unsigned{kWordBits};
  }
  end_ = std::max(end_, i);
  if (++pending_additions_ >= kMaxAdditions) carry();
}

void FixedPointSum::add(double term) noexcept {
  const Dyadic dyadic = dyadic_of(term);
  add(dyadic.integer, dyadic.exponent);
}

void FixedPointSum::add_product(double factor, double other) noexcept {
  const Dyadic one = dyadic_of(factor);
  const Dyadic two = dyadic_of(other);
  add(Int128{one.integer} * two.integer, one.exponent + two.exponent);
}

void FixedPointSum::add(const FixedPointSum& other) noexcept {
  if (pending_additions_ + other.pending_additions_ + 1 >= kMaxAdditions) carry();
  for (std::size_t i = other.begin_; i < other.end_; ++i) digits_[i] += other.digits_[i];
  begin_ = std::min(begin_, other.begin_);
  end_ = std::max(end_, other.end_);
  pending_additions_ += other.pending_additions_ + 1;
}

void FixedPointSum::clear() noexcept {
  for (std::size_t i = begin_; i < end_; ++i) digits_[i] = 0;
  begin_ = digits_.size();
  end_ = 0;
  pending_additions_ = 0;
}

// Propagates carries: every digit ends up within its base, except that the last one in use has the
// sign.
void FixedPointSum::carry() noexcept {
  std::int64_t carried = 0;
  for (std::size_t i = begin_; i < end_; ++i) {
    const std::int64_t digit = digits_[i] + carried;
    const bool is_last =
        i + 1 == digits_.size() || (i + 1 == end_ && digit == static_cast<std::int32_t>(digit));
    carried = is_last ? 0 : digit >> kWordBits;
    digits_[i] = digit - carried * kBase;
    if (i + 1 == end_ && !is_last) ++end_;
  }
  pending_additions_ = 0;
}

ExactInteger FixedPointSum::integer() const {
  FixedPointSum normalized = *this;
  normalized.carry();
  ExactInteger result{.bytes = {}, .scale = scale_};
  const auto append = [&](std::int64_t digit, int bytes) {
    for (int i = 0; i < bytes; ++i)
      result.bytes.push_back(static_cast<std::uint8_t>(digit >> (8 * i)));
  };
  for (std::size_t i = 0; i + 1 < normalized.end_; ++i) {
    append(normalized.digits_[i], kWordBits / 8);
  }
  append(normalized.end_ > 0 ? normalized.digits_[normalized.end_ - 1] : 0, sizeof(std::int64_t));
  shorten(result);
  return result;
}

void shorten(ExactInteger& integer) {
  std::vector<std::uint8_t>& bytes = integer.bytes;
  const auto repeats_sign = [&] {  // of the byte before the last
    const std::size_t last = bytes.size() - 1;
    return last > 0 && bytes[last] == (bytes[last - 1] >= 0x80 ? 0xff : 0);
  };
  while (repeats_sign()) bytes.pop_back();
}

}  // namespace exactk
