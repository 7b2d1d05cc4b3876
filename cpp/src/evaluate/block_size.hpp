// The number of users that a thread evaluates at a time.
#pragma once

#include <algorithm>

#include "exactk/embeddings.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Cost of reading all users, in ids; reading a score takes a fraction of the time of an id.
[[nodiscard]] inline Count cost_in_ids(const Lists& lists) { return lists.indptr.back(); }
[[nodiscard]] inline Count cost_in_ids(const ScoreMatrix& scores) {
  if (scores.candidates && scores.candidates->row_count() > 1)
    return cost_in_ids(*scores.candidates);
  constexpr Count kScoresPerId = 16;
  return std::min(scores.user_count() * scores.items, Count{1} << 62U) / kScoresPerId;
}
[[nodiscard]] inline Count cost_in_ids(const SparseScores& scores) { return scores.size; }
[[nodiscard]] inline Count cost_in_ids(const Embeddings& embeddings) {
  const bool is_per_user = embeddings.candidates && embeddings.candidates->row_count() > 1;
  const Count scores =
      is_per_user ? cost_in_ids(*embeddings.candidates)
                  : std::min(embeddings.users.rows * embeddings.items.rows, Count{1} << 46U);
  return scores * embeddings.width / 16;  // scored one by one, 16 numbers cost as much as an id
}

// Blocks of about 2^14 ids: large enough that the shared counter costs nothing, small enough to
// share out work, and about as long as starting a thread. Rows of scores are processed in runs,
// because memory is prefetched.
[[nodiscard]] inline Count users_per_block(Count users, Count ids) {
  return std::clamp<Count>((users << 14U) / (ids + 1), 1, 1024);
}

}  // namespace exactk
