// A reader who continues from each rank to the next with probability p.
#pragma once

#include <algorithm>

#include "metrics/item_values.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// The weights p^(rank - 1), of ranks that ascend.
class PersistenceWeights {
 public:
  explicit PersistenceWeights(const Context& context)
      : persistence_(context.parameter), run_(context.run) {}

  [[nodiscard]] double persistence() const noexcept { return persistence_; }
  double at(Count rank) {
    for (; rank_ < rank && weight_ > 0; ++rank_) {
      weight_ *= persistence_;
      if (rank_ % kCheckpointInterval == 0) run_.checkpoint();
    }
    return weight_;
  }

 private:
  double persistence_;
  const Run& run_;
  double weight_ = 1;
  Count rank_ = 1;
};

class Rbp {
 public:
  using OfValues = SumOfGains<Rbp>;
  static constexpr std::string_view kAliases[] = {"rank_biased_precision"};
  static constexpr std::string_view kOwnFields[] = {"rbp_over", "weight"};
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
      : weights_(context),
        highest_gain_(context.row.ideal_gains.empty() ? 1 : context.row.ideal_gains.front()) {}

  double accumulate(const JudgedItem& item) {
    if (item.relevant) sum_ += item.gain * weights_.at(item.rank);
    // No more, except by rounding.
    return std::min((1 - weights_.persistence()) * sum_, highest_gain_);
  }
  [[nodiscard]] Ratio ratio_at(double expected, const CutoffCounts&,
                               const Rules& rules) const noexcept {
    return {expected, rbp_divisor(rules.rbp_over, highest_gain_)};
  }

 private:
  PersistenceWeights weights_;
  double highest_gain_;
  double sum_ = 0;
};

// What RBP could gain at most if all that is not judged were relevant, in the list and below it.
class RbpResidual {
 public:
  static constexpr std::string_view kAliases[] = {"rbp_resid"};
  static constexpr std::string_view kOwnFields[] = {"residual_tail"};
  static constexpr MetricInfo info{
      .name = "rbp_residual",
      .aliases = kAliases,
      .summary =
          "by how much rbp would be higher if every item that is not judged had gain 1, in the "
          "first k ranks and below them",
      .formula = "1 - (1 - p) sum over judged items at ranks i <= k of p^(i - 1)",
      .source = "Moffat, Zobel 2008",
      .parameter = Rbp::info.parameter,
      .direction = Direction::none,
      .always_divided = true,
      .micro = false,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .counts_unjudged = true};

  explicit RbpResidual(const Context& context) : weights_(context) {}

  // Returns the share of the weight that has been judged.
  double accumulate(const JudgedItem& item) {
    sum_ += weights_.at(item.rank);
    return (1 - weights_.persistence()) * sum_;
  }
  static Ratio ratio_at(double judged, const CutoffCounts& counts, const Rules& rules) noexcept {
    if (!has_residual(rules.residual_tail, counts)) return {0, 1};
    return {std::max(1 - judged, 0.0), 1};
  }

 private:
  PersistenceWeights weights_;
  double sum_ = 0;
};

}  // namespace exactk
