#include "judge/cutoff_set.hpp"

#include <algorithm>
#include <utility>

namespace exactk {

CutoffSet::CutoffSet(std::vector<Count> cutoffs) : cutoffs_(std::move(cutoffs)) {
  constexpr Count kRanks = 1024;
  std::uint32_t step = 0;
  for (Count rank = 0; rank <= kRanks; ++rank) {
    while (step < cutoffs_.size() && cutoffs_[step] < rank) ++step;
    steps_.push_back(step);
  }
}

std::size_t CutoffSet::steps_to(Count rank) const noexcept {
  const auto place = static_cast<std::size_t>(rank);
  if (place < steps_.size()) return steps_[place];
  return static_cast<std::size_t>(std::ranges::lower_bound(cutoffs_, rank) - cutoffs_.begin());
}

void CutoffSet::fill(const HitRow& row, std::span<Reached> reached,
                     const Checkpoint& checkpoint) const {
  std::ranges::fill(reached, Reached{});
  in_chunks(row.judged.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const Hit& hit : row.judged.subspan(begin, end - begin)) {
      const std::size_t step = steps_to(hit.rank);
      if (step == reached.size()) return;
      ++reached[step].judged;
      reached[step].hits += hit.relevant ? 1 : 0;
    }
  });
  for (std::size_t i = 1; i < reached.size(); ++i) {
    reached[i].judged += reached[i - 1].judged;
    reached[i].hits += reached[i - 1].hits;
  }
}

}  // namespace exactk
