// Opens a user's row of scores. If items have ids, looks them up first, because a ranker works with
// positions only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/lower_repeats.hpp"
#include "exactk/types.hpp"
#include "match/list_matcher.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// Reads the user's scores. Returns the positions of the items in the row, or null if ids are
// positions. `lower_repeats`: a buffer if repeats are collapsed, so that the highest score of an
// item counts; otherwise null.
template <class Row>
const ItemPositions* open_score_row(ScoreRanker<Row>& ranker, ListMatcher& matcher, Count user,
                                    std::span<const std::int64_t> truth,
                                    std::span<const std::int64_t> exclude,
                                    std::vector<std::int64_t>* lower_repeats = nullptr) {
  ranker.select_user(user);
  if (!ranker.row().has_ids()) {
    ranker.load_scores(exclude);
    return nullptr;
  }
  const ItemPositions& positions = matcher.find_item_positions(truth, ranker.row().ids(), exclude);
  if (lower_repeats != nullptr && positions.duplicates > 0) {
    find_lower_repeats(ranker.row(), *lower_repeats);
    matcher.leave_out(*lower_repeats);
  }
  ranker.load_scores(positions.excluded);
  return &positions;
}

}  // namespace exactk
