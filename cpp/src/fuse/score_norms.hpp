// Norms of the scores of one list.
#pragma once

#include <span>

#include "exactk/fuse.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {

// The greatest score that is fused: room for squares, and for sums of products with weights.
inline constexpr double kMaxScore = 0x1p500;

// Replaces scores by their normalised ones; `low` is the lowest possible score. Each sum is
// rounded once. Returns what the norm needs of the scores and does not find, or nullptr.
[[nodiscard]] const char* normalise(std::span<double> scores, ScoreNorm norm, double low,
                                    RoundedSum& sum);

}  // namespace exactk
