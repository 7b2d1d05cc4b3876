// Ranks a user's truth within a row without sorting: the rank of an item is one more than the
// number of items that beat it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"
#include "rank/ranked_list.hpp"
#include "rank/score_order.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/scores/tie_counter.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

template <class Row>
class RankCounter {
 public:
  using Key = Row::Score;
  using Item = ScoredItem<Key>;
  using Better = BetterItem<Key>;

  // Ranks the rankable items of the truth. Unless `ties` is strict, records the tie of each item,
  // and the truth comes first in it. `screened`: ranks from screening, by position, if available.
  void count(RankableRow<Row>& row, const TruthPositions& truth, Ties ties,
             const std::optional<std::span<const ItemRank>>& screened);

  // Ranks those down to the last of the best items, `list`, as `count` does if `ties` is not
  // strict. `is_split`: whether its last item ties with the next one.
  void count_listed(RankableRow<Row>& row, const TruthPositions& truth, std::span<const Item> list,
                    bool is_split);

  // The items ranked last, best first: each position once, with its first entry in the truth.
  [[nodiscard]] std::span<const Item> items() const noexcept { return items_; }
  [[nodiscard]] std::span<const Count> entries() const noexcept { return entries_; }
  [[nodiscard]] std::span<const Count> ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::span<const Tie> ties() const noexcept { return ties_; }  // if recorded
  // Whether one of them ties with another item of the row; only after strict `ties`.
  [[nodiscard]] bool has_ties() const noexcept { return has_ties_; }

 private:
  void collect_items(RankableRow<Row>& row, const TruthPositions& truth, Ties ties,
                     std::optional<Key> least);
  void locate_truth(RankableRow<Row>& row, const TruthPositions& truth);
  [[nodiscard]] bool look_up(const std::optional<std::span<const ItemRank>>& screened);
  void use_screened_ranks(bool highest_first);
  void rank_strictly(RankableRow<Row>& row, Ties ties, bool is_screened);
  [[nodiscard]] std::size_t first_beaten(const Item& item, const Better& better) const;
  void rank_each(RankableRow<Row>& row, const Better& order);
  void add_ranks_by_position(RankableRow<Row>& row, bool highest_first);
  void rank_together(RankableRow<Row>& row, const Better& order);
  void add_beating_counts(Count sign);

  struct TruthItem : Item {
    Count entry;
  };

  std::vector<Item> items_;
  std::vector<Count> entries_;
  std::vector<Count> ranks_;
  std::vector<Tie> ties_;
  bool has_ties_ = false;
  // Scratch space of a call.
  std::vector<TruthItem> truth_items_;
  std::vector<TruthItem> buffer_;
  std::vector<ItemRank> screened_ranks_;  // parallel to the items
  TieCounter<Row> tie_counter_;
  std::vector<Count> beating_counts_;        // items of the row, by the first item that they beat
  std::vector<Key> bounds_;                  // compared with the row
  std::vector<Count> above_counts_;          // by bound: items of the row that beat it
  std::vector<std::size_t> position_order_;  // of the items
};

}  // namespace exactk
