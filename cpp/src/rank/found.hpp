// The best items of a user, where they are found without reading all scores.
#pragma once

#include <cstddef>
#include <span>

#include "rank/score_order.hpp"

namespace metrik {

struct Found {
  std::span<const ScoredItem<double>> best;  // in no order, and perhaps some more
  std::size_t depth = 0;                     // so many are wanted
  bool highest = false;                      // of equal scores, the highest position is first
};

}  // namespace metrik
