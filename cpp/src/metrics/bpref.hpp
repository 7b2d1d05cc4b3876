// A preference of judged relevant over judged non-relevant items that ignores the unjudged.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"

namespace exactk {

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

  explicit Bpref(const Context& context)
      : most_(std::min(context.row.relevant, context.row.nonrelevant)) {}

  double see(const Hit& hit) noexcept {
    if (!hit.relevant) {
      ++above_;
    } else if (above_ == 0) {
      sum_ += 1;
    } else {
      sum_ += 1 - static_cast<double>(std::min(above_, most_)) / static_cast<double>(most_);
    }
    return sum_;
  }
  static Ratio at(double sum, const Depth& depth, const Rules&) noexcept {
    return {sum, static_cast<double>(depth.relevant)};
  }

 private:
  Count most_;       // judged non-relevant items that can count against a hit
  Count above_ = 0;  // those seen
  double sum_ = 0;
};

}  // namespace exactk
