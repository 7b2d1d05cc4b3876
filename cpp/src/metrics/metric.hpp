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

#include "batch.hpp"
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
  const Checkpoint& checkpoint;
};

// Ratios: a column a cutoff.
struct Ratios {
  Columns numerators;
  Columns denominators;
  std::vector<double> so_far = {0};  // of one user's walk
  explicit Ratios(std::size_t cutoffs) : numerators(cutoffs), denominators(cutoffs) {}
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
  if (so_far.size() <= judged.size()) so_far.resize(judged.size() + 1);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (i % kChunk == kChunk - 1) context.checkpoint();
    so_far[i + 1] = metric.see(judged[i]);
  }
}

// Fills the ratios of all users.
template <class Metric>
void score(const Task& task, Ratios& ratios) {
  const std::size_t cutoffs = task.depths.size() / std::max<std::size_t>(task.rows.size(), 1);
  std::vector<double>& so_far = ratios.so_far;
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const Context context{task.rows[user], task.rules, task.discounts, task.parameter,
                          task.checkpoint};
    auto metric = start<Metric>(context);
    if constexpr (WalksHits<Metric>) walk(metric, context, so_far);
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const Depth& depth = task.depths[user * cutoffs + i];
      Ratio ratio;
      if constexpr (WalksHits<Metric>) {
        ratio = metric.at(so_far[static_cast<std::size_t>(depth.judged)], depth, task.rules);
      } else {
        ratio = metric.at(depth, task.rules);
      }
      ratios.numerators[i][user] = ratio.numerator;
      ratios.denominators[i][user] = ratio.denominator;
    }
  }
}

using Score = void (*)(const Task&, Ratios&);

}  // namespace metrik
