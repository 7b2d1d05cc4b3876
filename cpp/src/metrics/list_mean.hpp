// The walk that means over the items of a list share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "metrics/metric.hpp"

namespace exactk {

// Sums the numbers of the items by rank.
class ListWalk {
 public:
  explicit ListWalk(const Context& context) noexcept
      : items_(context.list.items), values_(context.item_values), run_(context.run) {}

  // Whether items have numbers: not if they divide by 0.
  [[nodiscard]] bool has_values() const noexcept { return !values_.empty(); }
  // Calls body(rank, number) for each item that counts, from the rank after the last one down to
  // the cutoff.
  template <class Body>
  void advance(Count cutoff, const Body& body) {
    const auto end = static_cast<std::size_t>(std::min(cutoff, static_cast<Count>(items_.size())));
    if (next_ >= end || !has_values()) return;
    in_chunks(end - next_, run_, [&, first = next_](std::size_t begin, std::size_t chunk_end) {
      for (std::size_t i = first + begin; i < first + chunk_end; ++i) {
        const double value = values_[items_[i]];
        if (!std::isnan(value)) body(static_cast<Count>(i) + 1, value);
      }
    });
    next_ = end;
  }

 private:
  std::span<const ItemNumber> items_;
  std::span<const double> values_;
  const Run& run_;
  std::size_t next_ = 0;  // by rank
};

// Tells the ranks of the hits.
class HitRanks {
 public:
  explicit HitRanks(std::span<const JudgedItem> judged_items) noexcept
      : judged_items_(judged_items) {}

  // Ranks ascend.
  bool is_hit(Count rank) noexcept {
    while (next_ < judged_items_.size() && judged_items_[next_].rank < rank) ++next_;
    return next_ < judged_items_.size() && judged_items_[next_].rank == rank &&
           judged_items_[next_].relevant;
  }

 private:
  std::span<const JudgedItem> judged_items_;
  std::size_t next_ = 0;
};

// The mean of one number per item.
class ListMean {
 public:
  explicit ListMean(const Context& context) noexcept : walk_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) {
    walk_.advance(counts.cutoff, [&](Count, double value) {
      sum_ += value;
      ++items_;
    });
    if (!walk_.has_values()) return {0, 0};
    return {sum_, static_cast<double>(list_mean_divisor(rules.list_mean_over, items_, counts))};
  }

 private:
  ListWalk walk_;
  double sum_ = 0;
  Count items_ = 0;
};

}  // namespace exactk
