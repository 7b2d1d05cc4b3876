#include "numeric/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace exactk {
namespace {

// An addition grows a digit by less than 2^32, so 2^30 additions cannot overflow it.
constexpr std::int64_t kMaxPendingAdditions = std::int64_t{1} << 30U;

__extension__ using UInt128 = unsigned __int128;

// Writes the low bytes of a word, of which there are as many as in the span.
template <class Word>
void write_bytes(Word word, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
  }
}

}  // namespace

void UnitSums::add_repeated(double term, Count times, const Kernels& kernels) noexcept {
  UnitSums once;
  once.add({&term, 1}, kernels);
  total_ += once.total_ * times;
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i] += once.squares_[i] * times;
}

bool UnitSums::add(std::span<const double> terms, const Kernels& kernels) noexcept {
  std::array<double, kTerms> padded;  // NOLINT(*-member-init): filled where it is used
  const double* first = terms.data();
  if (terms.size() < kTerms) {  // pad with zeros, which change no sum
    const auto rest = std::ranges::copy(terms, padded.begin()).out;
    std::fill(rest, padded.end(), 0.0);
    first = padded.data();
  }
  UnitDigits sums;  // NOLINT(*-member-init): the kernel fills it
  if (!kernels.sum_unit_terms(first, &sums)) return false;
  Int128 sum = 0;
  for (const std::int64_t digits : sums.total) sum = (sum << kDigitBits) + digits;
  total_ += sum;
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i] += sums.squares[i];
  return true;
}

void UnitSums::add(const UnitSums& other) noexcept {
  total_ += other.total_;
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i] += other.squares_[i];
}

ExactInteger UnitSums::total() const {
  ExactInteger result{.bytes = std::vector<std::uint8_t>(sizeof(total_)), .scale = kUnitScale};
  write_bytes(total_, result.bytes);
  return result;
}

ExactInteger UnitSums::squares() const {
  constexpr Int128 kLowDigit = (Int128{1} << kDigitBits) - 1;
  UInt128 low = 0;  // all digits except the most significant, carried
  Int128 carried = 0;
  for (std::size_t i = squares_.size() - 1; i > 0; --i) {
    const Int128 digits = squares_[i] + carried;
    low |= static_cast<UInt128>(digits & kLowDigit) << (kDigitBits * (squares_.size() - 1 - i));
    carried = digits >> kDigitBits;
  }
  constexpr std::size_t kLowBytes = 13;  // of four digits, which have 4 bits more
  const Int128 high = ((squares_[0] + carried) << 4U) | static_cast<Int128>(low >> 104U);
  ExactInteger result{.bytes = std::vector<std::uint8_t>(kLowBytes + sizeof(high)),
                      .scale = 2 * kUnitScale};
  const std::span bytes(result.bytes);
  write_bytes(low, bytes.first(kLowBytes));
  write_bytes(high, bytes.subspan(kLowBytes));
  return result;
}

void WideSum::add(double term) noexcept {
  constexpr std::uint64_t kImplicitOne = std::uint64_t{1} << 52U;
  constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << kWordBits) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const bool negative = (bits >> 63U) != 0;
  const auto biased = static_cast<unsigned>((bits >> 52U) & 0x7ffU);
  const std::uint64_t fraction = bits & (kImplicitOne - 1);
  const std::uint64_t mantissa = biased == 0 ? fraction : fraction | kImplicitOne;
  const unsigned offset =
      biased == 0 ? 0 : biased - 1;  // the value is mantissa x 2^(offset - 1074)
  UInt128 shifted = UInt128{mantissa} << (offset % kWordBits);  // at most 84 bits: three digits
  const std::size_t first = offset / kWordBits;
  for (std::size_t i = first; i < first + 3; ++i) {
    const auto digit = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & kLowDigit);
    digits_[i] += negative ? -digit : digit;
    shifted >>= kWordBits;
  }
  if (++pending_additions_ >= kMaxPendingAdditions) carry();
}

void WideSum::add(const WideSum& other) noexcept {
  if (pending_additions_ + other.pending_additions_ + 1 >= kMaxPendingAdditions) carry();
  for (std::size_t i = 0; i < kDigits; ++i) digits_[i] += other.digits_[i];
  pending_additions_ += other.pending_additions_ + 1;
}

// Propagates carries: every digit except the last ends up within its base.
void WideSum::carry() noexcept {
  std::int64_t carried = 0;
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    const std::int64_t digit = digits_[i] + carried;
    carried = digit >> kWordBits;
    digits_[i] = digit - (carried << kWordBits);
  }
  digits_.back() += carried;
  pending_additions_ = 0;
}

ExactInteger WideSum::integer() const {
  WideSum normalized = *this;
  normalized.carry();
  constexpr std::size_t kWordBytes = kWordBits / 8;
  constexpr std::size_t kLowBytes = (kDigits - 1) * kWordBytes;
  ExactInteger result{.bytes = std::vector<std::uint8_t>(kLowBytes + sizeof(std::int64_t)),
                      .scale = kScale};
  const std::span bytes(result.bytes);
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    write_bytes(normalized.digits_[i], bytes.subspan(i * kWordBytes, kWordBytes));
  }
  write_bytes(normalized.digits_.back(), bytes.subspan(kLowBytes));
  return result;
}

}  // namespace exactk
