// Ranks the items of a user by their scores, without sorting what nobody asks for. A bound that at
// least so many scores reach follows from maxima of groups; only what reaches it is looked at
// again.
//
// The order is one and strict: by score, highest first, NaN below all others; then by id or, under
// Ties::input_order, by position. Items are told apart by their positions in the user's row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/conventions.hpp"
#include "exactk/scores.hpp"
#include "kernels/table.hpp"
#include "numeric/key_order.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/ranked_list.hpp"
#include "rank/score_order.hpp"
#include "rank/scores/score_row.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

template <class Row>
class ScoreRanker {
 public:
  using Key = Row::Score;

  ScoreRanker(Row row, std::optional<double> min_score, const ScoreKernels<Key>& kernels);

  // What follows is about this user, until the next.
  void open(Count user, const Checkpoint& checkpoint) { row_.start(user, checkpoint); }
  [[nodiscard]] const Row& row() const noexcept { return row_; }

  // Reads the user's scores, or, if none can be NaN, as soon as that is needed: `found` may make
  // it needless. Beyond the end of the row, positions stand for nothing.
  void start(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint);
  void know(std::optional<ScreeningResult> found) noexcept { found_ = found; }
  [[nodiscard]] bool knows_best(Count depth, Ties ties) const noexcept {
    return found_ && std::cmp_less_equal(depth, found_->depth) &&
           found_->highest == (ties == Ties::highest_id);
  }
  [[nodiscard]] bool knows_standings() const noexcept {
    return found_ && found_->standings.has_value();
  }
  void start(Count user, std::span<const std::int64_t> excluded, const Checkpoint& checkpoint) {
    open(user, checkpoint);
    start(excluded, checkpoint);
  }

  [[nodiscard]] bool has_nan() const noexcept { return has_nan_; }
  // `first`: its place.
  [[nodiscard]] Count count_nan(Offset& first, const Checkpoint& checkpoint);
  // Those that are not excluded.
  [[nodiscard]] Count candidates() const noexcept {
    return static_cast<Count>(size_ - excluded_.size());
  }

  // The best items. Valid until the next call.
  RankedList best(Count depth, Ties ties, const Checkpoint& checkpoint);

  // The score at one of the places of the last call of `best`.
  [[nodiscard]] Key score_of(std::size_t place) const noexcept { return entries_[place].key; }

  // The first rank whose item has the score of the next, among those of the last call of `best`; 0
  // if there is none.
  [[nodiscard]] Count first_tied_rank() const noexcept;

  // Those of the given positions, none of them negative, that are ranked, however far down. Valid
  // until the next call. Unless `ties` says which of a tie is first, the tie of each is told, and
  // those of the positions stand first in it.
  RankedList ranks_of(std::span<const std::int64_t> positions, Ties ties,
                      const Checkpoint& checkpoint);

  // Whether each of some ascending cutoffs falls between items of one score. Costs nothing more
  // after `best` to a greater depth.
  void find_split_ties(std::span<const Count> cutoffs, std::vector<bool>& split,
                       const Checkpoint& checkpoint);

 private:
  using Entry = ScoredItem<Key>;
  using Better = BetterItem<Key>;

  template <class Body>
  void for_each_piece(const Checkpoint& checkpoint, const Body& body);
  template <class Body>
  void for_each_item(const Checkpoint& checkpoint, const Body& body);
  template <class Body>
  void for_each_excluded(const Checkpoint& checkpoint, const Body& body);
  [[nodiscard]] Better better(Ties ties) const noexcept;
  [[nodiscard]] bool is_excluded(std::size_t item) const noexcept {
    return (excluded_bits_[item / 64] >> (item % 64) & 1U) != 0;
  }
  [[nodiscard]] bool is_rankable(Key key, std::size_t item) const noexcept {
    return !is_excluded(item) && (key >= least_ || (!has_least_ && is_nan(key)));
  }
  void read(const Checkpoint& checkpoint);
  void mark_excluded(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint);
  [[nodiscard]] Count length(const Checkpoint& checkpoint);
  [[nodiscard]] std::span<const Key> fold_maxima(std::size_t groups, const Checkpoint& checkpoint);
  [[nodiscard]] Key bound(std::size_t wanted, const Checkpoint& checkpoint);
  void gather(std::size_t keep, Ties ties, const Checkpoint& checkpoint);
  void gather_all();
  void gather_nan(std::size_t keep, Ties ties, const Checkpoint& checkpoint);
  void keep_best(std::size_t keep, Ties ties, const Checkpoint& checkpoint);
  void choose(std::span<const std::int64_t> positions, Ties ties, const Checkpoint& checkpoint);
  [[nodiscard]] std::size_t first_beaten(const Entry& item, const Better& better) const;
  void count_reaching(const Checkpoint& checkpoint);
  void count_by_position(bool highest, const Checkpoint& checkpoint);
  [[nodiscard]] bool count_each(Ties ties, const Checkpoint& checkpoint);
  void count_all(Ties ties, const Checkpoint& checkpoint);
  void count_tied(const Checkpoint& checkpoint);
  [[nodiscard]] bool recall_standings();
  void recall_ranks(Ties ties);
  void recall_tied();
  void tell_ties();
  void rank_entries(Ties ties, const Checkpoint& checkpoint);
  void collect(std::size_t keep, Ties ties, const Checkpoint& checkpoint);
  [[nodiscard]] bool order_by_counting(std::size_t keep);
  void order_by_key(const Checkpoint& checkpoint);
  void order(std::size_t keep, Ties ties, const Checkpoint& checkpoint);
  RankedList ranked(Count length, const Checkpoint& checkpoint);

  const ScoreKernels<Key>& kernels_;
  Row row_;
  Key least_;  // that is recommended
  bool has_least_;
  bool recommends_ = true;  // whether any score can be high enough
  Key last_bound_ = 0;      // of whatever user, who is like the next
  // Of the user.
  std::size_t size_ = 0;  // items
  bool has_nan_ = false;
  bool is_read_ = false;
  std::optional<ScreeningResult> found_;      // the best, by another way
  std::vector<std::uint32_t> excluded_;       // each once
  std::vector<std::uint64_t> excluded_bits_;  // one an item, whole chunks of them
  std::vector<Key> maxima_;                   // kGroups a chunk
  // Of a call.
  std::vector<Key> folded_;
  std::vector<std::uint32_t> reached_;  // groups
  std::vector<Entry> entries_;
  std::vector<Entry> ordered_;
  std::vector<std::int64_t> items_;
  std::vector<Offset> places_;
  std::vector<Count> ranks_;
  std::vector<Tie> ties_;            // of the entries
  std::vector<Key> scores_;          // that the entries have, each once
  std::vector<Tie> score_ties_;      // beside these
  std::size_t sorted_ = 0;           // so many of the best are the entries, in order
  std::vector<Count> beating_;       // items, by the first entry that they beat
  std::vector<Key> bounds_;          // that items are compared with
  std::vector<Count> counts_;        // beside these: items that beat them
  std::vector<std::size_t> order_;   // of the entries, by position
  std::vector<ItemRank> standings_;  // of the entries, if they are known
};

using AnyScoreRanker = std::variant<ScoreRanker<ScoreRow<float>>, ScoreRanker<ScoreRow<double>>,
                                    ScoreRanker<ScoreRow<std::int64_t>>, ScoreRanker<EmbeddingRow>>;

[[nodiscard]] AnyScoreRanker make_score_ranker(const ScoreMatrix& matrix, const Kernels& kernels);
[[nodiscard]] AnyScoreRanker make_score_ranker(const SparseScores& candidates,
                                               const Kernels& kernels);
[[nodiscard]] AnyScoreRanker make_score_ranker(const Embeddings& embeddings,
                                               const Kernels& kernels);

}  // namespace exactk
