// Means over the ranks of the hits.
#pragma once

#include "metrics/metric.hpp"

namespace exactk {

class AveragePrecision {
 public:
  static constexpr std::string_view kAliases[] = {"ap", "map", "map_cut"};
  static constexpr MetricInfo info{.name = "average_precision",
                                   .aliases = kAliases,
                                   .summary = "mean of the precision at the rank of each hit",
                                   .formula =
                                       "(sum over hits at ranks i <= k of h(i) / i) / "
                                       "min(k, |T|)",
                                   .source = "Buckley, Voorhees 2000"};

  explicit AveragePrecision(const Context& context) : checkpoint_(context.checkpoint) {}

  double see(const Hit& hit) noexcept {
    if (hit.relevant) sum_ += static_cast<double>(hit.hits) / static_cast<double>(hit.rank);
    return sum_;
  }
  // At each place, the chance of a hit times the hits that are then expected down to it.
  [[nodiscard]] double expect(const TiedHits& tied, Count reached) const {
    const auto size = static_cast<double>(tied.tie.size());
    const double chance = static_cast<double>(tied.hits) / size;
    const double others = size > 1 ? static_cast<double>(tied.hits - 1) / (size - 1) : 0;
    double sum = 0;
    for (Count place = 0; place < reached; ++place) {
      if (place % kLongWalk == kLongWalk - 1) checkpoint_();
      const double hits =
          static_cast<double>(tied.hits_above + 1) + static_cast<double>(place) * others;
      sum += chance * hits / static_cast<double>(tied.tie.first + place);
    }
    return sum;
  }
  static Ratio at(double sum, const Depth& depth, const Rules& rules) noexcept {
    return {sum, static_cast<double>(divisor(rules.ap_over, depth))};
  }

 private:
  const Checkpoint& checkpoint_;
  double sum_ = 0;
};

// The sum of the recalls at the hits is an integer over |T|.
class AverageRecall {
 public:
  static constexpr std::string_view kAliases[] = {"ar", "mar"};
  static constexpr MetricInfo info{
      .name = "average_recall",
      .aliases = kAliases,
      .summary = "mean of the recall at the rank of each hit",
      .formula = "(sum over hits at ranks i <= k of h(i) / |T|) / min(k, |T|)",
      .source = "the analogue of average precision, as in Evidently's MAR@k"};

  double see(const Hit& hit) noexcept {
    if (hit.relevant) sum_ += static_cast<double>(hit.hits);
    return sum_;
  }
  static Ratio at(double sum, const Depth& depth, const Rules& rules) noexcept {
    return {sum, static_cast<double>(divisor(rules.ap_over, depth)) *
                     static_cast<double>(divisor(rules.recall_over, depth))};
  }

 private:
  double sum_ = 0;
};

}  // namespace exactk
