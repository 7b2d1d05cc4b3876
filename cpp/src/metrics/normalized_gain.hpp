// Gains of the list, each discounted by what the ideal ranking has gained more down to its rank.
#pragma once

#include <algorithm>
#include <cstddef>

#include "metrics/metric.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {

class NormalizedGain {
 public:
  static constexpr std::string_view kAliases[] = {"g"};
  static constexpr MetricInfo info{
      .name = "normalized_gain",
      .aliases = kAliases,
      .summary =
          "share of the gains that the list has, each discounted by how far its gains are behind "
          "those of the ideal ranking; with gain='binary', by the misses above it",
      .formula =
          "(sum over i <= k of gain(i) / log2(2 + C(i) - G(i))) / (sum of all gains), with the "
          "gains G of the first i items and C(i) = sum over j <= i of max(1, j-th highest gain)",
      .source = "trec_eval, G and binG",
      .micro = false,
      .uses_gains = true,
      .expects_unit_gains = true};

  explicit NormalizedGain(const Context& context) : row_(context.row), run_(context.run) {}

  double accumulate(const JudgedItem& item) {
    const auto items = row_.judged_items;
    for (; next_ < items.size() && items[next_].rank <= item.rank; ++next_)
      gained_ += items[next_].gain;
    if (!(item.gain > 0)) return sum_;
    return sum_ += discounted(item.gain, cost_to(item.rank) - gained_);
  }
  // Of unit gains. With v misses among the first ranks of the tie, the hits there are spread evenly
  // over the v + 1 gaps that these leave.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    constexpr double kLarge = 0x1p512;
    const Count misses = tied.tie.size() - tied.hits;
    const Count misses_above = tied.tie.first - 1 - tied.hits_above;
    const Count least = std::max(Count{0}, ranks - tied.hits);
    double weight = 1;  // in proportion to the chance of v misses
    double weights = 0;
    double sum = 0;
    double discounts = 0;
    for (Count v = 0; v <= std::min(misses, ranks); ++v) {
      if (v % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      discounts += discounted(1, static_cast<double>(misses_above + v));
      if (v < least) continue;
      weights += weight;
      sum += weight * (static_cast<double>(ranks - v) / static_cast<double>(v + 1) * discounts);
      weight *= static_cast<double>(misses - v) / static_cast<double>(v + 1);
      weight *= static_cast<double>(ranks - v) / static_cast<double>(v + 1 - (ranks - tied.hits));
      if (weight < kLarge) continue;
      weight /= kLarge;
      weights /= kLarge;
      sum /= kLarge;
    }
    return sum / weights;
  }
  [[nodiscard]] Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules&) {
    const double all = all_gains(counts.relevant);
    return {row_.hits_repeat ? sum : std::min(sum, all), all};  // no more, except by rounding
  }

 private:
  static double discounted(double gain, double behind) noexcept {
    return divide({gain, 0}, log2_of(2 + std::max(behind, 0.0))).high;
  }
  // Ranks ascend.
  double cost_to(Count rank) {
    if (row_.unit_gains) return static_cast<double>(rank);
    for (; ideal_ranks_ < std::min(rank, row_.relevant); ++ideal_ranks_) {
      if (ideal_ranks_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      cost_ += std::max(row_.ideal_gains[static_cast<std::size_t>(ideal_ranks_)], 1.0);
    }
    return cost_ + static_cast<double>(rank - ideal_ranks_);
  }
  double all_gains(Count relevant) {
    if (row_.unit_gains) return static_cast<double>(relevant);
    for (; summed_ < row_.ideal_gains.size(); ++summed_) {
      if (summed_ % kChunk == kChunk - 1) run_.checkpoint();
      all_ += row_.ideal_gains[summed_];
    }
    return all_;
  }

  const HitRow& row_;
  const Run& run_;
  std::size_t next_ = 0;  // item whose gain is not in `gained_`
  double gained_ = 0;
  Count ideal_ranks_ = 0;
  double cost_ = 0;
  std::size_t summed_ = 0;
  double all_ = 0;
  double sum_ = 0;
};

}  // namespace exactk
