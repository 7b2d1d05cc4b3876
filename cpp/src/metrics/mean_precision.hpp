// The mean of the precisions at all ranks, with or without a hit.
#pragma once

#include <cstddef>
#include <span>

#include "metrics/metric.hpp"

namespace exactk {

class MeanPrecision {
 public:
  static constexpr MetricInfo info{
      .name = "mean_precision",
      .summary =
          "mean of the precision at every rank down to k, even beyond the end of a shorter list",
      .formula = "(sum over n <= k of h(n) / n) / k",
      .source = "elliot, which calls it MAP",
      .every_rank = true};

  explicit MeanPrecision(const Context& context)
      : judged_items_(context.row.judged_items),
        length_(context.row.depth()),
        rank_(context.row.first_hit - 1),
        run_(context.run) {}

  // Cutoffs ascend, so each rank is visited once, starting at the first hit. By the time of
  // kNoCutoff, which comes last, ranks beyond the list's end may have been visited; its sum is kept
  // apart.
  Ratio ratio_at(const CutoffCounts& counts, const Rules&) {
    const Count ranks = divisor(Over::cutoff, counts);
    if (counts.hits == 0) return ratio(0, ranks);
    while (rank_ < ranks) {
      ++rank_;
      for (; next_judged_ < judged_items_.size() && judged_items_[next_judged_].rank <= rank_;
           ++next_judged_) {
        hits_ = judged_items_[next_judged_].hits;
      }
      sum_ += static_cast<double>(hits_) / static_cast<double>(rank_);
      if (rank_ == length_) list_sum_ = sum_;
      if (rank_ % kCheckpointInterval == 0) run_.checkpoint();
    }
    return {counts.cutoff == kNoCutoff ? list_sum_ : sum_, static_cast<double>(ranks)};
  }

 private:
  std::span<const JudgedItem> judged_items_;
  Count length_;
  Count rank_;
  const Run& run_;
  std::size_t next_judged_ = 0;
  Count hits_ = 0;
  double sum_ = 0;
  double list_sum_ = 0;  // at the list's end
};

}  // namespace exactk
