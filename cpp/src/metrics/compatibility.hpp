// The overlap of the list with its ideal order at every depth, for a reader who continues from each
// depth to the next with probability p.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "metrics/metric.hpp"

namespace exactk {

class Compatibility {
 public:
  static constexpr std::string_view kAliases[] = {"compat"};
  static constexpr std::string_view kOwnFields[] = {"compatibility_over"};
  static constexpr MetricInfo info{
      .name = "compatibility",
      .aliases = kAliases,
      .summary =
          "rank-biased overlap of the list and the relevant items in order of their gains, those "
          "of one gain in the order of the list, over the highest that a list can have",
      .formula =
          "(sum over d <= D of p^(d - 1) X_d / d) / (sum over d <= D of p^(d - 1) min(d, |T|) / "
          "d), with X_d items shared by the first d of both, D = max(min(k, |L|), |T|)",
      .source = "Clarke, Vtyurina, Smucker 2021",
      .parameter = {"p", 0.95, 0, 1 - 0x1p-53},
      .micro = false,
      .own_fields = kOwnFields,
      .uses_gains = true};

  explicit Compatibility(const Context& context)
      : row_(context.row), persistence_(context.parameter), run_(context.run) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const {
    const std::vector<Count> depths = shared_depths(counts.judged);
    const bool is_normalized = is_over_ideal(rules.compatibility_over);
    const Count last = std::max(std::min(counts.cutoff, counts.list_depth), counts.relevant);
    Ratio sums{0, 0};
    double weight = 1;  // p^(depth - 1)
    std::size_t shared = 0;
    for (Count depth = 1; depth <= last && weight > 0; ++depth) {
      while (shared < depths.size() && depths[shared] <= depth) ++shared;
      const Count most = is_normalized ? std::min(depth, counts.relevant) : depth;
      sums.numerator += weight * (static_cast<double>(shared) / static_cast<double>(depth));
      sums.denominator += weight * (static_cast<double>(most) / static_cast<double>(depth));
      weight *= persistence_;
      if (depth % kCheckpointInterval == 0) run_.checkpoint();
    }
    return sums;
  }

 private:
  // Returns the depths, ascending, at which hits are in the list and in the ideal order.
  [[nodiscard]] std::vector<Count> shared_depths(Count judged) const {
    std::vector<JudgedItem> hits;
    for (const JudgedItem& item : row_.judged_items.first(static_cast<std::size_t>(judged)))
      if (item.relevant) hits.push_back(item);
    std::ranges::stable_sort(hits, std::greater<>(), &JudgedItem::gain);
    std::vector<Count> depths;
    Count position = 0;  // in the ideal order
    for (std::size_t i = 0; i < hits.size(); ++i) {
      ++position;
      if (i == 0 || hits[i].gain < hits[i - 1].gain) {
        const auto better =
            std::ranges::lower_bound(row_.ideal_gains, hits[i].gain, std::greater<>());
        position = better - row_.ideal_gains.begin() + 1;
      }
      depths.push_back(std::max(hits[i].rank, position));
    }
    std::ranges::sort(depths);
    return depths;
  }

  const HitRow& row_;
  double persistence_;
  const Run& run_;
};

}  // namespace exactk
