// Ranks by scores what is named by ids: they are looked up before, as a ranking knows positions
// alone.
#pragma once

#include <cstdint>
#include <span>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"
#include "match/list_matcher.hpp"
#include "rank/scores/score_ranking.hpp"

namespace exactk {

// Reads the user's scores. Returns where in the row the items stand, or null if their ids are the
// positions.
template <class Row>
const ItemPositions* start(ScoreRanker<Row>& ranking, ListMatcher& matcher, Count user,
                           std::span<const std::int64_t> truth,
                           std::span<const std::int64_t> exclude, const Checkpoint& checkpoint) {
  ranking.open(user, checkpoint);
  if (!ranking.row().named()) {
    ranking.start(exclude, checkpoint);
    return nullptr;
  }
  const ItemPositions& positions = matcher.locate(truth, ranking.row().ids(), exclude, checkpoint);
  ranking.start(positions.excluded, checkpoint);
  return &positions;
}

}  // namespace exactk
