// What of a ranking of all items is wrong: metrics of multilabel classification.
#pragma once

#include "metrics/auc.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// Complements AUC.
class LabelRankingLoss {
 public:
  static constexpr MetricInfo info{
      .name = "label_ranking_loss",
      .summary =
          "share of the pairs of a relevant and another ranked item that are in the wrong order; "
          "ties count half unless ties='pessimistic', and pairs with an unranked relevant item "
          "count 1",
      .formula = "1 - auc",
      .source = "Schapire, Singer 2000; Tsoumakas, Katakis, Vlahavas 2010",
      .direction = Direction::lower,
      .undefined_case = Auc::info.undefined_case,
      .pairwise = true,
      .positive_without_hits = true};

  double accumulate(const JudgedItem& item) noexcept { return wrong_pairs_.accumulate(item); }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    return wrong_pairs_.expectation(tied, ranks);
  }
  static Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts, const Rules&) noexcept {
    const Ratio right = right_pairs(wrong_pairs, counts);
    return {right.denominator - right.numerator, right.denominator};
  }

 private:
  WrongPairs wrong_pairs_;
};

class CoverageError {
 public:
  static constexpr MetricInfo info{
      .name = "coverage_error",
      .summary =
          "number of items down to the last relevant one, at best |T|; 0 / 0 if one is not ranked",
      .formula = "max over relevant items of their rank",
      .source = "Schapire, Singer 2000; Tsoumakas, Katakis, Vlahavas 2010",
      .direction = Direction::lower,
      .unit_range = false,
      .at_most_cutoff = true,
      .undefined_case = "a relevant item is not ranked",
      .micro = false};

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) last_rank_ = static_cast<double>(item.rank);
    return last_rank_;
  }
  static Ratio ratio_at(double last_rank, const CutoffCounts& counts, const Rules&) noexcept {
    if (counts.hits < counts.relevant) return {0, 0};
    return {last_rank, 1};
  }

 private:
  double last_rank_ = 0;
};

}  // namespace exactk
