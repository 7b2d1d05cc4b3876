// What screening shows of a user without computing all scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "exactk/types.hpp"
#include "rank/score_order.hpp"

namespace exactk {

// How many of the items that may be ranked are above an item, or tied with it.
struct ItemRank {
  std::uint32_t position;
  Count above = 0;   // items that score more
  Count equal = 0;   // that score the same, itself among them
  Count before = 0;  // of these, those at lower positions
};

struct ScreeningResult {
  std::span<const ScoredItem<double>> best = {};  // in no order, and perhaps some more
  std::size_t depth = 0;                          // so many are requested
  bool highest_first = false;                     // of equal scores, the highest position is first
  // Of those items of the truth that are ranked, by position.
  std::optional<std::span<const ItemRank>> truth_ranks = {};
  Count length = 0;  // of the whole list, if there are truth ranks; else of the best
};

}  // namespace exactk
