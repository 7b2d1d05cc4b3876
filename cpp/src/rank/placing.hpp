// Ranks by scores what is named by ids: they are looked up before, as a ranking knows positions
// alone.
#pragma once

#include <cstdint>
#include <span>

#include "checkpoint.hpp"
#include "exactk/types.hpp"
#include "rank/given.hpp"
#include "rank/score_ranking.hpp"

namespace exactk {

// Reads the user's scores. Returns where in the row the items stand, or null if their ids are the
// positions.
template <class Row>
const Places* start(KeyRanking<Row>& ranking, GivenRanking& given, Count user,
                    std::span<const std::int64_t> truth, std::span<const std::int64_t> exclude,
                    const Checkpoint& checkpoint) {
  ranking.open(user, checkpoint);
  if (!ranking.row().named()) {
    ranking.start(exclude, checkpoint);
    return nullptr;
  }
  const Places& places = given.place(truth, ranking.row().ids(), exclude, checkpoint);
  ranking.start(places.excluded, checkpoint);
  return &places;
}

}  // namespace exactk
