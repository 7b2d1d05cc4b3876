// How far the items of a list are from each other.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "metrics/item_distances.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class IntraListDiversity {
 public:
  static constexpr std::string_view kAliases[] = {"intra_list_diversity", "diversity"};
  static constexpr std::string_view kOwnFields[] = {"distance", "ild_over", "missing_features",
                                                    "foreign_items"};
  static constexpr MetricInfo info{
      .name = "ild",
      .aliases = kAliases,
      .summary =
          "mean distance of two items of the list, by their features; 0 / 0 for fewer than two",
      .formula = "mean over i < j in L of d(i, j)",
      .source = "Smyth, McClave 2001; Ziegler et al. 2005",
      .unit_range = false,
      .undefined_case = "fewer than two items of the list count",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_features = true};

  explicit IntraListDiversity(const Context& context)
      : items_(context.list.items), distances_(*context.distances), run_(context.run) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) {
    for (; next_ < items_.size() && std::cmp_less(next_, counts.cutoff); ++next_) {
      prefetch(next_ + kAhead);
      if (!distances_.has_features(items_[next_])) continue;
      total_ = distances_.add(sum_, items_[next_], run_);
    }
    const auto counted = static_cast<Count>(sum_.items.size());
    return {total_, static_cast<double>(pair_divisor(rules.ild_over, counted, counts))};
  }

 private:
  static constexpr std::size_t kAhead = 3;

  void prefetch(std::size_t position) const noexcept {
    if (position < items_.size() && distances_.has_features(items_[position]))
      distances_.prefetch(items_[position]);
  }

  std::span<const ItemNumber> items_;
  const ItemDistances& distances_;
  const Run& run_;
  std::size_t next_ = 0;  // by rank
  PairSum sum_;
  double total_ = 0;  // of the distances of all pairs
};

}  // namespace exactk
