// Divisors by convention, as a table from the enum to a number, and the value of 0 / 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {

// Counts of one user down to a cutoff.
struct CutoffCounts {
  Count cutoff = kNoCutoff;
  Count list_length = 0;  // items in the list down to the cutoff
  Count list_depth = 0;   // rank of the last item of the list
  Count relevant = 0;     // in the whole truth
  Count nonrelevant = 0;
  Count judged = 0;  // judged items down to the cutoff
  Count hits = 0;    // relevant ones among them
};

[[nodiscard]] inline Count divisor(Over over, const CutoffCounts& counts) noexcept {
  switch (over) {
    case Over::cutoff:  // without a cutoff, the length of the list
      return counts.cutoff == kNoCutoff ? counts.list_depth : counts.cutoff;
    case Over::list:
      return counts.list_length;
    case Over::min_cutoff_relevant:
      return std::min(counts.cutoff, counts.relevant);
    case Over::min_list_relevant:
      return std::min(counts.list_length, counts.relevant);
    case Over::hits:
      return std::max(counts.hits, Count{1});
    case Over::relevant:
    case Over::all_judged:  // judged items that are not relevant have no gain
      break;
  }
  return counts.relevant;
}

// Whether a divisor counts relevant items. The others count ranks.
[[nodiscard]] constexpr bool counts_relevant(Over over) noexcept {
  return over != Over::cutoff && over != Over::list;
}

// Whether what counts items by their values is divided by those of relevant items, whatever the
// divisor counts.
[[nodiscard]] constexpr bool is_self_normalized(Weight weight) noexcept {
  return weight == Weight::self_normalized;
}

// Returns the weight of a user in GAUC.
[[nodiscard]] inline double gauc_weight(GaucOver over, const CutoffCounts& counts) noexcept {
  const Count others = counts.list_length - counts.hits;
  return static_cast<double>(counts.relevant + (over == GaucOver::impressions ? others : 0));
}

// Returns the divisor of a mean over the items of a list that count.
[[nodiscard]] inline Count list_mean_divisor(Over over, Count items,
                                             const CutoffCounts& counts) noexcept {
  return over == Over::list ? items : divisor(over, counts);
}

// Returns the divisor of a sum over the pairs of the items of a list that count.
[[nodiscard]] inline Count pair_divisor(IldOver over, Count items,
                                        const CutoffCounts& counts) noexcept {
  if (over == IldOver::list) return items;
  if (over == IldOver::pairs_or_one && counts.list_length < 2) return 1;
  return items * (items - 1) / 2;
}

// Returns the distance from several items, by their distances. Requires at least one.
[[nodiscard]] inline double distance_of_items(HistoryDistance kind,
                                              std::span<const double> distances) noexcept {
  if (kind == HistoryDistance::nearest) return *std::ranges::min_element(distances);
  double sum = 0;
  for (const double distance : distances) sum += distance;
  return sum / static_cast<double>(distances.size());
}

// Returns the number of hits with which a list has the recall, rounded by convention.
[[nodiscard]] inline double hits_at_recall(RecallRank rank, double recall,
                                           Count relevant) noexcept {
  const double hits = recall * static_cast<double>(relevant);
  return rank == RecallRank::round ? std::round(hits) : std::floor(hits + 0.9);
}

// Whether RBP has a residual, as it has below every list unless that asks for an unjudged item.
[[nodiscard]] inline bool has_residual(ResidualTail tail, const CutoffCounts& counts) noexcept {
  return tail == ResidualTail::always || counts.judged < counts.list_length;
}

// Returns the logarithm of a number, rounded once from about 100 bits.
[[nodiscard]] inline double log_in(EntropyBase base, double number) noexcept {
  return base == EntropyBase::two ? log2_of(number).high : natural_log(number);
}

// Returns the divisor of RBP.
[[nodiscard]] inline double rbp_divisor(RbpOver over, double highest_gain) noexcept {
  return over == RbpOver::highest_gain ? std::max(highest_gain, 1.0) : 1;
}

// Whether values are means over the orders of ties.
[[nodiscard]] inline bool is_expectation(Ties ties) noexcept { return ties == Ties::expected; }

// Whether rank-biased overlap expects overlaps below the lists.
[[nodiscard]] inline bool extrapolates(RboOver over) noexcept {
  return over == RboOver::extrapolated;
}

// Whether compatibility is divided by that of the ideal order.
[[nodiscard]] inline bool is_over_ideal(CompatibilityOver over) noexcept {
  return over == CompatibilityOver::ideal;
}

// The value of a metric for one user. Metrics do not divide, because a convention decides about 0 /
// 0.
struct Ratio {
  double numerator = 0;
  double denominator = 1;
};

[[nodiscard]] constexpr Ratio ratio(Count numerator, Count denominator) noexcept {
  return {static_cast<double>(numerator), static_cast<double>(denominator)};
}

}  // namespace exactk
