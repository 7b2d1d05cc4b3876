// The area under the ROC curve down to the first k misses, of all relevant items or the first k.
#pragma once

#include <algorithm>
#include <limits>

#include "metrics/metric.hpp"

namespace exactk {

class PartialAuc {
 public:
  static constexpr std::string_view kAliases[] = {"pauc"};
  static constexpr MetricInfo info{
      .name = "partial_auc",
      .aliases = kAliases,
      .summary =
          "share of the pairs of a relevant item and one of the first misses, as many as `misses` "
          "says, in which the relevant item is above",
      .formula = "(sum over hits of max(0, m - misses above)) / (m |T|), m = misses",
      .source = "Budhiraja et al. 2020; RecTools, PartialAUC",
      .parameter = {"misses", std::numeric_limits<double>::quiet_NaN(), 1, 1e15, true}};

  explicit PartialAuc(const Context& context) noexcept : misses_(context.parameter) {}

  double accumulate(const JudgedItem& item) noexcept {
    const auto above = static_cast<double>(item.rank - item.hits);
    if (item.relevant) right_pairs_ += std::max(misses_ - above, 0.0);
    return right_pairs_;
  }
  [[nodiscard]] Ratio ratio_at(double right_pairs, const CutoffCounts& counts,
                               const Rules&) const noexcept {
    return {right_pairs, misses_ * static_cast<double>(counts.relevant)};
  }
  [[nodiscard]] double misses() const noexcept { return misses_; }

 private:
  double misses_;
  double right_pairs_ = 0;
};

class PartialAucOfFirstHits {
 public:
  static constexpr MetricInfo info{
      .name = "pap",
      .summary =
          "partial_auc of the first hits alone, as many as `misses` says (pAp@k: partial AUC and "
          "precision)",
      .formula =
          "(sum over the first m hits of max(0, m - misses above)) / (m min(m, |T|)), m = misses",
      .source = "Budhiraja et al. 2020; Hiranandani et al. 2020; RecTools, PAP",
      .parameter = PartialAuc::info.parameter};

  explicit PartialAucOfFirstHits(const Context& context) noexcept : partial_auc_(context) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (static_cast<double>(item.hits) <= partial_auc_.misses())
      sum_ = partial_auc_.accumulate(item);
    return sum_;
  }
  [[nodiscard]] Ratio ratio_at(double right_pairs, const CutoffCounts& counts,
                               const Rules&) const noexcept {
    const double misses = partial_auc_.misses();
    return {right_pairs, misses * std::min(misses, static_cast<double>(counts.relevant))};
  }

 private:
  PartialAuc partial_auc_;
  double sum_ = 0;
};

}  // namespace exactk
