// The reciprocal of the first hit's rank.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace exactk {

class ReciprocalRank {
 public:
  static constexpr HitsRead kHitsRead = HitsRead::first_rank;

  static constexpr std::string_view kAliases[] = {"rr", "mrr", "recip_rank"};
  static constexpr MetricInfo info{.name = "reciprocal_rank",
                                   .aliases = kAliases,
                                   .summary = "1 / rank of the first relevant item, 0 without one",
                                   .formula = "1 / min{i <= k : item i is relevant}",
                                   .source = "Voorhees 1999 (TREC-8 question answering)",
                                   .always_divided = true,
                                   .micro = false};

  explicit ReciprocalRank(const Context& context)
      : first_hit_(context.row.first_hit), run_(context.run) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const noexcept {
    return counts.hits > 0 ? ratio(1, first_hit_) : ratio(0, 1);
  }
  static Ratio ratio_at(double expected, const CutoffCounts&, const Rules&) noexcept {
    return {expected, 1};
  }

  // Over the ranks of the first tie with hits: the chance that the first hit is there, over the
  // rank.
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    if (tied.hits_above > 0) return 0;
    const Count size = tied.tie.size();
    const Count possible_ranks = std::min(ranks, size - tied.hits + 1);
    double chance = static_cast<double>(tied.hits) / static_cast<double>(size);
    double sum = 0;
    for (Count i = 0; i < possible_ranks && chance > 0; ++i) {
      if (i % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      sum += chance / static_cast<double>(tied.tie.first + i);
      chance *= static_cast<double>(size - i - tied.hits) / static_cast<double>(size - i - 1);
    }
    return sum;
  }

 private:
  Count first_hit_;
  const Run& run_;
};

}  // namespace exactk
