// Ranks the items of a user by their scores, without sorting what nobody asks for. A bound that at
// least so many scores reach follows from maxima of groups; only what reaches it is looked at
// again.
//
// The order is one and strict: by score, highest first, NaN below all others; then by id or, under
// Ties::input_order, by position. Items are told apart by their positions in the user's row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
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
  void select_user(Count user, const Checkpoint& checkpoint) { row_.select_user(user, checkpoint); }
  [[nodiscard]] const Row& row() const noexcept { return row_; }

  // Reads the user's scores, or, if none can be NaN, as soon as that is needed: a screening may
  // make it needless. Of `excluded`, positions beyond the end of the row are ignored.
  void load_scores(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint);
  void use_screening(std::optional<ScreeningResult> screening) noexcept { screening_ = screening; }
  [[nodiscard]] bool has_best(Count depth, Ties ties) const noexcept {
    return screening_ && std::cmp_less_equal(depth, screening_->depth) &&
           screening_->highest_first == (ties == Ties::highest_id);
  }
  [[nodiscard]] bool has_truth_ranks() const noexcept {
    return screening_ && screening_->truth_ranks.has_value();
  }
  void load_scores(Count user, std::span<const std::int64_t> excluded,
                   const Checkpoint& checkpoint) {
    select_user(user, checkpoint);
    load_scores(excluded, checkpoint);
  }

  [[nodiscard]] bool has_nan() const noexcept { return has_nan_; }
  // `first`: the offset of the first.
  [[nodiscard]] Count count_nan(Offset& first, const Checkpoint& checkpoint);
  // Those that are not excluded.
  [[nodiscard]] Count candidate_count() const noexcept {
    return static_cast<Count>(size_ - excluded_positions_.size());
  }

  // The score of the item at the position, or nothing if it is excluded or its score too low.
  [[nodiscard]] std::optional<Key> rankable_score(std::size_t position) {
    const Key key = row_.key_at(position);
    return is_rankable(key, position) ? std::optional(key) : std::nullopt;
  }
  // Whether items may be left out because they score -inf or NaN.
  [[nodiscard]] bool may_mask() const noexcept {
    return has_min_score_ && std::is_floating_point_v<Key>;
  }
  // Whether the item at the position is left out as its score is -inf or NaN.
  [[nodiscard]] bool is_masked(std::size_t position) {
    const Key key = row_.key_at(position);
    return may_mask() && !is_excluded(position) && !(key >= least_key_) &&
           !(key > -std::numeric_limits<Key>::infinity());
  }

  // The best items. Valid until the next call.
  RankedList best(Count depth, Ties ties, const Checkpoint& checkpoint);

  // The score of one of the items of the last call of `best`.
  [[nodiscard]] Key score_at(std::size_t index) const noexcept { return entries_[index].key; }

  // The first rank whose item has the score of the next, among those of the last call of `best`; 0
  // if there is none.
  [[nodiscard]] Count first_tied_rank() const noexcept;

  // Those of the positions, none of them negative, that are ranked, however far down. Valid until
  // the next call. Unless `ties` says which of a tie is first, the tie of each is recorded, and
  // those of the positions stand first in it.
  RankedList ranks_of(std::span<const std::int64_t> positions, Ties ties,
                      const Checkpoint& checkpoint);

  // Whether any item at the positions may be tied with another item. After `best` the answer is
  // certain for the items of that list; after a strict `ranks_of`, for all.
  [[nodiscard]] bool may_tie(std::span<const std::int64_t> positions);

 private:
  using Entry = ScoredItem<Key>;
  using Better = BetterItem<Key>;

  template <class Body>
  void for_each_chunk(const Checkpoint& checkpoint, const Body& body);
  template <class Body>
  void for_each_item(const Checkpoint& checkpoint, const Body& body);
  template <class Body>
  void for_each_excluded(const Checkpoint& checkpoint, const Body& body);
  [[nodiscard]] Better item_order(Ties ties) const noexcept;
  [[nodiscard]] bool is_excluded(std::size_t position) const noexcept {
    return (excluded_bits_[position / 64] >> (position % 64) & 1U) != 0;
  }
  [[nodiscard]] bool is_rankable(Key key, std::size_t position) const noexcept {
    return !is_excluded(position) && (key >= least_key_ || (!has_min_score_ && is_nan(key)));
  }
  void read_maxima(const Checkpoint& checkpoint);
  void mark_excluded(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint);
  [[nodiscard]] Count length(const Checkpoint& checkpoint);
  [[nodiscard]] std::span<const Key> fold_maxima(std::size_t groups, const Checkpoint& checkpoint);
  [[nodiscard]] Key find_bound(std::size_t min_count, const Checkpoint& checkpoint);
  void gather_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint);
  void gather_all();
  void gather_nan(std::size_t depth, Ties ties, const Checkpoint& checkpoint);
  void keep_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint);
  void collect_positions(std::span<const std::int64_t> positions, Ties ties,
                         const Checkpoint& checkpoint);
  [[nodiscard]] std::size_t first_beaten(const Entry& item, const Better& better) const;
  void count_around(const Checkpoint& checkpoint);
  [[nodiscard]] bool only_entries_tie() const;
  void add_ranks_by_position(bool highest_first, const Checkpoint& checkpoint);
  void rank_each(const Better& order, const Checkpoint& checkpoint);
  void rank_counted_entries(Ties ties, const Checkpoint& checkpoint);
  void rank_all(Ties ties, const Checkpoint& checkpoint);
  void count_tied_items(const Checkpoint& checkpoint);
  [[nodiscard]] bool look_up_truth_ranks();
  void use_truth_ranks(Ties ties);
  void use_truth_ties();
  void record_ties();
  void rank_entries(Ties ties, const Checkpoint& checkpoint);
  void collect_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint);
  [[nodiscard]] bool sort_by_counting(std::size_t depth);
  void sort_by_key(const Checkpoint& checkpoint);
  void sort_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint);
  RankedList make_ranked_list(Count length, const Checkpoint& checkpoint);

  const ScoreKernels<Key>& kernels_;
  Row row_;
  Key least_key_;  // that is recommended
  bool has_min_score_;
  bool can_recommend_ = true;  // whether any score can be high enough
  Key last_bound_ = 0;         // of whatever user, who is like the next
  // Of the user.
  std::size_t size_ = 0;  // items
  bool has_nan_ = false;
  bool has_maxima_ = false;
  std::optional<ScreeningResult> screening_;       // if there is one
  std::vector<std::uint32_t> excluded_positions_;  // each once
  std::vector<std::uint64_t> excluded_bits_;       // one an item, whole chunks of them
  std::vector<Key> maxima_;                        // kGroups a chunk
  // Of a call.
  std::vector<Key> folded_maxima_;
  std::vector<std::uint32_t> reached_groups_;
  std::vector<Entry> entries_;
  std::vector<Entry> entry_buffer_;
  std::vector<std::int64_t> items_;
  std::vector<Offset> offsets_;
  std::vector<Count> ranks_;
  std::vector<Tie> ties_;                    // of the entries
  std::vector<Key> distinct_keys_;           // that the entries have, each once
  std::vector<Tie> key_ties_;                // by distinct key
  bool has_list_ = false;                    // the entries are the best, in order
  bool entries_tie_ = false;                 // else: an entry has the score of another item
  std::vector<Count> beating_counts_;        // items, by the first entry that they beat
  std::vector<Key> bounds_;                  // that items are compared with
  std::vector<Count> bound_counts_;          // by bound: items that beat it, or that are above it
  std::vector<Count> below_counts_;          // by bound: items below it
  std::vector<std::size_t> position_order_;  // of the entries, by position
  std::vector<ItemRank> entry_ranks_;        // of the entries, if the screening has them
};

using AnyScoreRanker = std::variant<ScoreRanker<ScoreRow<float>>, ScoreRanker<ScoreRow<double>>,
                                    ScoreRanker<ScoreRow<std::int64_t>>, ScoreRanker<EmbeddingRow>>;

[[nodiscard]] AnyScoreRanker make_score_ranker(const ScoreMatrix& matrix, const Kernels& kernels);
[[nodiscard]] AnyScoreRanker make_score_ranker(const SparseScores& scores, const Kernels& kernels);
[[nodiscard]] AnyScoreRanker make_score_ranker(const Embeddings& embeddings,
                                               const Kernels& kernels);

}  // namespace exactk
