// How popular the items of a list are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "metrics/list_mean.hpp"
#include "metrics/popularity.hpp"

namespace exactk {

struct AverageRecommendationPopularity : ListMean {
  static constexpr std::string_view kAliases[] = {"average_recommendation_popularity",
                                                  "average_popularity"};
  static constexpr std::string_view kOwnFields[] = {"popularity", "arp_over", "unseen_items",
                                                    "foreign_items", "list_mean_over"};
  static constexpr MetricInfo info{.name = "arp",
                                   .aliases = kAliases,
                                   .summary = "mean popularity of the items of the list",
                                   .formula = "mean over i in L of p(i)",
                                   .source = "Yin et al. 2012",
                                   .direction = Direction::lower,
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
    const auto over = static_cast<double>(popularity.divisor(rules.arp_over));
    if (over == 0) return {};
    return popularity.values([&](Count count) { return static_cast<double>(count) / over; }, 0);
  }
};

struct PopularityRank : ListMean {
  static constexpr std::string_view kAliases[] = {"mean_popularity_rank"};
  static constexpr std::string_view kOwnFields[] = {"popularity", "unseen_items", "foreign_items",
                                                    "list_mean_over"};
  static constexpr MetricInfo info{
      .name = "popularity_rank",
      .aliases = kAliases,
      .summary =
          "mean share of the items of train that are at most as popular, ties by half; 0 "
          "for an item that is not in train",
      .formula = "mean over i in L of (|p < p(i)| + (|p = p(i)| + 1) / 2) / |p > 0|",
      .source = "LensKit, MeanPopRank",
      .direction = Direction::lower,
      .undefined_case = "no item of the list counts",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_popularity = true};

  using ListMean::ListMean;

  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules);
    std::vector<Count> sorted;
    std::ranges::copy_if(popularity.counts(), std::back_inserter(sorted),
                         [](Count count) { return count > 0; });
    std::ranges::sort(sorted);
    const auto ranked = static_cast<Count>(sorted.size());
    return popularity.values(
        [&](Count count) {
          const auto equal = std::ranges::equal_range(sorted, count);
          const auto lower = equal.begin() - sorted.begin();
          const auto ties = static_cast<Count>(equal.size());
          return static_cast<double>(2 * lower + ties + 1) / static_cast<double>(2 * ranked);
        },
        0);
  }
};

struct AveragePercentageOfLongTail : ListMean {
  static constexpr std::string_view kAliases[] = {"average_percentage_of_long_tail",
                                                  "tail_percentage"};
  static constexpr std::string_view kOwnFields[] = {"popularity", "tail", "unseen_items",
                                                    "foreign_items", "list_mean_over"};
  static constexpr MetricInfo info{
      .name = "aplt",
      .aliases = kAliases,
      .summary =
          "share of the list outside the most popular items, which together have the share "
          "`head` of the interactions",
      .formula = "|L - head| / |L|",
      .source = "Abdollahpouri, Burke, Mobasher 2017",
      .parameter = {.name = "head", .standard = 0.8, .low = 0, .high = 0x1p53},
      .undefined_case = "no item of the list counts",
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_popularity = true};

  using ListMean::ListMean;

  static ItemValues item_values(const Items& items, const Rules& rules, double head) {
    const PopularityView popularity(items, rules);
    const std::span<const Count> counts = popularity.counts();
    const std::vector<std::size_t> tail = popularity.tail(head);
    // Of items that are equally popular, some may be in the tail: then one like them is, too.
    const auto is_in_tail = [&](Count count) {
      return std::ranges::any_of(tail, [&](std::size_t item) { return counts[item] == count; });
    };
    const double least_popular = is_in_tail(popularity.lowest()) ? 1 : 0;
    ItemValues values = popularity.values([&](Count) { return least_popular; }, 1);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) values[i] = 0;
    }
    for (const std::size_t item : tail) values[item] = 1;
    return values;
  }
};

}  // namespace exactk
