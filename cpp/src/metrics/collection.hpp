// Metrics of all lists together. Callers of the core compute them, from an ItemTally.
#pragma once

#include <string_view>

#include "exactk/metrics.hpp"

namespace exactk {

struct Coverage {
  static constexpr std::string_view kAliases[] = {"catalog_coverage", "catalogue_coverage",
                                                  "item_coverage"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{.name = "coverage",
                                   .aliases = kAliases,
                                   .summary = "share of the catalogue that any list has",
                                   .formula = "|union of L(u) & I| / |I|",
                                   .source = "Ge, Delgado-Battenfeld, Jannach 2010",
                                   .always_divided = true,
                                   .micro = false,
                                   .own_fields = kOwnFields,
                                   .positive_without_hits = true,
                                   .reads_truth = false,
                                   .walks_list = true,
                                   .of_collection = true};
};

struct NumItems {
  static constexpr std::string_view kAliases[] = {"aggregate_diversity"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{.name = "num_items",
                                   .aliases = kAliases,
                                   .summary = "number of distinct items that any list has",
                                   .formula = "|union of L(u)|",
                                   .source = "Adomavicius, Kwon 2012",
                                   .unit_range = false,
                                   .always_divided = true,
                                   .micro = false,
                                   .own_fields = kOwnFields,
                                   .positive_without_hits = true,
                                   .reads_truth = false,
                                   .walks_list = true,
                                   .of_collection = true};
};

struct Gini {
  static constexpr std::string_view kAliases[] = {"gini_index"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users", "gini_over",
                                                    "gini_items"};
  static constexpr MetricInfo info{
      .name = "gini",
      .aliases = kAliases,
      .summary =
          "how unequally often the items of the catalogue are recommended: 0 if all are "
          "equally often, (n - 1) / n if only one is",
      .formula =
          "(sum over j of (2 j - n - 1) c(j)) / (n C), where c(j) is the j-th lowest number "
          "of lists that have an item, and C their sum",
      .source = "Fleder, Hosanagar 2009",
      .direction = Direction::lower,
      .micro = false,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true};
};

// Counts of items at each rank down to the cutoff are what it needs of the lists.
struct ExposureGini {
  static constexpr std::string_view kAliases[] = {"gini_of_exposure"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users", "gini_over",
                                                    "gini_items"};
  static constexpr MetricInfo info{
      .name = "exposure_gini",
      .aliases = kAliases,
      .summary =
          "how unequally the items of the catalogue are exposed, each list weighing its items by "
          "rank: 0 if all have the same exposure, (n - 1) / n if only one has any",
      .formula =
          "(sum over j of (2 j - n - 1) e(j)) / (n E), where e(j) is the j-th lowest sum of the "
          "discounts of the ranks at which an item is recommended, and E their sum",
      .source = "LensKit; Biega, Gummadi, Weikum 2018",
      .direction = Direction::lower,
      .micro = false,
      .own_fields = kOwnFields,
      .discounted = true,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true};
};

struct Entropy {
  static constexpr std::string_view kAliases[] = {"shannon_entropy", "distributional_coverage"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users", "entropy_base",
                                                    "entropy_over"};
  static constexpr MetricInfo info{
      .name = "entropy",
      .aliases = kAliases,
      .summary =
          "bits that tell which item a recommendation is of: 0 if all are of one, log2 n if "
          "all items are recommended equally often",
      .formula =
          "log2 C - (sum over items of c log2 c) / C, with c lists that have the item, "
          "and C their sum",
      .source = "Shannon 1948; Szlavik, Kowalczyk, Schut 2011",
      .unit_range = false,
      .micro = false,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true};
};

struct Personalization {
  static constexpr std::string_view kAliases[] = {"inter_list_diversity"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users",
                                                    "list_similarity"};
  static constexpr MetricInfo info{
      .name = "personalization",
      .aliases = kAliases,
      .summary =
          "how much the lists of two users differ, on average: 0 if all are equal, 1 if no "
          "two have an item in common",
      .formula = "1 - mean over pairs u, v of |L(u) & L(v)| / sqrt(|L(u)| |L(v)|)",
      .source = "Zhou et al. 2010",
      .micro = false,
      .own_fields = kOwnFields,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .of_collection = true};
};

struct ItemRecall {
  static constexpr std::string_view kAliases[] = {"item_true_positive_rate"};
  static constexpr std::string_view kOwnFields[] = {"foreign_items", "list_users"};
  static constexpr MetricInfo info{
      .name = "item_recall",
      .aliases = kAliases,
      .summary =
          "mean over the relevant items of the share of the users to whom an item is relevant "
          "whose list has it",
      .formula =
          "mean over i with R(i) > 0 of H(i) / R(i), where R(i) is the number of lists of "
          "users to whom i is relevant, and H(i) how many of these have it",
      .source = "Zhu, He, Zhao, Zhang, Wang, Caverlee 2021",
      .undefined_case = "no item is relevant",
      .micro = false,
      .own_fields = kOwnFields,
      .walks_list = true,
      .of_collection = true};
};

}  // namespace exactk
