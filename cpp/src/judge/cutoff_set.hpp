// Counts down to each cutoff, made once per user for all metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/types.hpp"
#include "judge/hit_row.hpp"

namespace exactk {

// Ascending cutoffs. Metrics with the same cutoffs share the counts.
class CutoffSet {
 public:
  explicit CutoffSet(std::vector<Count> cutoffs);

  [[nodiscard]] std::span<const Count> cutoffs() const noexcept { return cutoffs_; }

  // Counts judged items and hits down to each cutoff.
  void count_hits(const HitRow& row, std::span<HitCounts> counts, const Run& run) const;

 private:
  // Returns the number of cutoffs below the rank.
  [[nodiscard]] std::size_t count_below(Count rank) const noexcept;

  std::vector<Count> cutoffs_;
  std::vector<std::uint32_t> counts_below_;  // for the first ranks: a lookup without a branch
};

}  // namespace exactk
