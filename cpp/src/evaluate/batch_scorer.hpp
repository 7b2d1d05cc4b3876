// Scores a batch of judged users: values, policies and sums. Also counts the users whose values
// depend on the order of ties.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "evaluate/plan.hpp"
#include "evaluate/policies.hpp"
#include "evaluate/violations.hpp"
#include "exactk/evaluate.hpp"
#include "judge/batch.hpp"
#include "judge/group_counter.hpp"
#include "judge/hit_row.hpp"
#include "judge/item_counter.hpp"
#include "judge/list_row.hpp"
#include "metrics/metric.hpp"
#include "numeric/accumulator.hpp"

namespace exactk {

class BatchScorer {
 public:
  explicit BatchScorer(const Job& job);

  // Adds the users to the sums of the values of these passes, and those whose values depend on ties
  // to the tally. Returns the gravest rule that a user breaks, if any; the sums are then
  // meaningless.
  Violation score(std::span<const Pass> passes, JudgedBatch& batch, Tally& tally);
  // Adds users to the sums of these values: as many as `users` says of each row; and those whose
  // ratio is 0 / 0 to the tally. No convention overrides their values.
  void score_patterns(const PatternValues& values, std::span<const HitRow> rows,
                      std::span<const Count> users, Tally& tally);

  // Counts of the items of all users scored.
  [[nodiscard]] const std::vector<ItemCounter>& item_counters() const noexcept {
    return item_counters_;
  }
  [[nodiscard]] const std::vector<GroupCounter>& group_counters() const noexcept {
    return group_counters_;
  }

  // Sums over the users scored since the last `clear`.
  [[nodiscard]] const std::vector<Accumulator>& sums() const noexcept { return sums_; }
  void clear() noexcept {
    for (Accumulator& sums : sums_) sums.clear();
    for (ItemCounter& counter : item_counters_) counter.clear();
    for (GroupCounter& counter : group_counters_) counter.clear();
  }

 private:
  using Rows = std::span<const HitRow>;    // parallel to the users
  using Lists = std::span<const ListRow>;  // likewise; empty if no metric reads them

  Violation score_under(std::size_t rules_index, std::span<const Pass> passes, JudgedBatch& batch,
                        Tally& tally);
  void compute_ratios(const Pass& pass, Rows rows, Lists lists,
                      std::span<const HitCounts> hit_counts, BatchRatios& ratios) const;
  void read_given(const Pass& pass, BatchRatios& ratios) const;
  void compute_values(const Pass& pass);
  [[nodiscard]] UserPolicy policy_of(const Pass& pass, Rows rows, std::size_t index) const;
  Violation apply_policies(const Pass& pass, Rows rows);
  [[nodiscard]] Violation check_item_count(const Pass& pass, Rows rows) const;
  [[nodiscard]] Violation check_items(const Pass& pass, Rows rows, Lists lists) const;
  [[nodiscard]] Violation check_item_values(const Pass& pass, Rows rows) const;
  Violation count_lists(std::size_t list_count_index, Rows rows, Lists lists);
  template <class UsersOf>
  void count_undefined(const Pass& pass, Rows rows, UsersOf users_of, Tally& tally) const;
  [[nodiscard]] bool is_summed(const Pass& pass, std::size_t output_index, Rows rows,
                               std::size_t user) const;
  void reduce(const Pass& pass, Rows rows);
  void write_per_user(std::size_t output);
  void write_ratios(const Pass& pass, std::size_t output_index, Rows rows);
  void score_extremes(const Pass& pass, std::size_t rules_index, JudgedBatch& batch);
  void count_tied_lists(const Pass& pass, Rows rows, Lists lists, Tally& tally) const;
  void count_tie_dependent(const Pass& pass, Rows rows, std::span<const std::size_t> tied_users,
                           Rows best_rows, Tally& tally) const;

  const Job& job_;
  std::vector<std::size_t> ratio_rows_;  // by value: its row in Request::ratios, if it is micro
  // Per-batch state.
  std::span<const Count> users_;
  std::vector<double> weights_;  // empty if there are none
  // State of one set of judging rules and one pass at a time.
  std::vector<std::size_t> irregular_users_;  // users whose values a convention may override
  std::vector<HitCounts> hit_counts_;         // rows x cutoffs
  BatchRatios ratios_;
  BatchColumns values_;
  std::vector<HitCounts> extreme_hit_counts_;  // tied users x cutoffs
  std::array<BatchRatios, 2> extreme_ratios_;  // of the tied users
  // State of all users.
  std::vector<Accumulator> sums_;
  std::vector<ItemCounter> item_counters_;    // by item tally
  std::vector<GroupCounter> group_counters_;  // by group tally
};

}  // namespace exactk
