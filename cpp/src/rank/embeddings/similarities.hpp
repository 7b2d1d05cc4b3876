// The exact scores of pairs, reproducible to the last bit: computed in double precision, with the
// terms of a pair added in a fixed order. All other products only decide which pairs to score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/read_once.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"

namespace exactk {

// A user's vector, prepared for comparison with items.
struct UserVector {
  std::vector<double> numbers;
  double square = 0;  // of its length
};

class Similarities {
 public:
  Similarities(const Embeddings& source, const Kernels& kernels);

  // Returns how many scores take a few milliseconds: whole kernel chunks, at most kChunk.
  [[nodiscard]] std::size_t chunk_size() const noexcept;

  void read_user(Count user, UserVector& vector);
  // Computes the squared lengths of consecutive rows, or of the given rows.
  void compute_squares(const Vectors& vectors, Count first, std::span<double> squares);
  void compute_squares(const Vectors& vectors, std::span<const std::int64_t> rows,
                       std::span<double> squares);

  // Computes the scores of consecutive items, or of the given items.
  void score(const UserVector& user, Count first, std::span<double> scores);
  void score(const UserVector& user, std::span<const std::int64_t> items, std::span<double> scores);

  // Writes an item's vector times a factor, rounded to single precision.
  void scale_item(Count item, double factor, float* scaled) const;

 private:
  template <class ItemOf>
  void score_blocks(const UserVector& user, const ItemOf& item_of, std::span<double> scores);
  template <class Number, class ItemOf>
  void score_block(const UserVector& user, const VectorKernels<Number>& kernels,
                   const ItemOf& item_of, std::span<double> scores);
  template <class Number>
  void point_to_rows(const Vectors& vectors, std::span<const Number*> rows, const auto& row_of);
  template <class Number, class RowOf>
  void square_rows(const Vectors& vectors, const VectorKernels<Number>& kernels,
                   const RowOf& row_of, std::span<double> squares);
  template <class RowOf>
  void square_rows(const Vectors& vectors, const RowOf& row_of, std::span<double> squares);

  const Embeddings& source_;
  const Kernels& kernels_;
  std::size_t width_;
  std::vector<float> float_rows_;  // converted half-precision rows
};

// Reads an item id that another thread may change meanwhile, clamped to existing items.
[[nodiscard]] inline Count read_item(const std::int64_t& id, const Embeddings& source) noexcept {
  const std::int64_t once = read_once(id);
  return std::clamp<Count>(once, 0, source.items.rows - 1);
}

// Returns one number of a vector as a double, without rounding.
[[nodiscard]] double number_at(const Vectors& vectors, Count row, std::size_t column) noexcept;

}  // namespace exactk
