// The mean of the precisions at all ranks, be there a hit or not.
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
          "mean of the precision at every rank, also beyond the end of a list shorter than k",
      .formula = "(sum over n <= k of h(n) / n) / k",
      .source = "elliot, which calls it MAP",
      .every_rank = true};

  explicit MeanPrecision(const Context& context)
      : judged_(context.row.judged),
        length_(context.row.recommended),
        rank_(context.row.first_hit - 1),
        checkpoint_(context.checkpoint) {}

  // Cutoffs ascend: each rank is passed once, from the first hit on, and beyond the list's end, at
  // which no cutoff comes after them all.
  Ratio at(const Depth& depth, const Rules&) {
    const Count ranks = divisor(Over::cutoff, depth);
    if (depth.hits == 0) return ratio(0, ranks);
    while (rank_ < ranks) {
      ++rank_;
      for (; next_ < judged_.size() && judged_[next_].rank <= rank_; ++next_) {
        hits_ = judged_[next_].hits;
      }
      sum_ += static_cast<double>(hits_) / static_cast<double>(rank_);
      if (rank_ == length_) whole_ = sum_;
      if (rank_ % kLongWalk == 0) checkpoint_();
    }
    return {depth.cutoff == kNoCutoff ? whole_ : sum_, static_cast<double>(ranks)};
  }

 private:
  std::span<const Hit> judged_;
  Count length_;
  Count rank_;
  const Checkpoint& checkpoint_;
  std::size_t next_ = 0;  // of the judged items
  Count hits_ = 0;
  double sum_ = 0;
  double whole_ = 0;  // at the list's end
};

}  // namespace exactk
