// How far up the other list takes an item of the one.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace exactk {

class LeastItemPromoted {
 public:
  static constexpr std::string_view kAliases[] = {"least_item_promoted"};
  static constexpr MetricInfo info{
      .name = "lip",
      .aliases = kAliases,
      .summary =
          "by how many ranks the item that one has lowest is beyond rank k there, of the first k "
          "of other; 0 / 0 if one has none of them",
      .formula = "max(0, max over items of B that one has of their rank in one - k)",
      .source = "LensKit, least_item_promoted, which counts ranks from 0 and so is 1 lower",
      .direction = Direction::none,
      .unit_range = false,
      .micro = false,
      .uses_gains = true,
      .reads_truth = false,
      .compares_lists = true,
      .reads_beyond_cutoff = true};

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) lowest_rank_ = std::max(lowest_rank_, item.gain);
    return lowest_rank_;
  }
  static Ratio ratio_at(double lowest_rank, const CutoffCounts& counts, const Rules&) noexcept {
    const double beyond = lowest_rank - static_cast<double>(divisor(Over::cutoff, counts));
    return {std::max(0.0, beyond), lowest_rank > 0 ? 1.0 : 0.0};
  }

 private:
  double lowest_rank_ = 0;  // in the one list
};

}  // namespace exactk
