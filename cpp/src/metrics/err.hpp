// A reader who stops at the first satisfying item; higher grades are likelier to satisfy.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"
#include "numeric/power_of_two.hpp"

namespace exactk {

class Err {
 public:
  static constexpr std::string_view kAliases[] = {"expected_reciprocal_rank"};
  static constexpr MetricInfo info{
      .name = "err",
      .aliases = kAliases,
      .summary =
          "expected 1 / rank of the item at which a reader stops, satisfied with a probability "
          "that "
          "grows with its grade; no convention field changes the gain",
      .formula =
          "sum over i <= k of R(i) / i times the product over j < i of 1 - R(j), with "
          "R = (2^grade - 1) / 2^max_grade",
      .source = "Chapelle, Metzler, Zhang, Grinspan 2009",
      .parameter = {"max_grade", 4, 1, 256},
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .takes_max_grade = true};

  explicit Err(const Context& context) : gain_scale_(power_of_two(context.parameter)) {}

  double accumulate(const JudgedItem& item) noexcept {
    const double stop_chance =
        std::min(item.gain / gain_scale_, 1.0);  // in case another thread writes grades
    expected_ += chance_to_reach_ * stop_chance / static_cast<double>(item.rank);
    chance_to_reach_ *= 1 - stop_chance;
    return expected_;
  }
  static Ratio ratio_at(double expected, const CutoffCounts&, const Rules&) noexcept {
    return {expected, 1};
  }

 private:
  double gain_scale_;
  double chance_to_reach_ = 1;  // the chance that no item above satisfies
  double expected_ = 0;
};

}  // namespace exactk
