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

  double see(const Hit& hit) noexcept {
    if (hit.relevant && hit.hits == 1) reciprocal_ = 1 / static_cast<double>(hit.rank);
    return reciprocal_;
  }
  static Ratio at(double reciprocal, const Depth&, const Rules&) noexcept {
    return {reciprocal, 1};
  }

 private:
  double reciprocal_ = 0;
};

}  // namespace metrik
