// How few of the recommended items other predictions recommend too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "metrics/metric.hpp"

namespace exactk {

class Unexpectedness {
 public:
  static constexpr std::string_view kOwnFields[] = {"list_mean_over"};
  static constexpr MetricInfo info{
      .name = "unexpectedness",
      .summary = "share of the recommended items that base_predictions do not recommend too",
      .formula = "|L - B| / |L|",
      .source = "Adamopoulos, Tuzhilin 2014; RePlay, Unexpectedness",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .reads_base = true};

  explicit Unexpectedness(const Context& context) noexcept
      : base_ranks_(context.list.base_ranks), run_(context.run) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const {
    const auto depth =
        static_cast<std::size_t>(std::min(counts.cutoff, static_cast<Count>(base_ranks_.size())));
    Count items = 0;
    Count shared = 0;
    in_chunks(depth, run_, [&](std::size_t begin, std::size_t end) {
      for (const Count rank : base_ranks_.subspan(begin, end - begin)) {
        items += rank == ListRow::kNotCounted ? 0 : 1;
        shared += rank > 0 && rank <= counts.cutoff ? 1 : 0;
      }
    });
    const Count divisor = list_mean_divisor(rules.list_mean_over, items, counts);
    return ratio(items == 0 ? 0 : divisor - shared, divisor);  // of no item, none is unexpected
  }

 private:
  std::span<const Count> base_ranks_;
  const Run& run_;
};

}  // namespace exactk
