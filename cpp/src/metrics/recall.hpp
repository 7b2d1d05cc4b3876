// The share of the relevant items that are recommended.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace exactk {

struct Recall {
  static constexpr std::string_view kAliases[] = {"r"};
  static constexpr MetricInfo info{
      .name = "recall",
      .aliases = kAliases,
      .summary = "share of the relevant items that are recommended",
      .formula = "h / |T|",
      .source = "Kent, Berry, Luehrs, Perry 1955; Manning, Raghavan, Schuetze 2008, section 8.4"};

  static Ratio at(const Depth& depth, const Rules& rules) noexcept {
    return ratio(depth.hits, divisor(rules.recall_over, depth));
  }
  static double expect(const TiedHits& tied, Count reached) noexcept {
    return expected_hits(tied, reached);
  }
};

struct HitRate {
  static constexpr std::string_view kAliases[] = {"success", "hit", "hit_ratio", "hr"};
  static constexpr MetricInfo info{.name = "hit_rate",
                                   .aliases = kAliases,
                                   .summary = "1 if any relevant item is recommended",
                                   .formula = "[h > 0]",
                                   .source = "Deshpande, Karypis 2004",
                                   .micro = false};

  static Ratio at(const Depth& depth, const Rules&) noexcept {
    return ratio(depth.hits > 0 ? 1 : 0, 1);
  }
  // Only the first tie with hits decides: 1 - the chance that all of them stand further down.
  static double expect(const TiedHits& tied, Count reached) noexcept {
    if (tied.hits_above > 0) return 0;
    double none = 1;
    for (Count i = 0; i < tied.hits && none > 0; ++i) {
      none *= static_cast<double>(std::max(tied.tie.size() - reached - i, Count{0})) /
              static_cast<double>(tied.tie.size() - i);
    }
    return 1 - none;
  }
};

// Recall where the list is as long as the truth: the point at which precision equals recall.
class RPrecision {
 public:
  static constexpr std::string_view kAliases[] = {"rprec", "r_prec"};
  static constexpr MetricInfo info{
      .name = "r_precision",
      .aliases = kAliases,
      .summary = "share of the relevant items among the first |T| recommended",
      .formula = "h(min(k, |T|)) / |T|",
      .source = "Manning, Raghavan, Schuetze 2008, section 8.4"};

  explicit RPrecision(const Context& context) : relevant_(context.row.relevant) {}

  double see(const Hit& hit) noexcept {
    if (hit.relevant && hit.rank <= relevant_) ++early_;
    return static_cast<double>(early_);
  }
  [[nodiscard]] double expect(const TiedHits& tied, Count reached) const noexcept {
    return expected_hits(tied, std::clamp(relevant_ - tied.tie.first + 1, Count{0}, reached));
  }
  static Ratio at(double early, const Depth& depth, const Rules&) noexcept {
    return {early, static_cast<double>(depth.relevant)};
  }

 private:
  Count relevant_;
  Count early_ = 0;
};

}  // namespace exactk
