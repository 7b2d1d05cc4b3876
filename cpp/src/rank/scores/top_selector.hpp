// Selects the best items of a row: a bound that enough items reach rules out nearly all others, and
// only the rest are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"
#include "rank/score_order.hpp"
#include "rank/scores/group_maxima.hpp"
#include "rank/scores/rankable_row.hpp"

namespace exactk {

template <class Row>
class TopSelector {
 public:
  using Key = Row::Score;
  using Item = ScoredItem<Key>;

  // Selects the best `depth` items, or fewer if the row is shorter. Requires the maxima to be read.
  void select(RankableRow<Row>& row, GroupMaxima<Row>& maxima, std::size_t depth, Ties ties);
  // Selects from a shortlist that includes the best.
  void select_from(std::span<const ScoredItem<double>> shortlist, RankableRow<Row>& row,
                   std::size_t depth, Ties ties);

  // The items selected last, best first.
  [[nodiscard]] std::span<const Item> items() const noexcept { return items_; }
  // Returns the first rank whose item ties with the next, or 0 if there is none.
  [[nodiscard]] Count first_tied_rank() const noexcept;
  // Whether a rankable item at one of the positions ties with a selected item other than itself.
  [[nodiscard]] bool may_tie(RankableRow<Row>& row, std::span<const std::int64_t> positions) const;

 private:
  void gather_all(RankableRow<Row>& row);
  void gather_reaching(RankableRow<Row>& row, GroupMaxima<Row>& maxima, std::size_t depth,
                       Ties ties);
  void gather_nan(RankableRow<Row>& row, std::size_t depth, Ties ties);
  void put_in_order(RankableRow<Row>& row, std::size_t depth, Ties ties);
  [[nodiscard]] bool sort_by_counting(const RankableRow<Row>& row, std::size_t depth);

  std::vector<Item> items_;
  std::vector<Item> buffer_;
  std::vector<std::uint32_t> reaching_groups_;
};

}  // namespace exactk
