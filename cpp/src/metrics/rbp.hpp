// A reader who continues from each rank to the next with probability p.
#pragma once

#include <algorithm>

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class Rbp {
 public:
  using OfValues = SumOfGains<Rbp>;
  static constexpr std::string_view kAliases[] = {"rank_biased_precision"};
  static constexpr std::string_view kOwnFields[] = {"weight"};
  static constexpr MetricInfo info{
      .name = "rbp",
      .aliases = kAliases,
      .summary =
          "expected gain per item for a reader who continues with probability p; if all grades are "
          "1, the expected share of relevant items",
      .formula = "(1 - p) sum over hits at ranks i <= k of gain(i) p^(i - 1)",
      .source = "Moffat, Zobel 2008",
      .parameter = {"p", 0.8, 0, 1 - 0x1p-53},
      .unit_range = false,
      .always_divided = true,
      .micro = false,
      .own_fields = kOwnFields,
      .uses_gains = true};

  explicit Rbp(const Context& context)
      : persistence_(context.parameter),
        highest_gain_(context.row.ideal_gains.empty() ? 1 : context.row.ideal_gains.front()),
        run_(context.run) {}

  double accumulate(const JudgedItem& item) {
    for (; rank_ < item.rank && weight_ > 0; ++rank_) {
      weight_ *= persistence_;
      if (rank_ % kCheckpointInterval == 0) run_.checkpoint();
    }
    if (item.relevant) sum_ += item.gain * weight_;
    return std::min((1 - persistence_) * sum_, highest_gain_);  // no more, except by rounding
  }
  static Ratio ratio_at(double expected, const CutoffCounts&, const Rules&) noexcept {
    return {expected, 1};
  }

 private:
  double persistence_;
  double highest_gain_;
  const Run& run_;
  double weight_ = 1;  // p^(rank - 1)
  Count rank_ = 1;
  double sum_ = 0;
};

}  // namespace exactk
