// The share of the relevant items that are recommended.
#pragma once

#include <algorithm>
#include <cmath>

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

struct Recall {
  using OfValues = FoundGains<&Rules::recall_over>;
  static constexpr std::string_view kAliases[] = {"r"};
  static constexpr std::string_view kOwnFields[] = {"recall_over", "weight"};
  static constexpr MetricInfo info{
      .name = "recall",
      .aliases = kAliases,
      .summary = "share of the relevant items that are recommended",
      .formula = "h / |T|",
      .source = "Kent, Berry, Luehrs, Perry 1955; Manning, Raghavan, Schuetze 2008, section 8.4",
      .own_fields = kOwnFields};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) noexcept {
    return ratio(counts.hits, divisor(rules.recall_over, counts));
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }
};

struct HitRate {
  static constexpr std::string_view kAliases[] = {"success", "hit", "hit_ratio", "hr"};
  static constexpr MetricInfo info{.name = "hit_rate",
                                   .aliases = kAliases,
                                   .summary = "1 if any relevant item is recommended",
                                   .formula = "[h > 0]",
                                   .source = "Deshpande, Karypis 2004",
                                   .always_divided = true,
                                   .micro = false};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.hits > 0 ? 1 : 0, 1);
  }
  // Only the first tie with hits matters: 1 - the chance that all of its hits are further down.
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    if (tied.hits_above > 0) return 0;
    double no_hit = 1;
    for (Count i = 0; i < tied.hits && no_hit > 0; ++i) {
      no_hit *= static_cast<double>(std::max(tied.tie.size() - ranks - i, Count{0})) /
                static_cast<double>(tied.tie.size() - i);
    }
    return 1 - no_hit;
  }
};

// Precision at a multiple of |T|; at |T| itself, it equals recall.
class RPrecision {
 public:
  static constexpr std::string_view kAliases[] = {"rprec", "r_prec"};
  static constexpr MetricInfo info{
      .name = "r_precision",
      .aliases = kAliases,
      .summary = "precision at the rank |T|, where it equals recall, or at another multiple of |T|",
      .formula = "h(min(k, c)) / c, c = floor(multiple |T| + 0.9)",
      .source =
          "Manning, Raghavan, Schuetze 2008, section 8.4; trec_eval, Rprec_mult, for the multiple",
      .parameter = {.name = "multiple", .standard = 1, .low = 0, .high = 1e6},
      .undefined_case = "the multiple of |T| is the rank 0"};

  explicit RPrecision(const Context& context)
      : last_(static_cast<Count>(
            std::floor(context.parameter * static_cast<double>(context.row.relevant) + 0.9))) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant && item.rank <= last_) ++early_hits_;
    return static_cast<double>(early_hits_);
  }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    return expected_hits(tied, std::clamp(last_ - tied.tie.first + 1, Count{0}, ranks));
  }
  [[nodiscard]] Ratio ratio_at(double early_hits, const CutoffCounts&,
                               const Rules&) const noexcept {
    return {early_hits, static_cast<double>(last_)};
  }

 private:
  Count last_;
  Count early_hits_ = 0;
};

}  // namespace exactk
