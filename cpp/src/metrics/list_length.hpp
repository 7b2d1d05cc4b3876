// How many items there are to recommend: of users who have a list, and of users who have none.
#pragma once

#include "metrics/metric.hpp"

namespace exactk {

struct ListFill {
  static constexpr MetricInfo info{.name = "list_fill",
                                   .summary = "share of the first k ranks that have an item",
                                   .formula = "min(k, |L|) / k",
                                   .source = "RecTools, SufficientReco(deep=True)",
                                   .micro = false,
                                   .positive_without_hits = true,
                                   .reads_truth = false};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.list_length, divisor(Over::cutoff, counts));
  }
};

// Missing lists are what this measures, so no policy for them applies.
class UserCoverage {
 public:
  static constexpr std::string_view kAliases[] = {"covered_users"};
  static constexpr MetricInfo info{
      .name = "user_coverage",
      .aliases = kAliases,
      .summary =
          "1 if at least `least` items are recommended, whatever the convention does with missing "
          "lists",
      .formula = "[min(k, |L|) >= least]",
      .source = "Gunawardana, Shani 2009, section 5.1",
      .parameter = {.name = "least", .standard = 1, .low = 1, .high = 1e6, .whole = true},
      .always_divided = true,
      .micro = false,
      .positive_without_hits = true,
      .reads_truth = false,
      .counts_missing_lists = true};

  explicit UserCoverage(const Context& context) noexcept : least_(context.parameter) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const noexcept {
    return ratio(static_cast<double>(counts.list_length) >= least_ ? 1 : 0, 1);
  }

 private:
  double least_;
};

}  // namespace exactk
