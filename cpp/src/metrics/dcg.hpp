// Discounted cumulative gain, and its ratio to that of the ideal ranking.
#pragma once

#include <algorithm>

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class Dcg {
 public:
  using OfValues = SumOfGains<Dcg>;
  static constexpr std::string_view kAliases[] = {"discounted_cumulative_gain"};
  static constexpr std::string_view kOwnFields[] = {"weight"};
  static constexpr MetricInfo info{.name = "dcg",
                                   .aliases = kAliases,
                                   .summary = "sum of the gains, discounted by rank",
                                   .formula = "sum over i <= k of gain(i) / log2(i + 1)",
                                   .source = "Jarvelin, Kekalainen 2002",
                                   .unit_range = false,
                                   .always_divided = true,
                                   .micro = false,
                                   .own_fields = kOwnFields,
                                   .uses_gains = true,
                                   .discounted = true};

  explicit Dcg(const Context& context) : discounts_(context.discounts), run_(context.run) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) sum_ += item.gain * discounts_.at(item.rank);
    return sum_;
  }
  // The mean gain at each rank of the tie.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    double sum = 0;
    for (Count i = 0; i < ranks; ++i) {
      if (i % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      sum += discounts_.at(tied.tie.first + i);
    }
    return tied.gain / static_cast<double>(tied.tie.size()) * sum;
  }
  static Ratio ratio_at(double sum, const CutoffCounts&, const Rules&) noexcept { return {sum, 1}; }

 private:
  const DiscountTable& discounts_;
  const Run& run_;
  double sum_ = 0;
};

class Ndcg {
 public:
  using OfValues = Ndcg;  // whose ideal ranking has the gains that values multiply
  static constexpr std::string_view kAliases[] = {"ndcg_cut", "normalized_dcg"};
  static constexpr std::string_view kOwnFields[] = {"ideal_over", "weight"};
  static constexpr MetricInfo info{
      .name = "ndcg",
      .aliases = kAliases,
      .summary = "discounted cumulative gain over that of the ideal ranking",
      .formula = "DCG / (sum over i <= min(k, |T|) of the i-th highest gain / log2(i + 1))",
      .source = "Jarvelin, Kekalainen 2002",
      .own_fields = kOwnFields,
      .uses_gains = true,
      .uses_ideal = true,
      .discounted = true};

  explicit Ndcg(const Context& context)
      : dcg_(context), discounts_(context.discounts), row_(context.row), run_(context.run) {}

  double accumulate(const JudgedItem& item) noexcept { return dcg_.accumulate(item); }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    return dcg_.expectation(tied, ranks);
  }

  [[nodiscard]] Ratio ratio_at(double dcg, const CutoffCounts& counts, const Rules& rules) {
    const double ideal = ideal_dcg(divisor(rules.ideal_over, counts));
    // No ranking gains more than the ideal one, except by rounding in another order of terms.
    return {row_.hits_repeat ? dcg : std::min(dcg, ideal), ideal};
  }

 private:
  // Adds each rank of the ideal ranking once, because cutoffs ascend.
  double ideal_dcg(Count ranks) {
    if (row_.unit_gains) return discounts_.sum_to(ranks);
    for (; ideal_ranks_ < ranks; ++ideal_ranks_) {
      if (ideal_ranks_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      ideal_dcg_ += row_.ideal_gains[static_cast<std::size_t>(ideal_ranks_)] *
                    discounts_.at(ideal_ranks_ + 1);
    }
    return ideal_dcg_;
  }

  Dcg dcg_;
  const DiscountTable& discounts_;
  const HitRow& row_;
  const Run& run_;
  double ideal_dcg_ = 0;
  Count ideal_ranks_ = 0;
};

}  // namespace exactk
