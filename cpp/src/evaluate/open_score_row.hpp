// Opens a user's row of scores. If items have ids, looks them up first, because a ranker works with
// positions only.
#pragma once

#include <cstdint>
#include <span>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"
#include "match/list_matcher.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// Reads the user's scores. Returns the positions of the items in the row, or null if ids are
// positions.
template <class Row>
const ItemPositions* open_score_row(ScoreRanker<Row>& ranker, ListMatcher& matcher, Count user,
                                    std::span<const std::int64_t> truth,
                                    std::span<const std::int64_t> exclude,
                                    const Checkpoint& checkpoint) {
  ranker.select_user(user, checkpoint);
  if (!ranker.row().has_ids()) {
    ranker.load_scores(exclude, checkpoint);
    return nullptr;
  }
  const ItemPositions& positions =
      matcher.find_item_positions(truth, ranker.row().ids(), exclude, checkpoint);
  ranker.load_scores(positions.excluded, checkpoint);
  return &positions;
}

}  // namespace exactk
