// Average precision of a pool that was judged in part: what is not judged counts as the rest.
#pragma once

#include <cstddef>

#include "metrics/metric.hpp"

namespace exactk {

class InferredAveragePrecision {
 public:
  static constexpr std::string_view kAliases[] = {"inferred_ap", "infap"};
  static constexpr MetricInfo info{
      .name = "inferred_average_precision",
      .aliases = kAliases,
      .summary =
          "average precision where items of the pool that nobody judged, whose grade is negative, "
          "count as the judged ones above a hit, and items outside of the pool as misses",
      .formula =
          "(sum over hits at ranks i <= k of 1/i + (x + y + z)/i (x + e)/(x + y + 2e)) / |T|, with "
          "x hits, y other judged items and z unjudged items of the pool above, e = 0.00001",
      .source = "Yilmaz, Aslam 2006, as in trec_eval"};

  explicit InferredAveragePrecision(const Context& context)
      : pooled_ranks_(context.row.pooled_ranks) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (!item.relevant) {
      ++nonrelevant_above_;
      return sum_;
    }
    while (pooled_above_ < pooled_ranks_.size() && pooled_ranks_[pooled_above_] < item.rank)
      ++pooled_above_;
    const auto rank = static_cast<double>(item.rank);
    const auto hits = static_cast<double>(item.hits - 1);
    const double judged = hits + static_cast<double>(nonrelevant_above_);
    const double of_pool = (judged + static_cast<double>(pooled_above_)) / rank;
    // A hit at rank 1 has nothing above, so its sum is 1.
    return sum_ += 1 / rank + of_pool * ((hits + kSmoothing) / (judged + 2 * kSmoothing));
  }
  static Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules&) noexcept {
    return {sum, static_cast<double>(counts.relevant)};
  }

 private:
  static constexpr double kSmoothing = 1e-5;

  std::span<const Count> pooled_ranks_;
  std::size_t pooled_above_ = 0;
  Count nonrelevant_above_ = 0;
  double sum_ = 0;
};

}  // namespace exactk
