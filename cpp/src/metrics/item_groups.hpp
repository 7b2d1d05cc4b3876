// Metrics of groups of items over all lists. Callers of the core compute them, from a GroupTally.
#pragma once

#include <string_view>

#include "exactk/metrics.hpp"

namespace exactk {

struct Exposure {
  static constexpr std::string_view kAliases[] = {"group_exposure"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{
      .name = "exposure",
      .aliases = kAliases,
      .summary =
          "how unequally the groups of items are exposed: 0 if all equally, sqrt(groups - 1) if "
          "only one is",
      .formula =
          "std over g of S(g) / mean over g of S(g), where S(g) is the sum of the discounts of the "
          "ranks at which all lists have items of the group g",
      .source = "Singh, Joachims 2018; std / mean: Zhu, Wang, Caverlee 2020",
      .direction = Direction::lower,
      .unit_range = false,
      .micro = false,
      .own_fields = kOwnFields,
      .discounted = true,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true,
      .reads_groups = true};
};

struct Rsp {
  static constexpr std::string_view kAliases[] = {"ranking_based_statistical_parity"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{
      .name = "rsp",
      .aliases = kAliases,
      .summary =
          "how unequally often the items of each group are recommended to users who do not have "
          "them "
          "in train: 0 if equally often",
      .formula =
          "std over g of P(g) / mean over g of P(g), where P(g) is (sum over u of |L(u) & g - "
          "H(u)|) "
          "/ (sum over u of |g - H(u)|), and H(u) is what the user u has in train",
      .source = "Zhu, Wang, Caverlee 2020",
      .direction = Direction::lower,
      .unit_range = false,
      .micro = false,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true,
      .reads_history = true,
      .reads_groups = true};
};

struct Reo {
  static constexpr std::string_view kAliases[] = {"ranking_based_equal_opportunity"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{
      .name = "reo",
      .aliases = kAliases,
      .summary =
          "how unequally often the relevant items of each group are recommended to users who do "
          "not "
          "have them in train: 0 if equally often",
      .formula =
          "std over g of P(g) / mean over g of P(g), where P(g) is (sum over u of |L(u) & T(u) & g "
          "- "
          "H(u)|) / (sum over u of |T(u) & g - H(u)|), and H(u) is what the user u has in train",
      .source = "Zhu, Wang, Caverlee 2020",
      .direction = Direction::lower,
      .unit_range = false,
      .micro = false,
      .own_fields = kOwnFields,
      .walks_list = true,
      .of_collection = true,
      .reads_history = true,
      .reads_groups = true};
};

}  // namespace exactk
