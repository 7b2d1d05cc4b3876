// Average precision for grades: the mean of a ratio that blends precision with cumulated gains.
#pragma once

#include <algorithm>
#include <cstddef>

#include "metrics/metric.hpp"

namespace exactk {

class QMeasure {
 public:
  static constexpr std::string_view kOwnFields[] = {"ap_over"};
  static constexpr MetricInfo info{
      .name = "q_measure",
      .summary =
          "mean over the hits of precision blended with the cumulated gain over the ideal one; "
          "beta = 0 is average precision",
      .formula =
          "(sum over hits at ranks i <= k of (h(i) + beta G(i)) / (i + beta G*(i))) / min(k, |T|), "
          "with the gains G of the first i items and G* of the i best relevant items",
      .source = "Sakai 2004",
      .parameter = {"beta", 1, 0, 1e15},
      .micro = false,
      .own_fields = kOwnFields,
      .averages_precisions = true,
      .uses_gains = true};

  explicit QMeasure(const Context& context)
      : row_(context.row), beta_(context.parameter), run_(context.run) {}

  double accumulate(const JudgedItem& item) {
    const auto items = row_.judged_items;
    for (; next_ < items.size() && items[next_].rank <= item.rank; ++next_)
      gained_ += items[next_].gain;
    if (!item.relevant) return sum_;
    ideal_.add_to(item.rank, row_, run_);
    const double blended = blend(static_cast<double>(item.hits), gained_, item.rank, ideal_.gained);
    return sum_ +=
           row_.hits_repeat ? blended : std::min(blended, 1.0);  // no more, but for rounding
  }
  // At each rank of the tie: the chance of a hit times the expected hits and gains down to it,
  // given that hit.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) {
    for (; row_.tied_hits[next_].tie.last < tied.tie.first; ++next_)
      gained_ += row_.tied_hits[next_].gain;
    ideal_.add_to(tied.tie.first - 1, row_, run_);
    const auto size = static_cast<double>(tied.tie.size());
    const double chance = static_cast<double>(tied.hits) / size;
    const double others = size > 1 ? static_cast<double>(tied.hits - 1) / (size - 1) : 0;
    IdealGains ideal = ideal_;
    double sum = 0;
    for (Count i = 0; i < ranks; ++i) {
      const double above = static_cast<double>(i) * others;
      const double hits = chance * (static_cast<double>(tied.hits_above + 1) + above);
      const double gains = chance * gained_ + tied.gain / size * (1 + above);
      ideal.add_to(tied.tie.first + i, row_, run_);
      sum += blend(hits, gains, tied.tie.first + i, ideal.gained);
    }
    return sum;
  }
  static Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules& rules) noexcept {
    return {sum, static_cast<double>(divisor(rules.ap_over, counts))};
  }

 private:
  // The gains of the first ranks of the ideal ranking.
  struct IdealGains {
    Count ranks = 0;
    double gained = 0;

    void add_to(Count rank, const HitRow& row, const Run& run) {
      for (; ranks < std::min(rank, row.relevant); ++ranks) {
        if (ranks % kCheckpointInterval == kCheckpointInterval - 1) run.checkpoint();
        gained += row.unit_gains ? 1 : row.ideal_gains[static_cast<std::size_t>(ranks)];
      }
    }
  };

  [[nodiscard]] double blend(double hits, double gained, Count rank, double ideal) const noexcept {
    return (hits + beta_ * gained) / (static_cast<double>(rank) + beta_ * ideal);
  }

  const HitRow& row_;
  double beta_;
  const Run& run_;
  std::size_t next_ = 0;  // item, or tie, whose gain is not in `gained_`
  double gained_ = 0;
  IdealGains ideal_;
  double sum_ = 0;
};

}  // namespace exactk
