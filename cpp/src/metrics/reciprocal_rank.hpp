// How far down the first hit is.
#pragma once

#include "metrics/metric.hpp"

namespace metrik {

class ReciprocalRank {
 public:
  static constexpr std::string_view kAliases[] = {"rr", "mrr", "recip_rank"};
  static constexpr MetricInfo info{.name = "reciprocal_rank",
                                   .aliases = kAliases,
                                   .summary = "1 / rank of the first relevant item, 0 without one",
                                   .formula = "1 / min{i <= k : item i is relevant}",
                                   .source = "Voorhees 1999 (TREC-8 question answering)",
                                   .micro = false};

  explicit ReciprocalRank(const Context& context) : first_hit_(context.row.first_hit) {}

  [[nodiscard]] Ratio at(const Depth& depth, const Rules&) const noexcept {
    return depth.hits > 0 ? ratio(1, first_hit_) : ratio(0, 1);
  }

 private:
  Count first_hit_;
};

}  // namespace metrik
