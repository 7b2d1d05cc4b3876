// Geometric means: the exponential of the mean of the users' logarithms.
#pragma once

#include <cmath>

#include "numeric/logarithm.hpp"

namespace exactk {

// Lower bound of a value, as in trec_eval; without it, one user without a hit would make the mean
// 0.
inline constexpr double kLeastFactor = 1e-5;

// The term that a user adds to the sum. Passes NaN through bit by bit, because one NaN marks
// skipped users.
[[nodiscard]] inline double geometric_term(double value) noexcept {
  constexpr double kLeastTerm = natural_log(kLeastFactor);
  if (std::isnan(value)) return value;
  return value > kLeastFactor ? natural_log(value) : kLeastTerm;
}

}  // namespace exactk
