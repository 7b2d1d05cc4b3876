// A preference of judged relevant over judged non-relevant items that ignores the unjudged.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace metrik {

class Bpref {
 public:
  static constexpr std::string_view kAliases[] = {"binary_preference"};
  static constexpr MetricInfo info{
      .name = "bpref",
      .aliases = kAliases,
      .summary = "how seldom judged non-relevant items stand above relevant ones",
      .formula =
          "(sum over hits of 1 - min(n above, |T|, N) / min(|T|, N)) / |T|, with n above of "
          "the N judged non-relevant items ranked higher",
      .source = "Buckley, Voorhees 2004, as in trec_eval"};

  void see(const Hit& hit, const Depth& depth) noexcept {
    if (!hit.relevant) return;
    const Count above = depth.judged - depth.hits;
    if (above == 0) {
      sum_ += 1;
      return;
    }
    const Count most = std::min(depth.relevant, depth.all_nonrelevant);
    sum_ += 1 - static_cast<double>(std::min(above, most)) / static_cast<double>(most);
  }
  [[nodiscard]] Ratio at(const Depth& depth, const Rules&) const noexcept {
    return {sum_, static_cast<double>(depth.relevant)};
  }

 private:
  double sum_ = 0;
};

}  // namespace metrik
