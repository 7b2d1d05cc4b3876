// What a thread does: users come in, are ranked, judged and, a batch at a time, scored and summed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "accumulator.hpp"
#include "batch.hpp"
#include "discounts.hpp"
#include "exactk/evaluate.hpp"
#include "judge.hpp"
#include "kernels/table.hpp"
#include "plan.hpp"
#include "policy.hpp"
#include "rank/given.hpp"
#include "rank/lengths.hpp"
#include "rank/placing.hpp"
#include "rank/score_ranking.hpp"
#include "rank/screening.hpp"

namespace exactk {

// What all threads read, and none changes.
struct Job {
  const Request& request;
  Plan plan;
  std::uint64_t id_bits;  // the bitwise "or" of all ids
  const Kernels& kernels;
  std::vector<DiscountTable> discounts;  // by Discount
  Lengths lengths;                       // if the predictions are embeddings
};

// The items of the predictions, if each user has some of its own.
[[nodiscard]] const Lists* lists_of(const Predictions& predictions) noexcept;

// How each value is summed.
[[nodiscard]] std::vector<Exactness> exactness_of_values(const Job& job);

// The sums of each value, not yet of anybody.
[[nodiscard]] std::vector<Accumulator> accumulators(const Job& job);

// What the users are screened for before they are taken in.
[[nodiscard]] Wanted wanted_of(const Job& job);

class Worker {
 public:
  explicit Worker(const Job& job);

  // Does for some users at a time what is cheaper so. They may be taken in then, or not.
  void prepare(std::span<const Count> users, const Checkpoint& checkpoint);

  // Takes a user in. Says which rule has been broken, by this user or by one of the batch.
  Breach take(Count user, const Checkpoint& checkpoint);

  // Scores and sums those of the batch who have not been yet.
  Breach settle(const Checkpoint& checkpoint);

  // Of a user who may have been taken in or not. Valid until the next call of anything.
  const Matches& match(Count user, const Checkpoint& checkpoint);
  // The first tie of an item of the truth, where none may be tied.
  [[nodiscard]] std::optional<Tie> first_tied(const Matches& matches) const;
  // How many scores of the user are NaN, and which is the first.
  Count count_nan(Count user, Offset& first, const Checkpoint& checkpoint);

  // Over the users settled since the last `clear`.
  [[nodiscard]] const std::vector<Accumulator>& sums() const noexcept { return sums_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  void clear() noexcept;

 private:
  [[nodiscard]] Presence presence(Count user) const noexcept;
  [[nodiscard]] std::span<const double> grades_of(Count user) const;
  template <class Choice>
  [[nodiscard]] bool raises(Choice Rules::* field) const;
  [[nodiscard]] bool refuses_nan() const;
  [[nodiscard]] std::span<const std::int64_t> excluded_of(Count user) const;
  bool start(Count user, const Checkpoint& checkpoint);
  const Matches& match(Count user, Ties ties, const Checkpoint& checkpoint);
  Breach judge(Count user, const Checkpoint& checkpoint);
  void clear_rows() noexcept;
  void count(Count user, const Matches& matches, const HitRow& row);
  void count_split_ties(const Checkpoint& checkpoint);
  void count_candidates();
  Breach settle_lens(std::size_t lens, const Checkpoint& checkpoint);
  void count_down(std::span<const HitRow> rows, const Ladder& ladder, const Checkpoint& checkpoint);
  void score(const Run& run, std::span<const HitRow> rows, const Checkpoint& checkpoint);
  [[nodiscard]] Breach check_catalogue(const Run& run, std::span<const HitRow> rows) const;
  Breach apply_policies(const Run& run, std::span<const HitRow> rows);
  void reduce(const Run& run, std::span<const HitRow> rows);
  void keep(std::size_t output);

  const Job& job_;
  GivenRanking ranking_;
  std::optional<ScoreRanking> scores_ranking_;  // if the predictions are scores
  std::optional<Screening> screening_;          // if that pays
  const Places* places_ = nullptr;  // of the user at hand, if the ranking knows other positions
  Judge judge_;
  // The batch: its users, and what the lenses show of each.
  std::vector<Count> users_;
  std::vector<double> weights_;  // empty if there are none
  std::vector<Rows> rows_;       // by lens
  // Of one lens and run at a time.
  std::vector<std::size_t> odd_;  // users whose values a convention may settle otherwise
  std::vector<Reached> reached_;  // rows x cutoffs
  Scores scores_;
  Columns values_;
  std::vector<bool> split_;  // cutoffs that split a tie
  // Of all users.
  std::vector<Accumulator> sums_;
  Tally tally_;
};

}  // namespace exactk
