// The request's values, settled before any user is touched: what is walked together, and how.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exact_sum.hpp"
#include "judge.hpp"
#include "metrics/metric.hpp"
#include "metrik/evaluate.hpp"

namespace metrik {

// Gains and weights up to 2^256 leave room for the square of a sum of 2^40 of them.
inline constexpr double kMaxGain = 0x1p256;

// Values that one walk over a HitRow serves: the same metric and rules at several cutoffs.
struct Run {
  const MetricInfo* info;
  Score score;
  double parameter;
  Rules rules;
  std::size_t lens;                       // index into Plan::lenses
  Exactness exactness;                    // of the sum of its values, when they are not weighted
  std::vector<Count> cutoffs = {};        // ascending
  std::vector<std::size_t> outputs = {};  // beside the cutoffs: index into Request::values
};

struct Plan {
  std::vector<Lens> lenses;
  std::size_t tally_lens = 0;
  std::vector<Run> runs;
  std::size_t most_cutoffs = 0;  // of any run
};

// Throws InputError where a value asks for what no metric or rule can give.
[[nodiscard]] Plan make_plan(std::span<const PlannedValue> values, const Rules& tally_rules);

}  // namespace metrik
