// The share of the recommended items that are relevant, or judged.
#pragma once

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

struct Precision {
  using OfValues = FoundGains<&Rules::precision_over>;
  static constexpr std::string_view kAliases[] = {"p", "prec"};
  static constexpr std::string_view kOwnFields[] = {"precision_over", "weight"};
  static constexpr MetricInfo info{
      .name = "precision",
      .aliases = kAliases,
      .summary = "share of the recommended items that are relevant",
      .formula = "h / k",
      .source = "Kent, Berry, Luehrs, Perry 1955; Manning, Raghavan, Schuetze 2008, section 8.4",
      .own_fields = kOwnFields};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) noexcept {
    return ratio(counts.hits, divisor(rules.precision_over, counts));
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }
};

struct Judged {
  static constexpr std::string_view kAliases[] = {"judged_rate"};
  static constexpr std::string_view kOwnFields[] = {"precision_over"};
  static constexpr MetricInfo info{
      .name = "judged",
      .aliases = kAliases,
      .summary = "share of the recommended items that are judged, relevant or not",
      .formula = "judged items in the list / k",
      .source = "Buckley, Voorhees 2004 (incomplete judgments)",
      .direction = Direction::none,  // it tells how far the other values can be trusted
      .own_fields = kOwnFields,
      .counts_unjudged = true};

  // Precision as if all judged items were relevant.
  static Ratio ratio_at(CutoffCounts counts, const Rules& rules) noexcept {
    counts.hits = counts.judged;
    counts.relevant += counts.nonrelevant;
    return Precision::ratio_at(counts, rules);
  }
};

}  // namespace exactk
