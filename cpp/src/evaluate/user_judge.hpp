// Judges one user after another: opens the user's list or scores, ranks, matches and judges them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "evaluate/violations.hpp"
#include "exactk/evaluate.hpp"
#include "judge/judge.hpp"
#include "match/list_matcher.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/ranked_list.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

class UserJudge {
 public:
  explicit UserJudge(const Job& job);

  // Screens these users together, where that pays. Callers may still skip any of them.
  void prepare(std::span<const Count> users, const Checkpoint& checkpoint);

  // Adds the user to the batch and to the tally. Returns which rule the user breaks, if any: the
  // batch may hold rows of the user then, and must be cleared.
  Violation judge(Count user, JudgedBatch& batch, Tally& tally, const Checkpoint& checkpoint);

  // Of any user, whether judged or not. Valid until the next call of any member.
  const Matches& match(Count user, const Checkpoint& checkpoint);
  // The first tie of an item of the truth, where none may be tied.
  [[nodiscard]] std::optional<Tie> first_forbidden_tie(const Matches& matches) const;
  // Of the user matched last, the offsets in the row of the items of the truth that a tie repeats,
  // where that is refused: ascending. Valid until the next call of any member.
  std::span<const Offset> find_tied_repeats(const Checkpoint& checkpoint);
  // How many scores of the user are NaN, and which is the first.
  Count count_nan(Count user, Offset& first, const Checkpoint& checkpoint);

 private:
  [[nodiscard]] std::span<const double> grades_of(Count user) const;
  [[nodiscard]] std::span<const std::int64_t> excluded_items(Count user) const;
  [[nodiscard]] TruthPositions truth_positions(Count user) const;
  bool open_scores(Count user, const Checkpoint& checkpoint);
  const Matches& match(Count user, Ties ties, const Checkpoint& checkpoint);
  const Matches& match_list(Count user, const Checkpoint& checkpoint);
  const Matches& match_scores(AnyScoreRanker& any_ranker, Count user, Ties ties,
                              const Checkpoint& checkpoint);
  [[nodiscard]] bool may_depend_on_ties(Count user, Ties ties);
  void judge_extremes(Count user, JudgedBatch& batch, const Checkpoint& checkpoint);
  void add_to_tally(Count user, const Matches& matches, const HitRow& row, Tally& tally,
                    const Checkpoint& checkpoint);
  void count_candidates(Tally& tally);
  std::span<const Count> find_masked_entries(Count user, const Checkpoint& checkpoint);

  const Job& job_;
  ListMatcher matcher_;
  std::optional<AnyScoreRanker> score_ranker_;     // if the predictions are scores
  std::optional<Screening> screening_;             // if that pays
  const ItemPositions* item_positions_ = nullptr;  // of the current user, if items have ids
  Judge judge_;
  // As the plan's, but for ties: with the relevant items of each first, and last.
  std::array<std::vector<JudgingRules>, 2> extreme_rules_;
  std::vector<Offset> tied_repeats_;
  enum class EntryScore : std::uint8_t { none, masked, other };
  std::vector<EntryScore> entry_scores_;  // of the truth
  std::vector<Count> masked_entries_;     // of the truth
};

}  // namespace exactk
