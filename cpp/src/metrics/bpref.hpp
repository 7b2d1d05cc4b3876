// Preference of judged relevant over judged non-relevant items; ignores unjudged items.
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
      .summary = "how rarely judged non-relevant items rank above relevant items",
      .formula =
          "(sum over hits of 1 - min(n above, |T|, N) / min(|T|, N)) / |T|, with n above "
          "the number of the N judged non-relevant items that rank higher",
      .source = "Buckley, Voorhees 2004, as in trec_eval"};

  explicit Bpref(const Context& context)
      : max_above_(std::min(context.row.relevant, context.row.nonrelevant)) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (!item.relevant) {
      ++nonrelevant_above_;
    } else if (nonrelevant_above_ == 0) {
      sum_ += 1;
    } else {
      sum_ += 1 - static_cast<double>(std::min(nonrelevant_above_, max_above_)) /
                      static_cast<double>(max_above_);
    }
    return sum_;
  }
  static Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules&) noexcept {
    return {sum, static_cast<double>(counts.relevant)};
  }

 private:
  Count max_above_;              // judged non-relevant items that can count against a hit
  Count nonrelevant_above_ = 0;  // so far
  double sum_ = 0;
};

}  // namespace exactk
