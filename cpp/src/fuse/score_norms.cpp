#include "fuse/score_norms.hpp"

#include <algorithm>
#include <cmath>

namespace exactk {
namespace {

// Returns (score - origin) / range for each score; if there is no range, `without`.
void scale(std::span<double> scores, double origin, double range, double without) {
  for (double& score : scores) score = range > 0 ? (score - origin) / range : without;
}

// Subtracts the mean, and divides by the standard deviation of the population. Scores are put
// between 0 and 1 before, where neither their squares vanish nor their mean is lost.
void standardise(std::span<double> scores, double least, double range, RoundedSum& sum) {
  scale(scores, least, range, 0);
  const auto size = static_cast<double>(scores.size());
  const double mean = rounded_sum(scores, sum) / size;
  sum.clear();
  for (const double score : scores) sum.add((score - mean) * (score - mean));
  scale(scores, mean, std::sqrt(sum.total() / size), 0);
}

}  // namespace

void normalise(std::span<double> scores, ScoreNorm norm, double low, RoundedSum& sum) {
  if (scores.empty() || norm == ScoreNorm::none) return;
  const auto [least, greatest] = std::ranges::minmax(scores);
  const double range = greatest - least;
  switch (norm) {
    case ScoreNorm::min_max:
      scale(scores, least, range, 1);
      break;
    case ScoreNorm::max:
      scale(scores, 0, greatest, 0);
      break;
    case ScoreNorm::theoretical_min_max:
      scale(scores, low, greatest - low, 1);
      break;
    case ScoreNorm::sum:
      for (double& score : scores) score -= least;
      scale(scores, 0, rounded_sum(scores, sum), 1 / static_cast<double>(scores.size()));
      break;
    default:  // z, distribution
      standardise(scores, least, range, sum);
      if (norm == ScoreNorm::distribution) scale(scores, -3, 6, 0);
  }
}

}  // namespace exactk
