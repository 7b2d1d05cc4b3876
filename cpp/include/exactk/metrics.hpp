// What there is to know about a metric without computing it.
#pragma once

#include <span>
#include <string_view>

namespace exactk {

struct MetricParameter {
  std::string_view name;  // empty: the metric has none
  double standard = 0;    // the value when it is not given; NaN: it must be given
  double low = 0;         // both ends included
  double high = 0;
  bool whole = false;  // a whole number
};

struct MetricInfo {
  std::string_view name;
  std::span<const std::string_view> aliases = {};  // accepted on input, in lower case
  std::string_view summary;
  std::string_view formula;
  std::string_view source;
  MetricParameter parameter = {};
  // Within [0, 1] unless repeated items count, so that 2^-80 fixed point holds its sum.
  bool unit_range = true;
  bool micro = true;  // a pooled numerator over a pooled denominator has a meaning
  // Fields of the convention that choose what the value is divided by.
  std::span<const std::string_view> divisor_fields = {};
  // A mean of the precisions at the hits, which falls where a hit comes late.
  bool averages_precisions = false;
  bool uses_gains = false;
  bool uses_ideal = false;  // the gains of the best possible ranking; implies uses_gains
  // Compares each item with each other: without a cutoff, and ties by an id count half.
  bool pairwise = false;
  bool discounted = false;  // by the convention's discount of the rank
  bool every_rank = false;  // takes a step at each rank down to the cutoff
  // Its gain is exp2 in any convention, of grades up to its parameter.
  bool takes_max_grade = false;
  // Above 0 also where nothing of the truth is recommended: says nothing of hits.
  bool positive_without_hits = false;
  bool takes_item_count = false;  // its parameter is the number of all items
};

[[nodiscard]] std::span<const MetricInfo> metric_table() noexcept;

}  // namespace exactk
