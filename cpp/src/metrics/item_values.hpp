// Relevant items that count by their values, which the gains are multiplied by.
#pragma once

#include <algorithm>
#include <cstddef>

#include "metrics/metric.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {

// A divisor in which each relevant item counts by its gain: the sum of so many of the highest.
class GainDivisor {
 public:
  explicit GainDivisor(const Context& context)
      : row_(context.row),
        run_(context.run),
        is_normalized_(is_self_normalized(context.rules.weight)) {}

  [[nodiscard]] bool is_normalized() const noexcept { return is_normalized_; }
  [[nodiscard]] double of_all(const CutoffCounts& counts) { return at(Over::relevant, counts); }

  // Returns the ratio to this divisor. Relevant items have no more than all of them, except by
  // rounding in another order of terms.
  [[nodiscard]] Ratio ratio(double numerator, Over over, const CutoffCounts& counts) {
    if (is_normalized_ && !counts_relevant(over)) over = Over::relevant;
    const double denominator = at(over, counts);
    const bool has_most = counts_relevant(over) && !row_.hits_repeat;
    return {has_most ? std::min(numerator, denominator) : numerator, denominator};
  }

 private:
  // Adds each gain once, because cutoffs ascend.
  [[nodiscard]] double at(Over over, const CutoffCounts& counts) {
    const Count number = divisor(over, counts);
    if (!counts_relevant(over) || row_.unit_gains) return static_cast<double>(number);
    const auto end = std::max(static_cast<std::size_t>(number), summed_);
    in_chunks(end - summed_, run_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) sum_.add(row_.ideal_gains[summed_ + i]);
    });
    summed_ = end;
    return sum_.total();
  }

  const HitRow& row_;
  const Run& run_;
  bool is_normalized_;
  RoundedSum sum_;
  std::size_t summed_ = 0;
};

// The sum of the gains of the hits, over the divisor that the convention has for the metric.
template <Over Rules::* kOver>
class FoundGains {
 public:
  explicit FoundGains(const Context& context) : divisor_(context) {}

  double accumulate(const JudgedItem& item) {
    if (item.relevant) found_.add(item.gain);
    return found_.total();
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return tied.gain * static_cast<double>(ranks) / static_cast<double>(tied.tie.size());
  }
  [[nodiscard]] Ratio ratio_at(double found, const CutoffCounts& counts, const Rules& rules) {
    return divisor_.ratio(found, rules.*kOver, counts);
  }

 private:
  GainDivisor divisor_;
  RoundedSum found_;
};

// A sum of discounted gains, over 1 or over the gains of all relevant items.
template <class Sum>
class SumOfGains {
 public:
  explicit SumOfGains(const Context& context) : sum_(context), divisor_(context) {}

  double accumulate(const JudgedItem& item) { return sum_.accumulate(item); }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const
    requires HasExpectation<Sum>
  {
    return sum_.expectation(tied, ranks);
  }
  [[nodiscard]] Ratio ratio_at(double sum, const CutoffCounts& counts, const Rules& rules) {
    if (!divisor_.is_normalized()) return sum_.ratio_at(sum, counts, rules);
    return {sum, divisor_.of_all(counts)};  // which may be above 1, as a discount may be
  }

 private:
  Sum sum_;
  GainDivisor divisor_;
};

}  // namespace exactk
