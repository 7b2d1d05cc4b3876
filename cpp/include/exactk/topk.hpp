// The best items of each user.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "exactk/conventions.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/isa.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Scores of any kind.
using AnyScores = std::variant<ScoreMatrix, SparseScores, Embeddings>;

[[nodiscard]] Count user_count(const AnyScores& scores);

struct TopKRequest {
  AnyScores scores;
  Count k = 0;
  std::optional<Lists> exclude;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  // users x k: the positions of the best items, best first, then -1. Of a matrix or of embeddings,
  // columns or rows; of sparse scores, their offsets in the arrays.
  std::span<std::int64_t> positions;
  std::span<double> best_scores = {};  // of these items, then NaN: of embeddings alone, else empty
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if any, users are added as threads finish them
};

// Throws InputError where the request is malformed, a score is NaN and must not be, or a candidate
// is repeated.
void topk(const TopKRequest& request);

}  // namespace exactk
