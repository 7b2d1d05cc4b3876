// Norms of the scores of one list.
#pragma once

#include <span>

#include "exactk/fuse.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {

// The greatest score that is fused: room for squares, and for sums of products with weights.
inline constexpr double kMaxScore = 0x1p500;

// Replaces scores by their normalised ones. Each sum is rounded once. Requires a greatest score
// above 0 for `max`, and none below `low`, the lowest possible one, for `theoretical_min_max`.
void normalise(std::span<double> scores, ScoreNorm norm, double low, RoundedSum& sum);

}  // namespace exactk
