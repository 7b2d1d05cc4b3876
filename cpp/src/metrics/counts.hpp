// Counts that the ratios are made of. A user's value is the count; the report's value is its mean.
#pragma once

#include "metrics/metric.hpp"

namespace exactk {

struct NumHits {
  static constexpr std::string_view kAliases[] = {"num_rel_ret"};
  static constexpr MetricInfo info{
      .name = "num_hits",
      .aliases = kAliases,
      .summary = "number of relevant items that are recommended, per user",
      .formula = "h",
      .source = "trec_eval",
      .unit_range = false,
      .at_most_cutoff = true,
      .always_divided = true,
      .micro = false};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.hits, 1);
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }
};

struct NumRelevant {
  static constexpr std::string_view kAliases[] = {"num_rel"};
  static constexpr MetricInfo info{.name = "num_relevant",
                                   .aliases = kAliases,
                                   .summary = "number of relevant items in the truth, per user",
                                   .formula = "|T|",
                                   .source = "trec_eval",
                                   .direction = Direction::none,
                                   .unit_range = false,
                                   .always_divided = true,
                                   .micro = false,
                                   .positive_without_hits = true,
                                   .reads_predictions = false};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.relevant, 1);
  }
};

struct NumRecommended {
  static constexpr std::string_view kAliases[] = {"num_ret"};
  static constexpr MetricInfo info{.name = "num_recommended",
                                   .aliases = kAliases,
                                   .summary = "number of recommended items, per user",
                                   .formula = "min(k, |L|)",
                                   .source = "trec_eval",
                                   .direction = Direction::none,
                                   .unit_range = false,
                                   .at_most_cutoff = true,
                                   .always_divided = true,
                                   .micro = false,
                                   .positive_without_hits = true};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.list_length, 1);
  }
};

}  // namespace exactk
