// Precision times recall, independent of the order within the list.
#pragma once

#include "metrics/metric.hpp"

namespace exactk {

struct SetAveragePrecision {
  static constexpr std::string_view kAliases[] = {"set_map"};
  static constexpr std::string_view kOwnFields[] = {"precision_over", "recall_over"};
  static constexpr MetricInfo info{.name = "set_average_precision",
                                   .aliases = kAliases,
                                   .summary = "precision times recall",
                                   .formula = "h^2 / (D_P D_R) with P = h / D_P, R = h / D_R",
                                   .source = "trec_eval",
                                   .micro = false,
                                   .own_fields = kOwnFields};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) noexcept {
    const auto hits = static_cast<double>(counts.hits);
    return {hits * hits, static_cast<double>(divisor(rules.precision_over, counts)) *
                             static_cast<double>(divisor(rules.recall_over, counts))};
  }
  // The tie's share of the mean of h^2: the mean of (above + x)^2 - above^2 for x hits in the tie.
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    const auto others = static_cast<double>(tied.hits - 1) * static_cast<double>(ranks - 1);
    const double squares =
        tied.tie.size() > 1 ? others / static_cast<double>(tied.tie.size() - 1) : 0;
    return expected_hits(tied, ranks) * (2 * static_cast<double>(tied.hits_above) + 1 + squares);
  }
};

}  // namespace exactk
