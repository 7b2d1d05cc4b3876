// How long vectors are, which says whether they can be multiplied, and how far off a rounded
// product may be.
#pragma once

#include <cstddef>
#include <vector>

#include "exactk/embeddings.hpp"
#include "kernels/table.hpp"

namespace exactk {

// So many items are measured, and multiplied, together.
inline constexpr std::size_t kTileItems = 256;

// The product of two squares from here on is a number that is not 0.
inline constexpr double kSmallestSquare = 0x1p-500;

// Of the items that may be ranked, where these are the same for all users, else of all.
struct Norms {
  std::vector<double> largest_squares;  // of each tile of them
  std::vector<double> largest_biases;   // of each, if there are biases
  double largest_square = 0;
  double largest_bias = 0;
};

// Throws InputError unless all numbers are finite, no vector is too long to multiply, and, of
// those whose direction is asked for, none too short.
[[nodiscard]] Norms measure_norms(const Embeddings& source, const Kernels& kernels,
                                  const Execution& execution);

}  // namespace exactk
