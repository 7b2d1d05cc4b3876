// What of a user can be counted down to each cutoff, once for all metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"
#include "judge/hit_row.hpp"

namespace exactk {

// Ascending cutoffs. Metrics that agree in them share what is counted down to each.
class CutoffSet {
 public:
  explicit CutoffSet(std::vector<Count> cutoffs);

  [[nodiscard]] std::span<const Count> cutoffs() const noexcept { return cutoffs_; }

  // Counts down to each cutoff.
  void count_hits(const HitRow& row, std::span<HitCounts> counts,
                  const Checkpoint& checkpoint) const;

 private:
  // How many cutoffs are below the rank.
  [[nodiscard]] std::size_t count_below(Count rank) const noexcept;

  std::vector<Count> cutoffs_;
  std::vector<std::uint32_t> counts_below_;  // of the first ranks: a look-up without a branch
};

}  // namespace exactk
