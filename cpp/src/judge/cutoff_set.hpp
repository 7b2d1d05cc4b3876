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
  void fill(const HitRow& row, std::span<Reached> reached, const Checkpoint& checkpoint) const;

 private:
  // How many cutoffs do not reach the rank.
  [[nodiscard]] std::size_t steps_to(Count rank) const noexcept;

  std::vector<Count> cutoffs_;
  std::vector<std::uint32_t> steps_;  // to the first ranks: a look-up, without a guess at a branch
};

}  // namespace exactk
