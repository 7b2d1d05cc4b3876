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

using AnyScores = std::variant<ScoreMatrix, SparseScores, Embeddings>;

[[nodiscard]] Count user_count(const AnyScores& scores);

struct TopKRequest {
  AnyScores scores;
  Count k = 0;
  std::optional<Lists> exclude = {};
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  // users x k: positions of the best items, best first, padded with -1. A position is a column of a
  // matrix, a row of the item embeddings, or an offset into the arrays of sparse scores.
  std::span<std::int64_t> positions;
  std::span<double> best_scores = {};  // embeddings only: scores of these, then NaN
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if not null, incremented as threads finish users
};

// Throws InputError if the request is malformed, a score is NaN under NanScores::raise, or a
// candidate is repeated.
void topk(const TopKRequest& request);

}  // namespace exactk
