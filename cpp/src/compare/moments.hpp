// The sums of one pair of systems and value, while they grow.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/columns.hpp"
#include "exactk/paired_sums.hpp"
#include "numeric/fixed_point_sum.hpp"

namespace exactk {

// The columns of a value, as paired_sums.hpp numbers them.
struct ColumnLayout {
  std::size_t rows;  // of each system
  bool has_weights;  // otherwise the last column is 1, and its sums follow from the others
  Resolution resolution;

  ColumnLayout(const PairedRequest& request, const PairedValue& value)
      : rows(value.rows.size()),
        has_weights(request.weights.has_value() || request.clusters.has_value()),
        resolution(value.is_unit && !value.is_geometric && !has_weights ? Resolution::unit
                                                                        : Resolution::full) {}

  // Columns per system.
  [[nodiscard]] std::size_t system_columns() const noexcept { return rows + (has_weights ? 1 : 0); }
  [[nodiscard]] std::size_t columns() const noexcept { return 2 * rows + 1; }
  [[nodiscard]] std::size_t products() const noexcept { return columns() * (columns() + 1) / 2; }
  [[nodiscard]] std::size_t weight_column() const noexcept { return 2 * rows; }
  // Returns the index of the product of columns i <= j.
  [[nodiscard]] std::size_t product(std::size_t i, std::size_t j) const noexcept {
    return i * columns() - i * (i + 1) / 2 + j;
  }
  [[nodiscard]] int sums_scale() const noexcept;
  [[nodiscard]] int products_scale() const noexcept { return 2 * sums_scale(); }
  // Bytes of the result, here and as Python integers.
  [[nodiscard]] Count result_bytes() const noexcept;
  [[nodiscard]] Count moments_bytes() const noexcept;
};

// The sums of the columns of one system, and of their products, while they grow: those of all its
// pairs, as long as all systems have the same units.
class SystemMoments {
 public:
  explicit SystemMoments(const ColumnLayout& layout);

  void add(const ColumnSet& set) noexcept;
  void clear() noexcept;
  [[nodiscard]] const FixedPointSum& sum(std::size_t i) const noexcept { return sums_[i]; }
  [[nodiscard]] const FixedPointSum& product(std::size_t i, std::size_t j) const noexcept {
    return products_[i * sums_.size() + j];
  }

 private:
  std::vector<FixedPointSum> sums_;
  std::vector<FixedPointSum> products_;  // of columns i <= j
};

class Moments {
 public:
  explicit Moments(const ColumnLayout& layout);

  // Adds the units of a chunk, which both sets of columns have.
  void add_columns(const ColumnSet& system, const ColumnSet& baseline, const Kernels& kernels);
  // The same in two parts: the products of both systems' rows, and what is of one system.
  void add_products(const ColumnSet& system, const ColumnSet& baseline, const Kernels& kernels);
  void add_systems(const SystemMoments& system, const SystemMoments& baseline);
  void add(const Moments& other) noexcept;
  void clear() noexcept;
  [[nodiscard]] PairedSums paired_sums() const;

  [[nodiscard]] PairedCounts& counts() noexcept { return counts_; }

 private:
  template <class AddSum, class AddProduct>
  void add_system(std::size_t first_column, std::size_t count, const AddSum& add_sum,
                  const AddProduct& add_product);

  ColumnLayout layout_;
  PairedCounts counts_;
  std::vector<FixedPointSum> sums_;      // those of the last column only with weights
  std::vector<FixedPointSum> products_;  // likewise
};

}  // namespace exactk
