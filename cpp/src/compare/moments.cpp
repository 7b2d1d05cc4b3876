#include "compare/moments.hpp"

#include <algorithm>
#include <utility>

#include "numeric/exact_sum.hpp"

namespace exactk {
namespace {

// 2^1024 is beyond every double, and 2^-1074 is the smallest.
constexpr int kFullScale = 1074;
constexpr int kFullBits = 1024;

int integer_bits(const ColumnLayout& layout) {
  return layout.resolution == Resolution::unit ? 0 : kFullBits;
}

// Returns integer x 2^-scale with the scale of another integer.
ExactInteger with_scale(const ExactInteger& integer, int scale) {
  const auto shift = static_cast<std::size_t>(scale - integer.scale);
  const bool is_negative = integer.bytes.back() >= 0x80;
  ExactInteger result{.bytes = std::vector<std::uint8_t>(shift / 8), .scale = scale};
  unsigned carried = 0;
  for (const std::uint8_t byte : integer.bytes) {
    carried |= unsigned{byte} << shift % 8;
    result.bytes.push_back(static_cast<std::uint8_t>(carried & 0xffU));
    carried >>= 8U;
  }
  if (shift % 8 != 0) {
    const unsigned sign = is_negative ? 0xffU << shift % 8 : 0;
    result.bytes.push_back(static_cast<std::uint8_t>((carried | sign) & 0xffU));
  }
  shorten(result);
  return result;
}

ExactInteger integer_of(Count count, int scale) {
  FixedPointSum sum(scale, 0);
  sum.add(Int128{count}, 0);
  return sum.integer();
}

}  // namespace

int ColumnLayout::sums_scale() const noexcept {
  return resolution == Resolution::unit ? kUnitScale : kFullScale;
}

Count ColumnLayout::result_bytes() const noexcept {
  const Count integer = resolution == Resolution::unit ? 160 : 800;
  return static_cast<Count>(sizeof(PairedSums)) +
         static_cast<Count>(columns() + products()) * integer;
}

Count ColumnLayout::moments_bytes() const noexcept {
  const Count sum = sums_scale() + integer_bits(*this);  // eight bytes for each 32 bits
  return static_cast<Count>(sizeof(Moments)) +
         static_cast<Count>(columns() + 2 * products()) * (sum / 4 + 64);
}

SystemMoments::SystemMoments(const ColumnLayout& layout)
    : sums_(layout.system_columns(), FixedPointSum(layout.sums_scale(), integer_bits(layout))),
      products_(sums_.size() * sums_.size(),
                FixedPointSum(layout.products_scale(), 2 * integer_bits(layout))) {}

void SystemMoments::add(const ColumnSet& set) noexcept {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    set[i].add_to(sums_[i]);
    for (std::size_t j = i; j < sums_.size(); ++j) {
      set.product(i, j).add_to(products_[i * sums_.size() + j]);
    }
  }
}

void SystemMoments::clear() noexcept {
  for (FixedPointSum& sum : sums_) sum.clear();
  for (FixedPointSum& sum : products_) sum.clear();
}

Moments::Moments(const ColumnLayout& layout)
    : layout_(layout),
      sums_(layout.columns(), FixedPointSum(layout.sums_scale(), integer_bits(layout))),
      products_(layout.products(),
                FixedPointSum(layout.products_scale(), 2 * integer_bits(layout))) {}

// Adds the sums of the first columns of a system, and of their products with all of its columns.
template <class AddSum, class AddProduct>
void Moments::add_system(std::size_t first_column, std::size_t count, const AddSum& add_sum,
                         const AddProduct& add_product) {
  const auto column_of = [&](std::size_t i) {
    return i < layout_.rows ? first_column + i : layout_.weight_column();
  };
  for (std::size_t i = 0; i < count; ++i) {
    add_sum(i, sums_[column_of(i)]);
    for (std::size_t j = i; j < layout_.system_columns(); ++j) {
      add_product(i, j, products_[layout_.product(column_of(i), column_of(j))]);
    }
  }
}

void Moments::add_columns(const ColumnSet& system, const ColumnSet& baseline,
                          const Kernels& kernels) {
  const auto add_set = [&](const ColumnSet& set, std::size_t first_column, std::size_t count) {
    add_system(
        first_column, count, [&](std::size_t i, FixedPointSum& sum) { set[i].add_to(sum); },
        [&](std::size_t i, std::size_t j, FixedPointSum& sum) { set.product(i, j).add_to(sum); });
  };
  add_set(system, 0, layout_.system_columns());
  add_set(baseline, layout_.rows, layout_.rows);  // the weights are the same
  add_products(system, baseline, kernels);
}

void Moments::add_products(const ColumnSet& system, const ColumnSet& baseline,
                           const Kernels& kernels) {
  const std::size_t rows = layout_.rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      const ColumnProduct product(system[i], baseline[j], kernels);
      product.add_to(products_[layout_.product(i, rows + j)]);
    }
  }
}

void Moments::add_systems(const SystemMoments& system, const SystemMoments& baseline) {
  const auto add_moments = [&](const SystemMoments& moments, std::size_t first_column,
                               std::size_t count) {
    add_system(
        first_column, count, [&](std::size_t i, FixedPointSum& sum) { sum.add(moments.sum(i)); },
        [&](std::size_t i, std::size_t j, FixedPointSum& sum) { sum.add(moments.product(i, j)); });
  };
  add_moments(system, 0, layout_.system_columns());
  add_moments(baseline, layout_.rows, layout_.rows);
}

void Moments::add(const Moments& other) noexcept {
  counts_.users += other.counts_.users;
  counts_.only_system += other.counts_.only_system;
  counts_.only_baseline += other.counts_.only_baseline;
  counts_.wins += other.counts_.wins;
  counts_.losses += other.counts_.losses;
  counts_.units += other.counts_.units;
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].add(other.sums_[i]);
  for (std::size_t i = 0; i < products_.size(); ++i) products_[i].add(other.products_[i]);
}

void Moments::clear() noexcept {
  counts_ = {};
  for (FixedPointSum& sum : sums_) sum.clear();
  for (FixedPointSum& sum : products_) sum.clear();
}

PairedSums Moments::paired_sums() const {
  PairedSums result{counts_, {}, {}};
  for (const FixedPointSum& sum : sums_) result.sums.push_back(sum.integer());
  for (const FixedPointSum& sum : products_) result.products.push_back(sum.integer());
  if (layout_.has_weights) return result;
  const std::size_t weight = layout_.weight_column();
  for (std::size_t i = 0; i < weight; ++i) {
    result.products[layout_.product(i, weight)] =
        with_scale(result.sums[i], layout_.products_scale());
  }
  result.sums[weight] = integer_of(counts_.units, layout_.sums_scale());
  result.products[layout_.product(weight, weight)] =
      integer_of(counts_.units, layout_.products_scale());
  return result;
}

}  // namespace exactk
