// Finds items of the truth that repeat within a tie. If only the first of them counts, the
// expectation over the orders of the tie is undefined: its formulas assume that each item of the
// tie is equally likely at any of its ranks, and the first of several repeats is not.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/types.hpp"
#include "match/list_matcher.hpp"
#include "numeric/key_order.hpp"
#include "rank/scores/rankable_row.hpp"

namespace exactk {

// Stores the positions of all repeats but the first in each tie, ascending. `items`: of the row.
template <class Row>
void find_tied_repeats(RankableRow<Row>& row, const ItemPositions& items,
                       std::vector<Offset>& repeats) {
  struct TruthItem {
    Count entry;
    Row::Score score;
    Offset position;
  };
  repeats.clear();
  if (items.duplicates == 0) return;
  std::vector<TruthItem> ranked;
  in_chunks(items.truth.size(), row.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto score = row.rankable_score(static_cast<std::size_t>(items.truth[i]));
      if (score) ranked.push_back({items.entries[i], *score, items.truth[i]});
    }
  });
  // NaN is one score, below all others.
  const auto is_below = [](Row::Score one, Row::Score other) {
    return one < other || (is_nan(one) && !is_nan(other));
  };
  const auto before = [&](const TruthItem& one, const TruthItem& other) {
    if (one.entry != other.entry) return one.entry < other.entry;
    if (is_below(one.score, other.score)) return true;
    return !is_below(other.score, one.score) && one.position < other.position;
  };
  sort(std::span(ranked), before, row.run());
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const TruthItem& previous = ranked[i - 1];
    if (ranked[i].entry == previous.entry && !is_below(previous.score, ranked[i].score)) {
      repeats.push_back(ranked[i].position);
    }
  }
  sort(std::span(repeats), std::less<>(), row.run());
}

}  // namespace exactk
