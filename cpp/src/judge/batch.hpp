// What is known of a few users at a time, in columns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/table.hpp"

namespace exactk {

// Users that are scored together: so few that all of theirs stays in the nearest cache.
inline constexpr std::size_t kBatch = kTerms;

// A column a cutoff or value, in it a place a user.
class BatchColumns {
 public:
  explicit BatchColumns(std::size_t columns) : numbers_(columns * kBatch) {}

  [[nodiscard]] std::span<double, kBatch> operator[](std::size_t column) noexcept {
    return std::span<double, kBatch>(&numbers_[column * kBatch], kBatch);
  }

 private:
  std::vector<double> numbers_;
};

}  // namespace exactk
