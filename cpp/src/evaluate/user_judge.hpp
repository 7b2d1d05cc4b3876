// Judges users one by one: opens the user's list or scores, then ranks, matches and judges.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "evaluate/violations.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/judged_lists.hpp"
#include "judge/judge.hpp"
#include "match/list_matcher.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/ranked_list.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

class UserJudge {
 public:
  explicit UserJudge(const Job& job);

  // Screens these users together if that pays. Callers may still skip any of them.
  void prepare(std::span<const Count> users);

  // Adds the user to the batch and to the tally. Returns the rule that the user breaks, if any; the
  // batch may then hold rows of the user and must be cleared.
  Violation judge(Count user, JudgedBatch& batch, Tally& tally);

  // Writes the user's row of the judged lists, for a plan of one value: its items, grades and hits.
  // Returns the rule that the user breaks, if any.
  Violation judge_list(Count user, const JudgedLists& judged);

  // Matches any user, judged or not. Valid until the next call of any member.
  const Matches& match(Count user);
  // Matches the user's base list with the list read last. Valid until the next call of any member.
  const Matches& match_base(Count user);
  // Returns the first tie of an item of the truth down to the rank at which ties are refused.
  [[nodiscard]] std::optional<Tie> first_forbidden_tie(const Matches& matches) const;
  // Returns the offsets in the row of the truth's items that repeat within a tie, if the plan
  // refuses them: ascending, for the user matched last. Valid until the next call of any member.
  std::span<const Offset> find_tied_repeats();
  struct RefusedItems {
    Count count = 0;
    std::int64_t first = -1;
    bool is_of_train = false;  // the first one is not recommended, but in train
  };
  // Finds the items of the user's list that a metric reads and refuses: those outside the
  // catalogue, not in train, or without features.
  RefusedItems find_refused_items(Violation violation, Count user);
  // Finds the distinct relevant items of the user without a value, for the first metric that reads
  // values and lacks one.
  RefusedItems find_items_without_value(Count user);
  // Returns the first tie in the list of the user matched last, down to the rank at which ties are
  // refused in lists that a metric reads: the rank of its first item, or 0.
  Count first_tie_of_list();
  // Counts the user's NaN scores and sets `first` to the first one.
  Count count_nan(Count user, Offset& first);

 private:
  [[nodiscard]] std::span<const double> grades_of(Count user) const;
  std::span<const double> values_of(Count user);
  [[nodiscard]] std::span<const std::int64_t> excluded_items(Count user) const;
  [[nodiscard]] TruthPositions truth_positions(Count user) const;
  bool open_scores(Count user);
  const Matches& match(Count user, Ties ties);
  const Matches& match_list(Count user);
  const Matches& match_scores(AnyScoreRanker& any_ranker, Count user, Ties ties);
  [[nodiscard]] bool may_depend_on_ties(Count user, Ties ties);
  Violation check_matches(const Matches& matches, Ties ties);
  void read_list(Count user, const Matches& matches, Ties ties, std::span<std::int64_t> items);
  void read_scored_list(AnyScoreRanker& any_ranker, Ties ties, std::span<std::int64_t> items);
  void add_list(Count user, const Matches& matches, std::size_t rules_index, const HitRow& row,
                ListRows& rows);
  void add_numbers(std::span<const std::int64_t> items, bool has_repeats, ListRows& rows);
  void add_base_ranks(Count user, std::span<const std::int64_t> items, bool has_repeats,
                      ListRows& rows);
  void note_unusual_items(std::span<ItemNumber> numbers, ListRows& rows);
  void note_ties(std::size_t size, ListRows& rows);
  void note_relevant(Count user, const Matches& matches, const JudgingRules& rules, ListRows& rows);
  [[nodiscard]] Count count_distinct(std::span<const std::int64_t> items);
  template <class Cell>
  void leave_out_repeats(std::span<Cell> cells, Cell left_out);
  void judge_extremes(Count user, std::span<const double> values, JudgedBatch& batch);
  void add_to_tally(Count user, const Matches& matches, const HitRow& row, Tally& tally);
  void count_candidates(Tally& tally);
  std::span<const Count> find_masked_entries(Count user);

  const Job& job_;
  ListMatcher matcher_;
  ListMatcher base_matcher_;
  std::optional<AnyScoreRanker> score_ranker_;     // if the predictions are scores
  std::optional<Screening> screening_;             // if it pays
  const ItemPositions* item_positions_ = nullptr;  // of the current user, if items have ids
  Judge judge_;
  // The plan's rules except for ties: relevant items first, and last.
  std::array<std::vector<JudgingRules>, 2> extreme_rules_;
  std::vector<Offset> tied_repeats_;
  std::vector<double> truth_values_;        // of the items of the user's truth, NaN: none
  HitRows list_rows_;                       // of the user whose list is judged
  std::vector<std::int64_t> list_items_;    // of the list read last, by rank
  std::vector<std::int64_t> listed_items_;  // of these, without ranks that have no item
  std::vector<Count> base_ranks_;           // parallel to them
  bool base_repeats_ = false;               // whether a base list of the current user has repeats
  IdIndex list_index_;                      // of these, or of some of them
  // Of the current user's lists that a metric reads, perhaps repeated.
  std::vector<std::int64_t> foreign_items_;
  std::vector<std::int64_t> unseen_items_;
  std::vector<ItemNumber> relevant_;  // of the list read last: items of the catalogue
  enum class EntryScore : std::uint8_t { none, masked, other };
  std::vector<EntryScore> entry_scores_;  // by truth entry
  std::vector<Count> masked_entries_;     // of the truth
};

}  // namespace exactk
