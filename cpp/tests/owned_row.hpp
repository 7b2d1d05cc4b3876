// A row of scores that owns its array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "kernels/dispatch.hpp"
#include "no_checkpoint.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/scores/score_row.hpp"

namespace exactk::tests {

using FloatRow = ScoreRow<float>;
using Positions = std::vector<std::int64_t>;

struct OwnedRow {
  explicit OwnedRow(std::vector<float> of, const Positions& excluded = {},
                    std::optional<double> min_score = {}, Isa isa = isa_of(""))
      : scores(std::move(of)),
        matrix{.scores = reinterpret_cast<const std::byte*>(scores.data()),
               .type = ScoreType::float32,
               .rows = 1,
               .items = std::ssize(scores),
               .row_stride = 0,
               .item_stride = sizeof(float)},
        row(FloatRow(matrix), min_score, kernels(isa).float32) {
    row.select_user(0, no_checkpoint);
    row.exclude(excluded, no_checkpoint);
  }
  OwnedRow(const OwnedRow&) = delete;  // the row refers to the scores beside it
  OwnedRow& operator=(const OwnedRow&) = delete;

  std::vector<float> scores;
  ScoreMatrix matrix;
  RankableRow<FloatRow> row;
};

inline std::vector<float> draw_scores(std::size_t size, std::uint64_t distinct) {
  std::mt19937_64 random(size);
  std::vector<float> scores(size);
  for (float& score : scores) score = static_cast<float>(random() % distinct);
  return scores;
}

inline Positions draw_positions(std::size_t size, std::size_t count) {
  std::mt19937_64 random(count);
  Positions positions(count);
  for (std::int64_t& position : positions) position = static_cast<std::int64_t>(random() % size);
  return positions;
}

}  // namespace exactk::tests
