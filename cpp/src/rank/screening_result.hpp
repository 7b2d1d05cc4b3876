// What is found of a user without making all scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "exactk/types.hpp"
#include "rank/score_order.hpp"

namespace exactk {

// Where an item stands among those that may be ranked.
struct ItemRank {
  std::uint32_t item;  // its position
  Count above = 0;     // items that score more
  Count equal = 0;     // that score the same, itself among them
  Count before = 0;    // of these, those at lower positions
};

struct ScreeningResult {
  std::span<const ScoredItem<double>> best = {};  // in no order, and perhaps some more
  std::size_t depth = 0;                          // so many are wanted
  bool highest = false;                           // of equal scores, the highest position is first
  // Of those items of the truth that are ranked, by position.
  std::optional<std::span<const ItemRank>> standings = {};
  Count length = 0;  // of the whole list, if there are standings; else of the best
};

}  // namespace exactk
