// Counts the items of a row that tie with each of some items, and those that score more.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exactk/types.hpp"
#include "rank/ranked_list.hpp"
#include "rank/score_order.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

// With more keys, comparing the row with each key costs more than a binary search per item of the
// row.
inline constexpr std::size_t kMaxComparedKeys = 64;

// All calls for one row take the same `items`, best first.
template <class Row>
class TieCounter {
 public:
  using Key = Row::Score;
  using Item = ScoredItem<Key>;

  void count(RankableRow<Row>& row, std::span<const Item> items);
  // Uses the ranks from screening, parallel to the items, instead of counting.
  void use_screened(std::span<const Item> items, std::span<const ItemRank> ranks);

  // Uses the best items of the row, instead of counting. `last_equal`: how many items have the key
  // of the last one, of which the list may have fewer. No item is worse than the last one.
  void use_list(std::span<const Item> items, std::span<const Item> list, Count last_equal);

  // Whether an item ties with any other.
  [[nodiscard]] bool has_ties() const noexcept;
  // Returns how many items of the row have the key of the item counted last.
  [[nodiscard]] Count last_equal_count() const noexcept { return equal_counts_.back(); }
  // Whether an item ties with an item of the row that is not among them.
  [[nodiscard]] bool has_ties_beyond(std::span<const Item> items) const noexcept;
  // Appends the tie of each item, and its rank if the items come first in their ties.
  void record(std::span<const Item> items, std::vector<Count>& ranks, std::vector<Tie>& ties) const;

 private:
  void add(Key key, Count times);

  std::vector<Key> keys_;            // distinct keys of the items
  std::vector<Count> equal_counts_;  // by key
  // The number of items above a key is its above count plus the beating counts up to it. The
  // beating count of a key includes the items for which it is the first key that they beat.
  std::vector<Count> above_counts_;
  std::vector<Count> beating_counts_;
  std::vector<Count> below_counts_;  // by key
};

}  // namespace exactk
