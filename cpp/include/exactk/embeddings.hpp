// Users and items as vectors; a score is the similarity of a user's and an item's vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "exactk/lists.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The score of a pair: the dot product, the cosine, or the negated Euclidean distance.
enum class Similarity : std::uint8_t { dot, cosine, euclidean };

inline constexpr Count kMaxWidth = Count{1} << 16U;

// A matrix of float16, float32 or float64 numbers, contiguous within each row.
struct Vectors {
  std::string argument = {};  // the name in error messages
  const std::byte* numbers = nullptr;
  ScoreType type = ScoreType::float32;
  Count rows = 0;
  std::ptrdiff_t row_stride = 0;  // in bytes
};

// The id of an item is its row. Items that score below min_score are not recommended.
struct Embeddings {
  Vectors users;
  Vectors items;
  Count width = 0;  // of both matrices
  Similarity similarity = Similarity::dot;
  std::optional<Vectors> item_bias = {};  // one number per item, added to its product
  bool float32_scores = false;            // whether to round scores to single precision
  std::optional<double> min_score = {};
  // The only items that may be ranked: one row for all users or one per user, each ascending.
  std::optional<Lists> candidates = {};
  // present[u] == 0 means that the user has no list, whatever the vector; empty: every user has
  // one.
  std::span<const std::uint8_t> present = {};

  [[nodiscard]] bool has(Count user) const noexcept {
    return present.empty() || present[static_cast<std::size_t>(user)] != 0;
  }
};

// Throws InputError if the types, the sizes, min_score or the candidates are invalid. The rest can
// be read safely only after this check.
void validate_embeddings(const Embeddings& embeddings, const Execution& execution = {});

}  // namespace exactk
