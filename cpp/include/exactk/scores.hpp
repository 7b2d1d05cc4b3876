// Scores to rank by, as the caller stores them: a matrix, or sparse scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"

namespace exactk {

enum class ScoreType : std::uint8_t {
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64
};

// Positions within a row are held in 32 bits.
inline constexpr Count kMaxScoredItems = (Count{1} << 32U) - 1;

// The score of user u and item i lies at scores + u * user_stride + i * item_stride, in bytes. An
// item's id is its column. What scores less than min_score is not recommended.
struct ScoreMatrix {
  const std::byte* scores = nullptr;
  ScoreType type = ScoreType::float32;
  Count users = 0;
  Count items = 0;
  std::ptrdiff_t user_stride = 0;
  std::ptrdiff_t item_stride = 0;
  std::optional<double> min_score = {};
  // The only items that may be ranked: one row for all users or a row a user, each ascending.
  std::optional<Lists> candidates = {};
};

// The score of the item at `offset` of the items lies at scores + offset * stride, in bytes. What
// scores less than min_score is not recommended.
struct SparseScores {
  Lists items;  // in any order
  const std::byte* scores = nullptr;
  ScoreType type = ScoreType::float32;
  Count size = 0;  // scores
  std::ptrdiff_t stride = 0;
  std::optional<double> min_score = {};
};

// Throws InputError unless there are so few users and items that they can be counted, min_score is
// a number, and each row of the candidates has columns, in ascending order.
void validate_scores(const ScoreMatrix& scores, const std::string& argument,
                     const Execution& execution = {});

// Throws InputError unless the items are valid lists of lengths that can be counted, each with a
// score, and min_score is a number. Returns the bitwise "or" of the ids.
std::uint64_t validate_scores(const SparseScores& scores, const std::string& argument,
                              const Execution& execution = {});

}  // namespace exactk
