// The weighted harmonic mean of precision and recall.
#pragma once

#include <limits>

#include "metrics/metric.hpp"

namespace exactk {

class Fbeta {
 public:
  static constexpr HitsRead kHitsRead = HitsRead::count;

  static constexpr std::string_view kAliases[] = {"f", "f_beta"};
  static constexpr std::string_view kOwnFields[] = {"precision_over", "recall_over"};
  static constexpr MetricInfo info{
      .name = "fbeta",
      .aliases = kAliases,
      .summary =
          "weighted harmonic mean of precision and recall: beta = 0 is precision, "
          "beta = inf is recall",
      .formula = "h / (D_R + a (D_P - D_R)) with a = 1 / (1 + beta^2), P = h / D_P, R = h / D_R",
      .source = "van Rijsbergen 1979, chapter 7",
      .parameter = {"beta", 1, 0, std::numeric_limits<double>::infinity()},
      .own_fields = kOwnFields};

  explicit Fbeta(const Context& context) : Fbeta(context.parameter) {}

  // A single division, so 0 / 0 arises once; the divisor lies between D_P and D_R even after
  // rounding.
  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const noexcept {
    const auto precision_divisor = static_cast<double>(divisor(rules.precision_over, counts));
    const auto recall_divisor = static_cast<double>(divisor(rules.recall_over, counts));
    return {static_cast<double>(counts.hits),
            recall_divisor + precision_weight_ * (precision_divisor - recall_divisor)};
  }

  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }

 protected:
  explicit Fbeta(double beta) : precision_weight_(1 / (1 + beta * beta)) {}

 private:
  double precision_weight_;
};

class F1 : public Fbeta {
 public:
  static constexpr std::string_view kAliases[] = {"f_1", "f1_score"};
  static constexpr std::string_view kOwnFields[] = {"precision_over", "recall_over"};
  static constexpr MetricInfo info{.name = "f1",
                                   .aliases = kAliases,
                                   .summary = "harmonic mean of precision and recall",
                                   .formula = "2 h / (D_P + D_R)",
                                   .source = "van Rijsbergen 1979, chapter 7",
                                   .own_fields = kOwnFields};

  explicit F1(const Context&) : Fbeta(1.0) {}
};

}  // namespace exactk
