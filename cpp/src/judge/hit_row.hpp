// The input of the metrics for one user: the judged items that the ranking reaches, and their
// ranks. It has no ids, and does not depend on how items were ranked (by a list or by scores).
#pragma once

#include <algorithm>
#include <span>

#include "exactk/types.hpp"
#include "rank/ranked_list.hpp"

namespace exactk {

// A judged item that the ranking reaches.
struct JudgedItem {
  Count rank;
  Count hits;   // relevant items down to this one, inclusive
  double gain;  // 0 if not relevant
  bool relevant;
};

// The relevant items of a tie, or a single relevant item.
struct TiedHits {
  Tie tie;
  Count hits;        // in the tie
  Count hits_above;  // above the tie
  double gain;       // sum over the hits in the tie
};

// One user, as the metrics read it.
struct HitRow {
  HitRow() noexcept {}  // NOLINT(modernize-use-equals-default): that would clear all bytes first

  std::span<const JudgedItem> judged_items;  // by rank
  std::span<const TiedHits> tied_hits;       // by rank; for Ties::expected and optimistic
  std::span<const double> ideal_gains;       // of relevant items, highest first; empty if all are 1
  std::span<const Count> pooled_ranks;       // of items with a negative grade that is no judgement
  std::span<const Count> list_ranks;         // of the list's items; empty: 1, 2, 3, ...
  Count first_hit = 0;                       // rank of the first relevant item; 0 if none
  Count recommended = 0;                     // length of the list
  Count relevant = 0;                        // relevant items in the truth
  Count nonrelevant = 0;                     // judged items that are not relevant
  bool is_empty = true;                      // nothing is recommended, judged or not
  bool unit_gains = true;                    // every relevant item has gain 1
  bool lacks_values = false;                 // gains are values, and a relevant item has none
  bool hits_repeat = false;                  // a relevant item counts at more than one rank

  // Returns the rank of the list's last item.
  [[nodiscard]] Count depth() const noexcept {
    return list_ranks.empty() ? recommended : list_ranks.back();
  }
  // Returns the number of items in the list down to a rank.
  [[nodiscard]] Count length_at(Count rank) const noexcept {
    if (list_ranks.empty()) return std::min(rank, recommended);
    return std::ranges::upper_bound(list_ranks, rank) - list_ranks.begin();
  }
};

// Counts down to a cutoff.
struct HitCounts {
  Count judged = 0;
  Count hits = 0;  // relevant ones among them
};

}  // namespace exactk
