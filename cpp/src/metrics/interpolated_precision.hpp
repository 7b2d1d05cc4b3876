// Precision that never falls as recall falls: that at a rank is the highest of any rank below.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "metrics/denominators.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class InterpolatedPrecision {
 public:
  static constexpr std::string_view kAliases[] = {"iprec", "iprec_at_recall"};
  static constexpr std::string_view kOwnFields[] = {"recall_rank"};
  static constexpr MetricInfo info{
      .name = "interpolated_precision",
      .aliases = kAliases,
      .summary = "highest precision at a rank where the list has this share of the relevant items",
      .formula = "max over ranks i <= k with h(i) >= c of h(i) / i, c = recall |T| rounded",
      .source = "Salton, McGill 1983; Manning, Raghavan, Schuetze 2008, section 8.4",
      .parameter = {"recall", std::numeric_limits<double>::quiet_NaN(), 0, 1},
      .always_divided = true,
      .micro = false,
      .own_fields = kOwnFields};

  explicit InterpolatedPrecision(const Context& context)
      : InterpolatedPrecision(context, context.parameter) {}
  InterpolatedPrecision(const Context& context, double recall)
      : hits_(hits_at_recall(context.rules.recall_rank, recall, context.row.relevant)) {}

  // Precision is highest at a hit.
  double accumulate(const JudgedItem& item) noexcept {
    const auto hits = static_cast<double>(item.hits);
    if (item.relevant && hits >= hits_)
      highest_ = std::max(highest_, hits / static_cast<double>(item.rank));
    return highest_;
  }
  static Ratio ratio_at(double precision, const CutoffCounts&, const Rules&) noexcept {
    return {precision, 1};
  }

 private:
  double hits_;
  double highest_ = 0;
};

class ElevenPointPrecision {
 public:
  static constexpr std::string_view kAliases[] = {"eleven_point_average_precision"};
  static constexpr MetricInfo info{
      .name = "eleven_point_precision",
      .aliases = kAliases,
      .summary = "mean of the interpolated precisions at the recalls 0, 0.1, ..., 1",
      .formula = "mean over j = 0, ..., 10 of interpolated_precision(recall=j/10)",
      .source = InterpolatedPrecision::info.source,
      .always_divided = true,
      .micro = false,
      .own_fields = InterpolatedPrecision::kOwnFields};

  explicit ElevenPointPrecision(const Context& context) {
    for (int i = 0; i < kPoints; ++i) points_.emplace_back(context, i / (kPoints - 1.0));
  }

  double accumulate(const JudgedItem& item) noexcept {
    double sum = 0;
    for (InterpolatedPrecision& point : points_) sum += point.accumulate(item);
    return sum;
  }
  static Ratio ratio_at(double sum, const CutoffCounts&, const Rules&) noexcept {
    return {sum / kPoints, 1};
  }

 private:
  static constexpr int kPoints = 11;

  std::vector<InterpolatedPrecision> points_;
};

}  // namespace exactk
