// What a convention divides by, as a table from the enum to a number; and what 0 / 0 is.
#pragma once

#include <algorithm>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// What is counted of a user down to a cutoff.
struct CutoffCounts {
  Count cutoff = kNoCutoff;
  Count list_length = 0;  // items of the list down to the cutoff
  Count list_depth = 0;   // the rank of the last item of the list
  Count relevant = 0;     // in the whole truth
  Count nonrelevant = 0;
  Count judged = 0;  // judged items seen down to here
  Count hits = 0;    // of these, the relevant ones
};

[[nodiscard]] inline Count divisor(Over over, const CutoffCounts& counts) noexcept {
  switch (over) {
    case Over::cutoff:  // without a cutoff, the list is what was asked for
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

// A metric's value for one user. No metric divides: what 0 / 0 is, is a convention.
struct Ratio {
  double numerator = 0;
  double denominator = 1;
};

[[nodiscard]] constexpr Ratio ratio(Count numerator, Count denominator) noexcept {
  return {static_cast<double>(numerator), static_cast<double>(denominator)};
}

}  // namespace exactk
