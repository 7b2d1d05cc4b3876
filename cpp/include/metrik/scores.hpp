// A matrix of scores, as the caller stores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "metrik/types.hpp"

namespace metrik {

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
};

// Throws InputError unless there are so few users and items that they can be counted, and min_score
// is a number.
void validate_scores(const ScoreMatrix& scores, const std::string& argument);

}  // namespace metrik
