// Metrics of the four counts of a classifier that says which items of the catalogue are relevant.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/denominators.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// The catalogue, and how many of its items are said to be relevant: no more than it has.
class RetrievedOfItems {
 public:
  explicit RetrievedOfItems(const Context& context) noexcept : items_(context.parameter) {}

  [[nodiscard]] double items() const noexcept { return items_; }
  [[nodiscard]] double retrieved(const CutoffCounts& counts, const Rules& rules) const noexcept {
    return std::min(static_cast<double>(divisor(rules.precision_over, counts)), items_);
  }

 private:
  double items_;
};

class Accuracy {
 public:
  static constexpr HitsRead kHitsRead = HitsRead::count;
  static constexpr std::string_view kOwnFields[] = {"precision_over"};
  static constexpr MetricInfo info{
      .name = "accuracy",
      .summary =
          "share of the items of the catalogue that are recommended and relevant, or neither",
      .formula = "(N - k - |T| + 2 h) / N, N = num_items, k at most N",
      .source = "RecTools, Accuracy",
      .parameter = {"num_items", std::numeric_limits<double>::quiet_NaN(), 1, 1e15, true},
      .unit_range = false,
      .least = -1,
      .greatest = 1,
      .always_divided = true,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .takes_item_count = true};

  explicit Accuracy(const Context& context) noexcept : catalogue_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const noexcept {
    const double items = catalogue_.items();
    const double others = items - catalogue_.retrieved(counts, rules);
    return {others - static_cast<double>(counts.relevant) + 2 * static_cast<double>(counts.hits),
            items};
  }

 private:
  RetrievedOfItems catalogue_;
};

class Mcc {
 public:
  static constexpr HitsRead kHitsRead = HitsRead::count;
  static constexpr std::string_view kAliases[] = {"matthews_corrcoef"};
  static constexpr MetricInfo info{
      .name = "mcc",
      .aliases = kAliases,
      .summary =
          "correlation of being recommended and being relevant, over the items of the catalogue: 0 "
          "of a random list, 1 of the relevant items; 0 / 0 if all items are either",
      .formula = "(N h - k |T|) / sqrt(k |T| (N - |T|) (N - k)), N = num_items, k at most N",
      .source = "Matthews 1975; RecTools, MCC",
      .parameter = Accuracy::info.parameter,
      .unit_range = false,
      .least = -1,
      .greatest = 1,
      .undefined_case = "all items are recommended, or all are relevant, or none is",
      .micro = false,
      .own_fields = Accuracy::kOwnFields,
      .takes_item_count = true};

  explicit Mcc(const Context& context) noexcept : catalogue_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) const noexcept {
    const double retrieved = catalogue_.retrieved(counts, rules);
    const auto relevant = static_cast<double>(counts.relevant);
    const auto hits = static_cast<double>(counts.hits);
    const double not_retrieved = catalogue_.items() - retrieved;
    const double not_relevant = catalogue_.items() - relevant;
    return {hits * not_relevant - (retrieved - hits) * relevant,
            std::sqrt(retrieved * not_retrieved * (relevant * not_relevant))};
  }

 private:
  RetrievedOfItems catalogue_;
};

}  // namespace exactk
