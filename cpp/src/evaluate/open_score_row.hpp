// Opens a user's row of scores. If items have ids, looks them up first, because a ranker works with
// positions only.
#pragma once

#include <cstdint>
#include <span>

#include "exactk/types.hpp"
#include "match/list_matcher.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// Reads the user's scores. Returns the positions of the items in the row, or null if ids are
// positions.
template <class Row>
const ItemPositions* open_score_row(ScoreRanker<Row>& ranker, ListMatcher& matcher, Count user,
                                    std::span<const std::int64_t> truth,
                                    std::span<const std::int64_t> exclude) {
  ranker.select_user(user);
  if (!ranker.row().has_ids()) {
    ranker.load_scores(exclude);
    return nullptr;
  }
  const ItemPositions& positions = matcher.find_item_positions(truth, ranker.row().ids(), exclude);
  ranker.load_scores(positions.excluded);
  return &positions;
}

}  // namespace exactk
