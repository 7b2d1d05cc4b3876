// The interface of a metric: a description, and a pass over the judged items of one user's ranking.
//
//   struct Recall {
//     static constexpr MetricInfo info{...};
//     explicit Recall(const Context&);  // only if it needs more than the counts at a cutoff
//     Ratio ratio_at(const CutoffCounts&, const Rules&);  // the cutoffs ascend
//   };
//
// A metric that needs the ranks of the hits accumulates them, once for all cutoffs:
//
//     double accumulate(const JudgedItem&);  // each judged item, by rank; returns the sum so far
//     Ratio ratio_at(double partial, const CutoffCounts&, const Rules&);
//
// A metric with an expectation over all orders of ties sums the expectation of each tie:
//
//     double expectation(const TiedHits&, Count ranks);  // of its first `ranks` ranks
//
// The sum is the argument of `ratio_at` at a cutoff or, if there is no such `ratio_at`, its
// numerator.
//
// One that takes the expectations of ties from `tied_hits` itself, at each cutoff, says so:
//
//     static constexpr bool kExpectsTies = true;
//
// A metric of the items of the list takes one number of each item, made once for all users:
//
//     static ItemValues item_values(const Items&, const Rules&, double parameter);
//
// A metric that may count relevant items by their values names the metric that then stands for it:
//
//     using OfValues = ...;  // reads the values as gains
//
// A metric that reads less of the hits than their ranks says so, unless it has neither a
// constructor nor `accumulate`:
//
//     static constexpr HitsRead kHitsRead = HitsRead::count;
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/metrics.hpp"
#include "judge/batch.hpp"
#include "judge/hit_row.hpp"
#include "judge/list_row.hpp"
#include "metrics/denominators.hpp"
#include "metrics/item_distances.hpp"
#include "metrics/item_tags.hpp"
#include "metrics/popularity.hpp"
#include "numeric/discounts.hpp"

namespace exactk {

inline constexpr ListRow kNoListRow = {};

// The values that are fixed for all cutoffs of one user.
struct Context {
  const HitRow& row;
  const Rules& rules;
  const DiscountTable& discounts;  // with the prefix sums down to the last rank of an ideal ranking
  double parameter;
  const Run& run;                    // called during very long loops
  const ListRow& list = kNoListRow;  // if the metric reads the items of the list
  std::span<const double> item_values = {};
  const ItemDistances* distances = nullptr;  // if the metric reads the features of items
  const ItemTags* tags = nullptr;            // if it reads their tags
};

// The values that are fixed for all users of a batch.
struct ScoringTask {
  std::span<const HitRow> rows;
  std::span<const Count> cutoffs;         // ascending
  std::span<const HitCounts> hit_counts;  // rows x cutoffs
  const Rules& rules;
  const DiscountTable& discounts;
  double parameter;
  const Run& run;
  std::span<const ListRow> lists = {};       // parallel to the rows; empty: not read
  std::span<const double> item_values = {};  // see ItemValues
  const ItemDistances* distances = nullptr;
  const ItemTags* tags = nullptr;
};

// The results of a batch.
struct BatchRatios {
  explicit BatchRatios(std::size_t cutoffs) : numerators(cutoffs), denominators(cutoffs) {}

  BatchColumns numerators;  // one column per cutoff
  BatchColumns denominators;
  std::vector<double> partials = {0};  // of one user
};

template <class Metric>
concept AccumulatesItems =
    requires(Metric metric, const JudgedItem& item) { metric.accumulate(item); };

template <class Metric>
concept HasExpectation =
    requires(Metric metric, const TiedHits& tied) { metric.expectation(tied, Count{}); };

template <class Metric>
concept ReadsItems = requires(const Items& items, const Rules& rules, double parameter) {
  Metric::item_values(items, rules, parameter);
};

// Iterations between the checkpoints of a long loop.
inline constexpr Count kCheckpointInterval = kChunk;

template <class Metric>
Metric make_metric(const Context& context) {
  if constexpr (std::constructible_from<Metric, const Context&>) {
    return Metric(context);
  } else {
    return Metric{};
  }
}

// Stores the metric's partial result after each of the first judged items. The first is that before
// any item.
template <class Metric>
void accumulate_items(Metric& metric, const Context& context, Count count,
                      std::vector<double>& partials) {
  const auto judged = context.row.judged_items.first(static_cast<std::size_t>(count));
  grow(partials, judged.size() + 1, 0.0, context.run);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (i % kChunk == kChunk - 1) context.run.checkpoint();
    partials[i + 1] = metric.accumulate(judged[i]);
  }
}

[[nodiscard]] inline CutoffCounts cutoff_counts(const HitRow& row, Count cutoff,
                                                const HitCounts& hits) noexcept {
  return {.cutoff = cutoff,
          .list_length = row.length_at(cutoff),
          .list_depth = row.depth(),
          .relevant = row.relevant,
          .nonrelevant = row.nonrelevant,
          .judged = hits.judged,
          .hits = hits.hits};
}

// Computes the ratios of all users.
template <class Metric>
void score(const ScoringTask& task, BatchRatios& ratios) {
  const std::size_t cutoffs = task.cutoffs.size();
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const HitRow& row = task.rows[user];
    const Context context{row,
                          task.rules,
                          task.discounts,
                          task.parameter,
                          task.run,
                          task.lists.empty() ? kNoListRow : task.lists[user],
                          task.item_values,
                          task.distances,
                          task.tags};
    auto metric = make_metric<Metric>(context);  // NOLINT(misc-const-correctness): may accumulate
    if constexpr (AccumulatesItems<Metric>) {
      const Count judged = task.hit_counts[(user + 1) * cutoffs - 1].judged;  // to the last cutoff
      accumulate_items(metric, context, judged, ratios.partials);
    }
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const CutoffCounts counts =
          cutoff_counts(row, task.cutoffs[i], task.hit_counts[user * cutoffs + i]);
      Ratio ratio;
      if constexpr (AccumulatesItems<Metric>) {
        const double partial = ratios.partials[static_cast<std::size_t>(counts.judged)];
        ratio = metric.ratio_at(partial, counts, task.rules);
      } else {
        ratio = metric.ratio_at(counts, task.rules);
      }
      ratios.numerators[i][user] = ratio.numerator;
      ratios.denominators[i][user] = ratio.denominator;
    }
  }
}

// Computes the expectations over all orders of ties. No divisor depends on the order.
template <HasExpectation Metric>
void score_expected(const ScoringTask& task, BatchRatios& ratios) {
  const std::size_t cutoffs = task.cutoffs.size();
  for (std::size_t user = 0; user < task.rows.size(); ++user) {
    const HitRow& row = task.rows[user];
    const Context context{row, task.rules, task.discounts, task.parameter, task.run};
    auto metric = make_metric<Metric>(context);  // NOLINT(misc-const-correctness): may accumulate
    double above = 0;                            // of the ties that end at or above the cutoff
    std::size_t next = 0;
    for (std::size_t i = 0; i < cutoffs; ++i) {
      const Count cutoff = task.cutoffs[i];
      for (; next < row.tied_hits.size() && row.tied_hits[next].tie.last <= cutoff; ++next) {
        if (next % kChunk == kChunk - 1) task.run.checkpoint();
        above += metric.expectation(row.tied_hits[next], row.tied_hits[next].tie.size());
      }
      double expected = above;
      if (next < row.tied_hits.size() && row.tied_hits[next].tie.first <= cutoff) {
        expected +=
            metric.expectation(row.tied_hits[next], cutoff - row.tied_hits[next].tie.first + 1);
      }
      const CutoffCounts counts = cutoff_counts(row, cutoff, task.hit_counts[user * cutoffs + i]);
      Ratio ratio{.numerator = expected};
      if constexpr (requires { metric.ratio_at(expected, counts, task.rules); }) {
        ratio = metric.ratio_at(expected, counts, task.rules);
      } else {
        ratio.denominator = metric.ratio_at(counts, task.rules).denominator;
      }
      ratios.numerators[i][user] = ratio.numerator;
      ratios.denominators[i][user] = ratio.denominator;
    }
  }
}

// What of the hits down to a cutoff a value depends on, if all relevant items have gain 1.
enum class HitsRead : std::uint8_t { ranks, first_rank, count };

template <class Metric>
constexpr HitsRead hits_read() {
  if constexpr (requires { Metric::kHitsRead; }) {
    return Metric::kHitsRead;
  } else if constexpr (std::constructible_from<Metric, const Context&> ||
                       AccumulatesItems<Metric>) {
    return HitsRead::ranks;
  } else {
    return HitsRead::count;
  }
}

using ScoreFunction = void (*)(const ScoringTask&, BatchRatios&);

// Whether relevant items may count by their values, as the convention says.
template <class Metric>
concept WeighsItems = requires { typename Metric::OfValues; };

// Null if the metric has no value per user.
template <class Metric>
constexpr ScoreFunction score_function() {
  if constexpr (Metric::info.of_collection) {
    return nullptr;
  } else {
    return &score<Metric>;
  }
}

// Null if the metric has no expectation.
template <class Metric>
constexpr ScoreFunction expected_score() {
  if constexpr (HasExpectation<Metric>) {
    return &score_expected<Metric>;
  } else if constexpr (requires { Metric::kExpectsTies; }) {
    return &score<Metric>;
  } else {
    return nullptr;
  }
}

// The functions of a metric whose relevant items count by their values; null if none do.
template <class Metric>
constexpr ScoreFunction score_of_values() {
  if constexpr (WeighsItems<Metric>) {
    return &score<typename Metric::OfValues>;
  } else {
    return nullptr;
  }
}
template <class Metric>
constexpr ScoreFunction expected_score_of_values() {
  if constexpr (WeighsItems<Metric>) {
    return expected_score<typename Metric::OfValues>();
  } else {
    return nullptr;
  }
}

using ItemValuesFunction = ItemValues (*)(const Items&, const Rules&, double parameter);

// Null if the metric does not read the items of the list.
template <class Metric>
constexpr ItemValuesFunction item_values_function() {
  if constexpr (ReadsItems<Metric>) {
    return &Metric::item_values;
  } else {
    return nullptr;
  }
}

// Returns the expected number of the tie's hits among its first `ranks` ranks.
[[nodiscard]] inline double expected_hits(const TiedHits& tied, Count ranks) noexcept {
  return static_cast<double>(tied.hits) * static_cast<double>(ranks) /
         static_cast<double>(tied.tie.size());
}

}  // namespace exactk
