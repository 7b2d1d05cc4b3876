#include "fuse/score_norms.hpp"

#include <algorithm>
#include <cmath>

namespace exactk {
namespace {

// Returns (score - origin) / range for each score; if there is no range, `without`.
void scale(std::span<double> scores, double origin, double range, double without) {
  for (double& score : scores) score = range > 0 ? (score - origin) / range : without;
}

double mean_of(std::span<const double> numbers, RoundedSum& sum) {
  return rounded_sum(numbers, sum) / static_cast<double>(numbers.size());
}

// Returns the population's standard deviation.
double deviation_from(double mean, std::span<const double> scores, RoundedSum& sum) {
  sum.clear();
  for (const double score : scores) sum.add((score - mean) * (score - mean));
  return std::sqrt(sum.total() / static_cast<double>(scores.size()));
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
    default: {  // z, distribution
      const double mean = mean_of(scores, sum);
      const double deviation = range > 0 ? deviation_from(mean, scores, sum) : 0;
      if (norm == ScoreNorm::z) {
        scale(scores, mean, deviation, 0);
      } else {
        scale(scores, mean - 3 * deviation, 6 * deviation, 0.5);
      }
    }
  }
}

}  // namespace exactk
