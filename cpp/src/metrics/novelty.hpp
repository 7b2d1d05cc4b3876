// How little the items of a list are known: logarithms of their popularity in train.
#pragma once

#include "metrics/list_mean.hpp"
#include "metrics/popularity.hpp"

namespace exactk {

struct Novelty : ListMean {
  static constexpr std::string_view kAliases[] = {"miuf", "mean_inverse_user_frequency"};
  static constexpr std::string_view kOwnFields[] = {"popularity", "novelty_over", "unseen_items",
                                                    "foreign_items", "list_mean_over"};
  static constexpr MetricInfo info{
      .name = "novelty",
      .aliases = kAliases,
      .summary = "mean of the bits that tell that a user of train has the item; 0 if all have it",
      .formula = "mean over i in L of log2(U / max(1, p(i)))",
      .source = "Zhou et al. 2010; Castells, Hurley, Vargas 2022",
      .unit_range = false,
      .undefined_case = "no item of the list counts",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_popularity = true};

  using ListMean::ListMean;

  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules);
    const Count total = popularity.divisor(rules.novelty_over);
    if (total == 0) return {};
    const auto value_of = [&](Count count) { return log2_of_inverse_share(total, count).high; };
    const Remembered values(value_of, popularity.divisor(PopularityOver::max));
    return popularity.values(values, value_of(1));
  }
};

struct Surprisal : ListMean {
  static constexpr std::string_view kOwnFields[] = {"popularity", "novelty_over", "unseen_items",
                                                    "foreign_items", "list_mean_over"};
  static constexpr MetricInfo info{
      .name = "surprisal",
      .summary = "novelty divided by that of an item of one user; 0 / 0 if train has one user",
      .formula = "mean over i in L of log2(U / max(1, p(i))) / log2 U",
      .source = "RePlay, Surprisal",
      .undefined_case = "no item of the list counts",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_popularity = true};

  using ListMean::ListMean;

  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules);
    const Count total = popularity.divisor(rules.novelty_over);
    if (total <= 1) return {};
    const Pair most = log2_of(static_cast<double>(total));
    const auto value_of = [&](Count count) {
      return divide(log2_of_inverse_share(total, count), most).high;
    };
    const Remembered values(value_of, popularity.divisor(PopularityOver::max));
    return popularity.values(values, value_of(1));
  }
};

}  // namespace exactk
