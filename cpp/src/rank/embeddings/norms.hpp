// Norms of vectors. They decide whether vectors can be multiplied, and bound the error of a rounded
// product.
#pragma once

#include <cstddef>
#include <vector>

#include "base/run.hpp"
#include "exactk/embeddings.hpp"
#include "kernels/table.hpp"

namespace exactk {

// Items that are measured, and multiplied, together.
inline constexpr std::size_t kTileItems = 256;

// The product of two squares of at least this size does not underflow to 0.
inline constexpr double kSmallestSquare = 0x1p-500;

// Norms of the items that may be ranked if these are the same for all users, otherwise of all
// items.
struct Norms {
  std::vector<double> largest_squares;  // per tile
  std::vector<double> largest_biases;   // per tile, if there are biases
  double largest_square = 0;
  double largest_bias = 0;
};

// Throws InputError if a number is not finite, a vector is too long to multiply, or a vector that
// needs a direction (cosine) is too short.
[[nodiscard]] Norms measure_norms(const Embeddings& source, const Kernels& kernels, const Run& run);

}  // namespace exactk
