// Scores to rank by, in the caller's memory: a dense matrix or sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

// Positions within a row are 32-bit.
inline constexpr Count kMaxScoredItems = (Count{1} << 32U) - 1;

// The score in row r and column i lies at scores + r * row_stride + i * item_stride, in bytes. An
// item's id is its column. Items that score below min_score are not recommended.
struct ScoreMatrix {
  const std::byte* scores = nullptr;
  ScoreType type = ScoreType::float32;
  Count rows = 0;
  Count items = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t item_stride = 0;
  std::optional<double> min_score = {};
  // The only items that may be ranked: one row for all users or one per user, each ascending.
  std::optional<Lists> candidates = {};
  // The row of each user, or -1 for a user without scores; nullopt: user u has row u.
  std::optional<std::span<const Offset>> user_rows = {};
  // By column: numbers that order tied items as their ids do; empty: ids are columns.
  std::span<const std::int64_t> tie_ids = {};

  [[nodiscard]] Count user_count() const noexcept {
    return user_rows ? static_cast<Count>(user_rows->size()) : rows;
  }
  [[nodiscard]] Offset row_of(Count user) const noexcept {
    return user_rows ? (*user_rows)[static_cast<std::size_t>(user)] : user;
  }
  [[nodiscard]] bool has(Count user) const noexcept { return row_of(user) >= 0; }
};

// The score of items[offset] lies at scores + offset * stride, in bytes. Items that score below
// min_score are not recommended.
struct SparseScores {
  Lists items;  // in any order
  const std::byte* scores = nullptr;
  ScoreType type = ScoreType::float32;
  Count size = 0;  // number of scores
  std::ptrdiff_t stride = 0;
  std::optional<double> min_score = {};
};

// Throws InputError if there are too many rows and items to count their pairs, min_score is NaN, a
// user's row does not exist, tie_ids are not one per item, or a row of the candidates is not an
// ascending list of columns.
void validate_scores(const ScoreMatrix& scores, const std::string& argument,
                     const Execution& execution = {});

// Throws InputError if the items are not valid lists of at most kMaxScoredItems items each, an item
// has no score, or min_score is NaN. Returns the bitwise "or" of the ids.
std::uint64_t validate_scores(const SparseScores& scores, const std::string& argument,
                              const Execution& execution = {});

}  // namespace exactk
