// Columns of numbers for a batch of users.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/table.hpp"

namespace exactk {

// Users per batch: few enough that all of their data stays in the L1 cache.
inline constexpr std::size_t kBatchSize = kTerms;

// One column per cutoff or value, with one number per user.
class BatchColumns {
 public:
  explicit BatchColumns(std::size_t columns) : values_(columns * kBatchSize) {}

  [[nodiscard]] std::span<double, kBatchSize> operator[](std::size_t column) noexcept {
    return std::span<double, kBatchSize>(&values_[column * kBatchSize], kBatchSize);
  }
  [[nodiscard]] std::span<const double, kBatchSize> operator[](std::size_t column) const noexcept {
    return std::span<const double, kBatchSize>(&values_[column * kBatchSize], kBatchSize);
  }

 private:
  std::vector<double> values_;
};

}  // namespace exactk
