#include "compare/columns.hpp"

#include <algorithm>
#include <cmath>

namespace exactk {
namespace {

// Beyond, powers of 2 that scale a column may overflow.
constexpr int kMaxExponent = 900;

Int128 joined(std::span<const std::int64_t> digits) {
  Int128 number = 0;
  for (const std::int64_t digit : digits) number = (number << kDigitBits) + digit;
  return number;
}

double power_of_2(int exponent) { return std::ldexp(1.0, exponent); }

}  // namespace

void Column::assign(const double* numbers, const Mask& present, std::size_t size,
                    Resolution resolution, const Kernels& kernels) noexcept {
  numbers_ = numbers;
  present_ = present;
  size_ = size;
  exponent_ = 0;
  if (resolution == Resolution::unit) {
    is_split_ = true;
    kernels.columns.split_unit(numbers, present.data(), size, digits_.data(), &sums_);
    return;
  }
  double most = 0;
  for_each_present([&](std::size_t i) { most = std::max(most, std::abs(numbers[i])); });
  std::frexp(most, &exponent_);
  is_split_ = std::abs(exponent_) <= kMaxExponent;
  if (!is_split_) return;
  is_split_ =
      kernels.columns.split(numbers, present.data(), size, power_of_2(kTopScale - exponent_),
                            power_of_2(exponent_ - kTopScale), digits_.data(), &sums_);
}

void Column::add_to(FixedPointSum& sum) const noexcept {
  if (is_split_) {
    sum.add(joined(sums_.total), exponent_ - kUnitScale);
  } else {
    for_each_present([&](std::size_t i) { sum.add(numbers_[i]); });
  }
}

ColumnProduct::ColumnProduct(const Column& one, const Column& other,
                             const Kernels& kernels) noexcept
    : one_(&one), other_(&other) {
  if (!one.is_split_ || !other.is_split_) return;
  if (&one == &other) {
    std::ranges::copy(one.sums_.squares, digits_.begin());
  } else {
    kernels.columns.multiply(one.digits_.data(), other.digits_.data(), one.size_, digits_.data());
  }
}

void ColumnProduct::add_to(FixedPointSum& sum) const noexcept {
  if (one_->is_split_ && other_->is_split_) {
    // Three digits fit 128 bits, not all of them.
    constexpr std::size_t kHigh = 3;
    const int exponent = one_->exponent_ + other_->exponent_ - 2 * kUnitScale;
    const std::span<const std::int64_t> digits = digits_;
    sum.add(joined(digits.first(kHigh)), exponent + kDigitBits * static_cast<int>(kDigits - kHigh));
    sum.add(joined(digits.subspan(kHigh)), exponent);
  } else {
    one_->for_each_present(
        [&](std::size_t i) { sum.add_product(one_->numbers_[i], other_->numbers_[i]); });
  }
}

void ColumnSet::assign(std::span<const double* const> columns, const Mask& present,
                       std::size_t size, Resolution resolution, const Kernels& kernels) noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns_[i].assign(columns[i], present, size, resolution, kernels);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i; j < columns.size(); ++j) {
      products_[i][j] = ColumnProduct(columns_[i], columns_[j], kernels);
    }
  }
}

}  // namespace exactk
