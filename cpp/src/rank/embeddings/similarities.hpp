// What users and items score, to the last bit: in double precision, the terms of a pair added in
// one order. Whatever else is made of vectors only tells which pairs are worth the trouble.
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

// A user's vector as it is compared with items.
struct UserVector {
  std::vector<double> numbers;
  double square = 0;  // of its length
};

class Similarities {
 public:
  Similarities(const Embeddings& source, const Kernels& kernels);

  // So many scores are made in some milliseconds: whole chunks of the kernels, up to kChunk.
  [[nodiscard]] std::size_t chunk_size() const noexcept;

  void read_user(Count user, UserVector& vector);
  // The squares of the lengths of some rows.
  void compute_squares(const Vectors& vectors, Count first, std::span<double> squares);

  // The scores of consecutive items, and of some items.
  void score(const UserVector& user, Count first, std::span<double> scores);
  void score(const UserVector& user, std::span<const std::int64_t> items, std::span<double> scores);

  // An item's vector times a factor, rounded.
  void scale_item(Count item, double factor, float* scaled) const;

 private:
  template <class ItemOf>
  void score_blocks(const UserVector& user, const ItemOf& item_of, std::span<double> scores);
  template <class Number, class ItemOf>
  void score_block(const UserVector& user, const VectorKernels<Number>& kernels,
                   const ItemOf& item_of, std::span<double> scores);
  template <class Number>
  void point_to_rows(const Vectors& vectors, std::span<const Number*> rows, const auto& row_of);
  template <class Number>
  void square_rows(const Vectors& vectors, const VectorKernels<Number>& kernels, Count first,
                   std::span<double> squares);

  const Embeddings& source_;
  const Kernels& kernels_;
  std::size_t width_;
  std::vector<float> float_rows_;  // rows of half precision
};

// The item of an id that another thread may change meanwhile: one that there is, whatever comes.
[[nodiscard]] inline Count read_item(const std::int64_t& id, const Embeddings& source) noexcept {
  const std::int64_t once = read_once(id);
  return std::clamp<Count>(once, 0, source.items.rows - 1);
}

// A number of a vector, as it is.
[[nodiscard]] double number_at(const Vectors& vectors, Count row, std::size_t column) noexcept;

}  // namespace exactk
