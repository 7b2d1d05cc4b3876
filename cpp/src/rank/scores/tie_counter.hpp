// Counts the items of a row that tie with each of some, and those that score more.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"
#include "rank/ranked_list.hpp"
#include "rank/score_order.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

// Beyond so many keys, comparing the row with each costs more than searching, for each of the row,
// its position among them.
inline constexpr std::size_t kMaxComparedKeys = 64;

// In all calls, `items` are the same, best first.
template <class Row>
class TieCounter {
 public:
  using Key = Row::Score;
  using Item = ScoredItem<Key>;

  void count(RankableRow<Row>& row, std::span<const Item> items, const Checkpoint& checkpoint);
  // Instead of counting: the ranks that screening has counted, beside the items.
  void use_screened(std::span<const Item> items, std::span<const ItemRank> ranks);

  // Whether an item ties with any other.
  [[nodiscard]] bool has_ties() const noexcept;
  // Whether an item ties with one of the row that is not among them.
  [[nodiscard]] bool has_ties_beyond(std::span<const Item> items) const noexcept;
  // Appends the tie of each item, and the ranks that they have if they stand first in it.
  void record(std::span<const Item> items, std::vector<Count>& ranks, std::vector<Tie>& ties) const;

 private:
  void add(Key key, Count times);

  std::vector<Key> keys_;            // of the items, each once
  std::vector<Count> equal_counts_;  // by key
  // Above a key are its above count and the beating counts down to it: these count an item at the
  // first key that it beats alone.
  std::vector<Count> above_counts_;
  std::vector<Count> beating_counts_;
  std::vector<Count> below_counts_;  // by key
};

}  // namespace exactk
