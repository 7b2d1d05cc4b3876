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

class Moments {
 public:
  explicit Moments(const ColumnLayout& layout);

  // Adds the units of a chunk, which both sets of columns have.
  void add_columns(const ColumnSet& system, const ColumnSet& baseline, const Kernels& kernels);
  void add(const Moments& other) noexcept;
  void clear() noexcept;
  [[nodiscard]] PairedSums paired_sums() const;

  [[nodiscard]] PairedCounts& counts() noexcept { return counts_; }

 private:
  void add_system(const ColumnSet& set, std::size_t first_column, std::size_t set_columns);

  ColumnLayout layout_;
  PairedCounts counts_;
  std::vector<FixedPointSum> sums_;      // those of the last column only with weights
  std::vector<FixedPointSum> products_;  // likewise
};

}  // namespace exactk
