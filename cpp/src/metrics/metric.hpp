// What a metric is: a description, and a walk over the judged items of one user's ranking.
//
//   struct Recall {
//     static constexpr MetricInfo info{...};
//     explicit Recall(const Context&);       // only if it needs parameters or tables
//     Ratio at(const Depth&, const Rules&);  // at a cutoff; the cutoffs ascend
//   };
//
// A metric that needs the ranks of the hits walks them, and one walk serves all cutoffs:
//
//     double see(const Hit&);       // each judged item, by rank; returns what it comes to so far
//     Ratio at(double so_far, const Depth&, const Rules&);
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "checkpoint.hpp"
#include "discounts.hpp"
#include "hit_row.hpp"
#include "metrics/denominators.hpp"
#include "metrik/conventions.hpp"
#include "metrik/metrics.hpp"

namespace metrik {

// What is fixed for all cutoffs of one walk.
struct Context {
  const HitRow& row;
  const Rules& rules;
  const DiscountTable& discounts;  // with the sums of all places of an ideal ranking
  double parameter;
  const Checkpoint& checkpoint;  // passed during very long walks
};

// What is fixed for all users of a batch.
struct Task {
  std::span<const HitRow> rows;
  std::span<const Depth> depths;  // rows x cutoffs
  const Rules& rules;
  const DiscountTable& discounts;
  double parameter;
  double quotient_by_zero;  // the value where the divisor is 0
  bool keeps_ratios;        // for a sum of their own, as in a micro average
  const Checkpoint& checkpoint;
};

// Where the results go.
struct Scores {
  std::vector<double*> values = {};  // by cutoff: a column, in it a place a user
  std::vector<Ratio> ratios = {};    // rows x cutoffs, if they are kept
  std::vector<double> so_far = {0};  // of one user's walk
};

template <class Metric>
concept WalksHits = requires(Metric metric, const Hit& hit) { metric.see(hit); };

// Steps between the checkpoints of a long walk.
inline constexpr Count kLongWalk = kChunk;

template <class Metric>
Metric start(const Context& context) {
  if constexpr (std::constructible_from<Metric, const Context&>) {
    return Metric(context);
  } else {
    return Metric{};
  }
}

// What the metric comes to after each judged item; first, before any.
template <class Metric>
void walk(Metric& metric, const Context& context, std::vector<double>& so_far) {
  const std::span<const Hit> judged = context.row.judged;
  grow(so_far, judged.size() + 1, 0.0, context.checkpoint);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (i % kChunk == kChunk - 1) context.checkpoint();
    so_far[i + 1] = metric.see(judged[i]);
  }
}

// Fills the scores of all users.
template <class Metric>
void score(const Task& task, Scores& scores) {
  const std::size_t cutoffs = scores.values.size();
  if (task.keeps_ratios) scores.ratios.resize(task.rows.size() * cutoffs);
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const Context context{task.rows[user], task.rules, task.discounts, task.parameter,
                          task.checkpoint};
    auto metric = start<Metric>(context);  // NOLINT(misc-const-correctness): some are walked
    if constexpr (WalksHits<Metric>) walk(metric, context, scores.so_far);
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const Depth& depth = task.depths[user * cutoffs + i];
      Ratio ratio;
      if constexpr (WalksHits<Metric>) {
        const double so_far = scores.so_far[static_cast<std::size_t>(depth.judged)];
        ratio = metric.at(so_far, depth, task.rules);
      } else {
        ratio = metric.at(depth, task.rules);
      }
      if (task.keeps_ratios) scores.ratios[user * cutoffs + i] = ratio;
      scores.values[i][user] =
          ratio.denominator != 0 ? ratio.numerator / ratio.denominator : task.quotient_by_zero;
    }
  }
}

using Score = void (*)(const Task&, Scores&);

}  // namespace metrik
