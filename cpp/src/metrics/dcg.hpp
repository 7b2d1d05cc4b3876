// Gains, discounted by rank; as they are, and as a share of what the best ranking would gain.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace exactk {

class Dcg {
 public:
  static constexpr std::string_view kAliases[] = {"discounted_cumulative_gain"};
  static constexpr MetricInfo info{.name = "dcg",
                                   .aliases = kAliases,
                                   .summary = "sum of the gains, discounted by rank",
                                   .formula = "sum over i <= k of gain(i) / log2(i + 1)",
                                   .source = "Jarvelin, Kekalainen 2002",
                                   .unit_range = false,
                                   .micro = false,
                                   .uses_gains = true,
                                   .discounted = true};

  explicit Dcg(const Context& context)
      : discounts_(context.discounts), checkpoint_(context.checkpoint) {}

  double see(const Hit& hit) noexcept {
    if (hit.relevant) sum_ += hit.gain * discounts_.at(hit.rank);
    return sum_;
  }
  // The mean gain at each place.
  [[nodiscard]] double expect(const TiedHits& tied, Count reached) const {
    double sum = 0;
    for (Count place = 0; place < reached; ++place) {
      if (place % kLongWalk == kLongWalk - 1) checkpoint_();
      sum += discounts_.at(tied.tie.first + place);
    }
    return tied.gain / static_cast<double>(tied.tie.size()) * sum;
  }
  static Ratio at(double sum, const Depth&, const Rules&) noexcept { return {sum, 1}; }

 private:
  const DiscountTable& discounts_;
  const Checkpoint& checkpoint_;
  double sum_ = 0;
};

class Ndcg {
 public:
  static constexpr std::string_view kAliases[] = {"ndcg_cut", "normalized_dcg"};
  static constexpr MetricInfo info{
      .name = "ndcg",
      .aliases = kAliases,
      .summary = "discounted cumulative gain over that of the ideal ranking",
      .formula = "DCG / (sum over i <= min(k, |T|) of the i-th highest gain / log2(i + 1))",
      .source = "Jarvelin, Kekalainen 2002",
      .uses_gains = true,
      .uses_ideal = true,
      .discounted = true};

  explicit Ndcg(const Context& context)
      : gained_(context),
        discounts_(context.discounts),
        row_(context.row),
        checkpoint_(context.checkpoint) {}

  double see(const Hit& hit) noexcept { return gained_.see(hit); }
  [[nodiscard]] double expect(const TiedHits& tied, Count reached) const {
    return gained_.expect(tied, reached);
  }

  [[nodiscard]] Ratio at(double gained, const Depth& depth, const Rules& rules) {
    const double ideal = ideal_to(divisor(rules.ideal_over, depth));
    // No ranking gains more than the ideal, but for the rounding of another order of terms.
    return {row_.hits_repeat ? gained : std::min(gained, ideal), ideal};
  }

 private:
  // Cutoffs ascend, and so do the places of the ideal ranking: each is added once.
  double ideal_to(Count places) {
    if (row_.unit_gains) return discounts_.sum_to(places);
    for (; filled_ < places; ++filled_) {
      if (filled_ % kLongWalk == kLongWalk - 1) checkpoint_();
      ideal_ += row_.ideal[static_cast<std::size_t>(filled_)] * discounts_.at(filled_ + 1);
    }
    return ideal_;
  }

  Dcg gained_;
  const DiscountTable& discounts_;
  const HitRow& row_;
  const Checkpoint& checkpoint_;
  double ideal_ = 0;
  Count filled_ = 0;
};

}  // namespace exactk
