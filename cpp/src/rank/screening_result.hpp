// The result of screening a user without computing all scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "exactk/types.hpp"
#include "rank/score_order.hpp"

namespace exactk {

// How many rankable items are above an item, or tie with it.
struct ItemRank {
  std::uint32_t position;
  Count above = 0;   // items that score more
  Count equal = 0;   // items that tie, including the item itself
  Count before = 0;  // ties at lower positions
};

struct ScreeningResult {
  std::span<const ScoredItem<double>> best = {};  // in no order, possibly with some more
  std::size_t depth = 0;                          // number of best items requested
  bool highest_first = false;                     // whether ties go to the highest position
  // Ranks of the ranked items of the truth, by position.
  std::optional<std::span<const ItemRank>> truth_ranks = {};
  Count length = 0;  // of the whole list if there are truth ranks, otherwise of the best
};

}  // namespace exactk
