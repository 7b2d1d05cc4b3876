#include "judge/cutoff_set.hpp"

#include <algorithm>
#include <utility>

namespace exactk {

CutoffSet::CutoffSet(std::vector<Count> cutoffs) : cutoffs_(std::move(cutoffs)) {
  constexpr Count kMostRanks = 1024;
  const Count ranks = cutoffs_.empty() ? 0 : std::min(cutoffs_.back(), kMostRanks);
  counts_below_.reserve(static_cast<std::size_t>(ranks) + 1);
  std::uint32_t below = 0;
  for (Count rank = 0; rank <= ranks; ++rank) {
    while (below < cutoffs_.size() && cutoffs_[below] < rank) ++below;
    counts_below_.push_back(below);
  }
}

std::size_t CutoffSet::count_below(Count rank) const noexcept {
  const auto index = static_cast<std::size_t>(rank);
  if (index < counts_below_.size()) return counts_below_[index];
  return static_cast<std::size_t>(std::ranges::lower_bound(cutoffs_, rank) - cutoffs_.begin());
}

void CutoffSet::count_hits(const HitRow& row, std::span<HitCounts> counts, const Run& run) const {
  std::ranges::fill(counts, HitCounts{});
  in_chunks(row.judged_items.size(), run, [&](std::size_t begin, std::size_t end) {
    for (const JudgedItem& item : row.judged_items.subspan(begin, end - begin)) {
      const std::size_t first_cutoff = count_below(item.rank);
      if (first_cutoff == counts.size()) return;
      ++counts[first_cutoff].judged;
      counts[first_cutoff].hits += item.relevant ? 1 : 0;
    }
  });
  for (std::size_t i = 1; i < counts.size(); ++i) {
    counts[i].judged += counts[i - 1].judged;
    counts[i].hits += counts[i - 1].hits;
  }
}

}  // namespace exactk
