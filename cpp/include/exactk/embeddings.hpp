// Users and items as vectors: a score is what a pair of them has in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "exactk/lists.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// What the score is: the product of the two vectors; that over their lengths; or minus their
// distance.
enum class Similarity : std::uint8_t { dot, cosine, euclidean };

inline constexpr Count kMaxWidth = Count{1} << 16U;

// Rows of numbers of float16, float32 or float64, side by side within a row.
struct Vectors {
  std::string argument = {};  // what messages call them
  const std::byte* numbers = nullptr;
  ScoreType type = ScoreType::float32;
  Count rows = 0;
  std::ptrdiff_t row_stride = 0;  // in bytes
};

// BLAS's product of matrices in single precision, as Fortran calls it. It must round as IEEE 754
// says, and may add in any order.
using Sgemm = void(char* transpose_a, char* transpose_b, int* m, int* n, int* k, float* alpha,
                   float* a, int* lda, float* b, int* ldb, float* beta, float* c, int* ldc);

// An item's id is its row. What scores less than min_score is not recommended.
struct Embeddings {
  Vectors users;
  Vectors items;
  Count width = 0;  // of both
  Similarity similarity = Similarity::dot;
  std::optional<Vectors> item_bias = {};  // a number an item, added to its product
  bool float32_scores = false;            // whether scores are rounded to single precision
  std::optional<double> min_score = {};
  // The only items that may be ranked: one row for all users or a row a user, each ascending.
  std::optional<Lists> candidates = {};
  Sgemm* sgemm = nullptr;  // null: there is none, and scores are computed one by one
};

// Throws InputError unless the matrices are such that the rest can be read: their types,
// sizes, min_score and the candidates.
void validate_embeddings(const Embeddings& embeddings, const Execution& execution = {});

}  // namespace exactk
