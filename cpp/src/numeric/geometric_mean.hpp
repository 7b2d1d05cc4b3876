// What a geometric mean is made of: the exponential of the mean of the users' logarithms.
#pragma once

#include <cmath>

#include "numeric/logarithm.hpp"

namespace exactk {

// What a value counts at least, as in trec_eval: one user without a hit would make the mean 0.
inline constexpr double kLeastFactor = 1e-5;

// What is summed of a user. NaN stays the NaN that it is, as one of them says that a user is
// skipped.
[[nodiscard]] inline double geometric_term(double value) noexcept {
  constexpr double kLeastTerm = natural_log(kLeastFactor);
  if (std::isnan(value)) return value;
  return value > kLeastFactor ? natural_log(value) : kLeastTerm;
}

}  // namespace exactk
