// What a thread does: users are added, ranked, judged and, a batch at a time, scored and summed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/open_score_row.hpp"
#include "evaluate/plan.hpp"
#include "evaluate/policies.hpp"
#include "exactk/evaluate.hpp"
#include "judge/batch.hpp"
#include "judge/judge.hpp"
#include "kernels/table.hpp"
#include "match/list_matcher.hpp"
#include "numeric/accumulator.hpp"
#include "numeric/discounts.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// What all threads read, and none changes.
struct Job {
  const Request& request;
  Plan plan;
  std::uint64_t id_bits;  // the bitwise "or" of all ids
  const Kernels& kernels;
  std::vector<DiscountTable> discounts;  // by Discount
  Norms norms;                           // if the predictions are embeddings
};

// The items of the predictions, if each user has a list of them.
[[nodiscard]] const Lists* item_lists(const Predictions& predictions) noexcept;

// How each value is summed.
[[nodiscard]] std::vector<Exactness> exactness_of_values(const Job& job);

// Empty sums, one for each value.
[[nodiscard]] std::vector<Accumulator> make_accumulators(const Job& job);

// What the users are screened for before they are added.
[[nodiscard]] ScreeningRequest screening_request(const Job& job);

class Worker {
 public:
  explicit Worker(const Job& job);

  // Screens these users together, where that pays. Callers may still skip any of them.
  void prepare(std::span<const Count> users, const Checkpoint& checkpoint);

  // Adds a user to the batch. Returns which rule is broken, by this user or by one of the batch.
  Violation add_user(Count user, const Checkpoint& checkpoint);

  // Scores and sums the users of the batch, and empties it.
  Violation score_batch(const Checkpoint& checkpoint);

  // Of any user, whether added or not. Valid until the next call of any member.
  const Matches& match(Count user, const Checkpoint& checkpoint);
  // The first tie of an item of the truth, where none may be tied.
  [[nodiscard]] std::optional<Tie> first_forbidden_tie(const Matches& matches) const;
  // Of the user matched last, the offsets in the row of the items of the truth that a tie repeats,
  // where that is refused: ascending. Valid until the next call of any member.
  std::span<const Offset> find_tied_repeats(const Checkpoint& checkpoint);
  // How many scores of the user are NaN, and which is the first.
  Count count_nan(Count user, Offset& first, const Checkpoint& checkpoint);

  // Over the users scored since the last `clear`.
  [[nodiscard]] const std::vector<Accumulator>& sums() const noexcept { return sums_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  void clear() noexcept;

 private:
  [[nodiscard]] Presence presence_of(Count user) const noexcept;
  [[nodiscard]] std::span<const double> grades_of(Count user) const;
  template <class Choice>
  [[nodiscard]] bool raises(Choice Rules::* field) const;
  [[nodiscard]] bool refuses_nan() const;
  [[nodiscard]] std::span<const std::int64_t> excluded_items(Count user) const;
  bool open_scores(Count user, const Checkpoint& checkpoint);
  const Matches& match(Count user, Ties ties, const Checkpoint& checkpoint);
  Violation judge(Count user, const Checkpoint& checkpoint);
  void clear_rows() noexcept;
  void add_to_tally(Count user, const Matches& matches, const HitRow& row,
                    const Checkpoint& checkpoint);
  [[nodiscard]] bool may_depend_on_ties(Count user, Ties ties);
  void judge_extremes(Count user, const Checkpoint& checkpoint);
  void score_extremes(const Run& run, std::size_t rules_index, const Checkpoint& checkpoint);
  void count_tie_dependent(const Run& run, std::size_t rules_index, std::span<const HitRow> rows);
  void count_candidates();
  std::span<const Count> find_masked_entries(Count user, const Checkpoint& checkpoint);
  Violation score_batch_under(std::size_t rules_index, const Checkpoint& checkpoint);
  void count_hits(std::span<const HitRow> rows, const CutoffSet& cutoff_set,
                  const Checkpoint& checkpoint);
  void score(const Run& run, std::span<const HitRow> rows, const Checkpoint& checkpoint);
  [[nodiscard]] Violation check_item_count(const Run& run, std::span<const HitRow> rows) const;
  Violation apply_policies(const Run& run, std::span<const HitRow> rows);
  void reduce(const Run& run, std::span<const HitRow> rows);
  void write_per_user(std::size_t output);

  const Job& job_;
  ListMatcher matcher_;
  std::optional<AnyScoreRanker> score_ranker_;     // if the predictions are scores
  std::optional<Screening> screening_;             // if that pays
  const ItemPositions* item_positions_ = nullptr;  // of the current user, if items have ids
  std::vector<Offset> tied_repeats_;
  Judge judge_;
  // The batch: its users, and their rows under each of the judging rules.
  std::vector<Count> users_;
  std::vector<double> weights_;    // empty if there are none
  std::vector<HitRows> hit_rows_;  // by judging rules
  // Of one set of judging rules and one run at a time.
  std::vector<std::size_t> irregular_users_;  // users whose values a convention may override
  std::vector<HitCounts> hit_counts_;         // rows x cutoffs
  BatchRatios ratios_;
  BatchColumns values_;
  // Of those users of the batch whose values may depend on the order of ties.
  struct Extreme {  // with the relevant items of each tie first, or last
    std::vector<JudgingRules> rules;
    std::vector<HitRows> rows;          // by judging rules
    std::vector<HitCounts> hit_counts;  // rows x cutoffs, of one run at a time
    BatchRatios ratios;
  };
  std::vector<std::size_t> tied_users_;  // their positions in the batch
  std::array<Extreme, 2> extremes_;
  enum class EntryScore : std::uint8_t { none, masked, other };
  std::vector<EntryScore> entry_scores_;  // of the truth
  std::vector<Count> masked_entries_;     // of the truth
  // Of all users.
  std::vector<Accumulator> sums_;
  Tally tally_;
};

}  // namespace exactk
