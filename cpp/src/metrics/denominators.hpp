// What a convention divides by, as a table from the enum to a number; and what 0 / 0 is.
#pragma once

#include <algorithm>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// What is known of a user at a cutoff, while the hits are walked in rank order.
struct Depth {
  Count cutoff = kNoCutoff;
  Count list = 0;      // min(k, length of the list)
  Count relevant = 0;  // in the whole truth
  Count all_nonrelevant = 0;
  Count judged = 0;  // judged items seen down to here
  Count hits = 0;    // of these, the relevant ones
};

[[nodiscard]] inline Count divisor(Over over, const Depth& depth) noexcept {
  switch (over) {
    case Over::cutoff:  // without a cutoff, the list is what was asked for
      return depth.cutoff == kNoCutoff ? depth.list : depth.cutoff;
    case Over::list:
      return depth.list;
    case Over::min_cutoff_relevant:
      return std::min(depth.cutoff, depth.relevant);
    case Over::min_list_relevant:
      return std::min(depth.list, depth.relevant);
    case Over::hits:
      return std::max(depth.hits, Count{1});
    case Over::relevant:
    case Over::all_judged:  // judged items that are not relevant have no gain
      break;
  }
  return depth.relevant;
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
