// What a metric is: a description, and a walk over the judged items of one user's ranking.
//
//   struct Recall {
//     static constexpr MetricInfo info{...};
//     explicit Recall(const Context&);       // only if it needs more than it is told at a cutoff
//     Ratio at(const Depth&, const Rules&);  // at a cutoff; the cutoffs ascend
//   };
//
// A metric that needs the ranks of the hits walks them, and one walk serves all cutoffs:
//
//     double see(const Hit&);       // each judged item, by rank; returns what it comes to so far
//     Ratio at(double so_far, const Depth&, const Rules&);
//
// One that has an expectation over all orders of tied items adds up what it expects of each tie:
//
//     double expect(const TiedHits&, Count reached);  // of its first `reached` places
//
// The sum is what it comes to at a cutoff, or, where it has no `at` for that, its numerator.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/conventions.hpp"
#include "exactk/metrics.hpp"
#include "judge/batch.hpp"
#include "judge/hit_row.hpp"
#include "metrics/denominators.hpp"
#include "numeric/discounts.hpp"

namespace exactk {

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
  std::span<const Count> cutoffs;    // ascending
  std::span<const Reached> reached;  // rows x cutoffs
  const Rules& rules;
  const DiscountTable& discounts;
  double parameter;
  const Checkpoint& checkpoint;
};

// Where the results go.
struct Scores {
  explicit Scores(std::size_t cutoffs) : numerators(cutoffs), denominators(cutoffs) {}

  BatchColumns numerators;  // a column a cutoff
  BatchColumns denominators;
  std::vector<double> so_far = {0};  // of one user's walk
};

template <class Metric>
concept WalksHits = requires(Metric metric, const Hit& hit) { metric.see(hit); };

template <class Metric>
concept ExpectsHits =
    requires(Metric metric, const TiedHits& tied) { metric.expect(tied, Count{}); };

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

[[nodiscard]] inline Depth depth_of(const HitRow& row, Count cutoff,
                                    const Reached& reached) noexcept {
  return {.cutoff = cutoff,
          .list = std::min(cutoff, row.recommended),
          .relevant = row.relevant,
          .all_nonrelevant = row.nonrelevant,
          .judged = reached.judged,
          .hits = reached.hits};
}

// Fills the scores of all users.
template <class Metric>
void score(const Task& task, Scores& scores) {
  const std::size_t cutoffs = task.cutoffs.size();
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const HitRow& row = task.rows[user];
    const Context context{row, task.rules, task.discounts, task.parameter, task.checkpoint};
    auto metric = start<Metric>(context);  // NOLINT(misc-const-correctness): some are walked
    if constexpr (WalksHits<Metric>) walk(metric, context, scores.so_far);
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const Depth depth = depth_of(row, task.cutoffs[i], task.reached[user * cutoffs + i]);
      Ratio ratio;
      if constexpr (WalksHits<Metric>) {
        const double so_far = scores.so_far[static_cast<std::size_t>(depth.judged)];
        ratio = metric.at(so_far, depth, task.rules);
      } else {
        ratio = metric.at(depth, task.rules);
      }
      scores.numerators[i][user] = ratio.numerator;
      scores.denominators[i][user] = ratio.denominator;
    }
  }
}

// The same of what is expected over all orders of tied items. No divisor depends on the order.
template <ExpectsHits Metric>
void score_expected(const Task& task, Scores& scores) {
  const std::size_t cutoffs = task.cutoffs.size();
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const HitRow& row = task.rows[user];
    const Context context{row, task.rules, task.discounts, task.parameter, task.checkpoint};
    auto metric = start<Metric>(context);  // NOLINT(misc-const-correctness): some are walked
    double above = 0;                      // of the ties that end above the cutoff
    std::size_t next = 0;
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const Count cutoff = task.cutoffs[i];
      for (; next < row.tied.size() && row.tied[next].tie.last <= cutoff; ++next) {
        if (next % kChunk == kChunk - 1) task.checkpoint();
        above += metric.expect(row.tied[next], row.tied[next].tie.size());
      }
      double expected = above;
      if (next < row.tied.size() && row.tied[next].tie.first <= cutoff) {
        expected += metric.expect(row.tied[next], cutoff - row.tied[next].tie.first + 1);
      }
      const Depth depth = depth_of(row, cutoff, task.reached[user * cutoffs + i]);
      Ratio ratio{.numerator = expected};
      if constexpr (requires { metric.at(expected, depth, task.rules); }) {
        ratio = metric.at(expected, depth, task.rules);
      } else {
        ratio.denominator = metric.at(depth, task.rules).denominator;
      }
      scores.numerators[i][user] = ratio.numerator;
      scores.denominators[i][user] = ratio.denominator;
    }
  }
}

using Score = void (*)(const Task&, Scores&);

// Null where the metric has no expectation.
template <class Metric>
constexpr Score expected_score() {
  if constexpr (ExpectsHits<Metric>) {
    return &score_expected<Metric>;
  } else {
    return nullptr;
  }
}

// Of the relevant items of a tie, how many are expected among its first `reached` places.
[[nodiscard]] inline double expected_hits(const TiedHits& tied, Count reached) noexcept {
  return static_cast<double>(tied.hits) * static_cast<double>(reached) /
         static_cast<double>(tied.tie.size());
}

}  // namespace exactk
