// Ranks a user's items by score without a full sort: selects the best, and counts the ranks of the
// truth.
//
// The order is strict: by score, highest first, with NaN below all others; then by id or, under
// Ties::input_order, by position. Items are identified by position in the user's row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/scores.hpp"
#include "kernels/table.hpp"
#include "numeric/key_order.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/ranked_list.hpp"
#include "rank/scores/group_maxima.hpp"
#include "rank/scores/rank_counter.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/scores/score_row.hpp"
#include "rank/scores/top_selector.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

template <class Row>
class ScoreRanker {
 public:
  using Key = Row::Score;

  ScoreRanker(Row row, std::optional<double> min_score, const ScoreKernels<Key>& kernels)
      : row_(std::move(row), min_score, kernels) {}

  // Selects the user that the following calls are about.
  void select_user(Count user) {
    row_.select_user(user);
    has_list_ = false;
  }
  // Reads the user's scores, unless none can be NaN; then reading waits until it is needed, because
  // screening may make it unnecessary. Ignores positions in `excluded` beyond the end of the row.
  void load_scores(std::span<const std::int64_t> excluded);
  void load_scores(Count user, std::span<const std::int64_t> excluded) {
    select_user(user);
    load_scores(excluded);
  }
  [[nodiscard]] RankableRow<Row>& row() noexcept { return row_; }

  void use_screening(std::optional<ScreeningResult> screening) noexcept {
    screening_ = screening;
    has_list_ = false;
  }
  [[nodiscard]] bool has_best(Count depth, Ties ties) const noexcept {
    return screening_ && std::cmp_less_equal(depth, screening_->depth) &&
           screening_->highest_first == (ties == Ties::highest_id);
  }
  [[nodiscard]] bool has_truth_ranks() const noexcept {
    return screening_ && screening_->truth_ranks.has_value();
  }

  // Returns the best items, valid until the next call. Free if the last call ranked as many.
  RankedList best(Count depth, Ties ties);
  // Returns the truth entries of the best items. If entries share a position, the first counts.
  RankedList best_entries(Count depth, Ties ties, const TruthPositions& truth);

  // Returns the score of an item of the last call of `best`.
  [[nodiscard]] Key score_at(std::size_t index) const noexcept {
    return selector_.items()[index].key;
  }
  // Returns the first rank whose item ties with the next in the last call of `best`, or 0 if there
  // is none.
  [[nodiscard]] Count first_tied_rank() const noexcept { return selector_.first_tied_rank(); }
  // Whether the item at the index ties with the next in the last call of `best`.
  [[nodiscard]] bool ties_with_next(std::size_t index) const noexcept {
    return index + 1 < selector_.items().size() &&
           is_same_key(score_at(index), score_at(index + 1));
  }

  // Returns the entries and ranks of the truth's ranked items, however deep, valid until the next
  // call. Unless `ties` is strict, records the tie of each item, and the truth comes first in it.
  RankedList ranks_of(const TruthPositions& truth, Ties ties);

  // The same for ties that are not strict, but only of the truth's items that may be among the
  // best.
  RankedList ranks_of_best(Count depth, const TruthPositions& truth);

  // Whether any item at the positions may tie with another. The answer is exact for the items of
  // the list after `best`, and for all items after a strict `ranks_of`.
  [[nodiscard]] bool may_tie(std::span<const std::int64_t> positions) {
    return has_list_ ? selector_.may_tie(row_, positions) : counter_.has_ties();
  }

 private:
  [[nodiscard]] Count list_length();
  void select_best(Count depth, Count length, Ties ties);

  RankableRow<Row> row_;
  GroupMaxima<Row> maxima_;
  TopSelector<Row> selector_;
  RankCounter<Row> counter_;
  std::optional<ScreeningResult> screening_;  // of the user, if available
  bool has_list_ = false;                     // whether the last call ranked the best items
  Ties list_ties_ = Ties::lowest_id;          // if so, in which order
  Count list_depth_ = 0;                      // and how many
  // The last ranked list.
  std::vector<Offset> offsets_;
  std::vector<Count> entries_;               // of the best
  std::vector<std::uint32_t> list_indices_;  // of the best, by position in the row
};

using AnyScoreRanker = std::variant<ScoreRanker<ScoreRow<float>>, ScoreRanker<ScoreRow<double>>,
                                    ScoreRanker<ScoreRow<std::int64_t>>, ScoreRanker<EmbeddingRow>>;

[[nodiscard]] AnyScoreRanker make_score_ranker(const ScoreMatrix& matrix, const Kernels& kernels,
                                               const Run& run);
[[nodiscard]] AnyScoreRanker make_score_ranker(const SparseScores& scores, const Kernels& kernels,
                                               const Run& run);
[[nodiscard]] AnyScoreRanker make_score_ranker(const Embeddings& embeddings, const Kernels& kernels,
                                               const Run& run);

}  // namespace exactk
