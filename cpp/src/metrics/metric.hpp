// What a metric is: a description, and a walk over the judged items of one user's ranking.
//
//   struct Recall {
//     static constexpr MetricInfo info{...};
//     explicit Recall(const Context&);                      // only if it needs parameters or
//     tables void see(const Hit&, const Depth&);                   // each judged item, by rank;
//     optional Ratio at(const Depth&, const Rules&);                 // at a cutoff, in ascending
//     order
//   };
//
// One walk serves all cutoffs: `score` calls `at` when the walk has reached each of them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include "discounts.hpp"
#include "judge.hpp"
#include "metrics/denominators.hpp"
#include "metrik/conventions.hpp"
#include "metrik/metrics.hpp"

namespace metrik {

// What is fixed for all cutoffs of one walk.
struct Context {
  const HitRow& row;
  const Rules& rules;
  const DiscountTable& discounts;  // deep enough for every rank and ideal rank that is asked for
  double parameter;
};

template <class Metric>
concept WalksHits = requires(Metric metric, const Hit& hit, const Depth& depth) {
  { metric.see(hit, depth) } noexcept;
};

// Fills one ratio a cutoff; the cutoffs ascend.
template <class Metric>
void score(const Context& context, std::span<const Count> cutoffs, std::span<Ratio> ratios) {
  const HitRow& row = context.row;
  Metric metric = [&] {
    if constexpr (std::constructible_from<Metric, const Context&>) {
      return Metric(context);
    } else {
      return Metric{};
    }
  }();
  Depth depth{.relevant = row.relevant, .all_nonrelevant = row.nonrelevant};
  std::size_t next = 0;
  for (std::size_t i = 0; i < cutoffs.size(); ++i) {
    depth.cutoff = cutoffs[i];
    depth.list = std::min(cutoffs[i], row.recommended);
    for (; next < row.judged.size() && row.judged[next].rank <= cutoffs[i]; ++next) {
      const Hit& hit = row.judged[next];
      ++depth.judged;
      depth.hits += hit.relevant ? 1 : 0;
      if constexpr (WalksHits<Metric>) metric.see(hit, depth);
    }
    ratios[i] = metric.at(depth, context.rules);
  }
}

using Score = void (*)(const Context&, std::span<const Count>, std::span<Ratio>);

}  // namespace metrik
