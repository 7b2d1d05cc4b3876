// Means of a ratio over the ranks of the hits.
#pragma once

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class AveragePrecisionOfValues;

class AveragePrecision {
 public:
  using OfValues = AveragePrecisionOfValues;
  static constexpr std::string_view kAliases[] = {"ap", "map", "map_cut"};
  static constexpr std::string_view kOwnFields[] = {"ap_over", "weight"};
  static constexpr MetricInfo info{.name = "average_precision",
                                   .aliases = kAliases,
                                   .summary = "mean of the precision at the rank of each hit",
                                   .formula =
                                       "(sum over hits at ranks i <= k of h(i) / i) / "
                                       "min(k, |T|)",
                                   .source = "Buckley, Voorhees 2000",
                                   .own_fields = kOwnFields,
                                   .averages_precisions = true};

  explicit AveragePrecision(const Context& context) : run_(context.run) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) sum_ += static_cast<double>(item.hits) / static_cast<double>(item.rank);
    return sum_;
  }
  // At each rank of the tie: the chance of a hit times the expected number of hits down to it,
  // given that hit, over the rank.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    const auto size = static_cast<double>(tied.tie.size());
    const double chance = static_cast<double>(tied.hits) / size;
    const double others = size > 1 ? static_cast<double>(tied.hits - 1) / (size - 1) : 0;
    double sum = 0;
    for (Count i = 0; i < ranks; ++i) {
      if (i % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      const double hits =
          static_cast<double>(tied.hits_above + 1) + static_cast<double>(i) * others;
      sum += chance * hits / static_cast<double>(tied.tie.first + i);
    }
    return sum;
  }
  static Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules& rules) noexcept {
    return {sum, static_cast<double>(divisor(rules.ap_over, counts))};
  }

 private:
  const Run& run_;
  double sum_ = 0;
};

// Average precision whose hits count by their values.
class AveragePrecisionOfValues {
 public:
  explicit AveragePrecisionOfValues(const Context& context)
      : precisions_(context), divisor_(context) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (!item.relevant) return sum_;
    return sum_ += static_cast<double>(item.hits) / static_cast<double>(item.rank) * item.gain;
  }
  // Each hit of a tie is as likely at a rank as another, so that values count by their mean.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    return precisions_.expectation(tied, ranks) * (tied.gain / static_cast<double>(tied.hits));
  }
  [[nodiscard]] Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules& rules) {
    return divisor_.ratio(sum, rules.ap_over, counts);
  }

 private:
  AveragePrecision precisions_;
  GainDivisor divisor_;
  double sum_ = 0;
};

// The recalls at the hits sum to an integer over |T|.
class AverageRecall {
 public:
  static constexpr std::string_view kAliases[] = {"ar", "mar"};
  static constexpr std::string_view kOwnFields[] = {"ap_over", "recall_over"};
  static constexpr MetricInfo info{
      .name = "average_recall",
      .aliases = kAliases,
      .summary = "mean of the recall at the rank of each hit",
      .formula = "(sum over hits at ranks i <= k of h(i) / |T|) / min(k, |T|)",
      .source = "the analogue of average precision, as in Evidently's MAR@k",
      .own_fields = kOwnFields};

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) sum_ += static_cast<double>(item.hits);
    return sum_;
  }
  static Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules& rules) noexcept {
    return {sum, static_cast<double>(divisor(rules.ap_over, counts)) *
                     static_cast<double>(divisor(rules.recall_over, counts))};
  }

 private:
  double sum_ = 0;
};

}  // namespace exactk
