// The overlap of two lists at every depth, for a reader who continues from each rank to the next
// with probability p.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "metrics/list_overlap.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class RankBiasedOverlap {
 public:
  static constexpr std::string_view kAliases[] = {"rank_biased_overlap"};
  static constexpr std::string_view kOwnFields[] = {"rbo_over"};
  static constexpr MetricInfo info{
      .name = "rbo",
      .aliases = kAliases,
      .summary =
          "mean overlap of the first d items of two lists over all depths d, for a reader who "
          "continues with probability p; below the lists, the overlap is that at their end",
      .formula =
          "(1 - p) (sum over d <= l of p^(d - 1) a(d)) + p^l a(l), a(d) = (X_d + X_s max(0, d - s) "
          "/ s) / d, with X_d items shared by the first d, and s <= l items in the lists",
      .source = "Webber, Moffat, Zobel 2010, equation 32 (RBO_ext)",
      .parameter = {"p", 0.9, 0, 1 - 0x1p-53},
      .direction = Direction::none,
      .micro = false,
      .own_fields = kOwnFields,
      .uses_gains = true,
      .every_rank = true,
      .reads_truth = false,
      .compares_lists = true};

  explicit RankBiasedOverlap(const Context& context)
      : persistence_(context.parameter), run_(context.run) {
    depths_.reserve(context.row.judged_items.size());
    for (const JudgedItem& item : context.row.judged_items) {
      if (item.relevant) depths_.push_back(std::max(static_cast<double>(item.rank), item.gain));
    }
    sort(std::span(depths_), std::less<>(), run_);
  }

  // The weights of the depths are summed as the weighted overlaps are, so that a list has exactly
  // 1 with itself, and no two lists have more.
  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const {
    const ListLengths lengths(counts);
    if (lengths.longer == 0) return {0, 0};
    const bool has_rest = extrapolates(rules.rbo_over);
    const bool ends_with_lists = has_rest || counts.cutoff == kNoCutoff;
    const Count last = ends_with_lists ? lengths.longer : counts.cutoff;
    Ratio sums{0, 0};
    double weight = 1;  // p^(depth - 1)
    double overlap = 0;
    std::size_t shared = 0;
    std::size_t shared_by_shorter = 0;
    for (Count depth = 1; depth <= last; ++depth) {
      while (shared < depths_.size() && depths_[shared] <= static_cast<double>(depth)) ++shared;
      if (depth == lengths.shorter) shared_by_shorter = shared;
      auto expected = static_cast<double>(shared);
      if (has_rest && shared_by_shorter > 0 && depth > lengths.shorter) {
        expected += static_cast<double>(shared_by_shorter) *
                    static_cast<double>(depth - lengths.shorter) /
                    static_cast<double>(lengths.shorter);
      }
      overlap = expected / static_cast<double>(depth);
      sums.numerator += weight * overlap;
      sums.denominator += weight;
      weight *= persistence_;
      if (depth % kCheckpointInterval == 0) run_.checkpoint();
    }
    if (has_rest) {
      const double rest = weight / (1 - persistence_);  // of all depths below the lists
      sums.numerator += rest * overlap;
      sums.denominator += rest;
    }
    return sums;
  }

 private:
  double persistence_;
  const Run& run_;
  std::vector<double> depths_;  // at which each item is in both lists, ascending
};

}  // namespace exactk
