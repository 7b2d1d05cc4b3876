// How novel the hits of a list are to a reader who looks at lower ranks less.
#pragma once

#include "metrics/list_mean.hpp"
#include "metrics/popularity.hpp"

namespace exactk {

// The sum of the numbers of the hits over that of the ranks, both discounted.
class DiscountedHits {
 public:
  explicit DiscountedHits(const Context& context) noexcept
      : walk_(context), hits_(context.row.judged_items), discounts_(context.discounts) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) {
    walk_.advance(counts.cutoff, [&](Count rank, double value) {
      const double discount = discounts_.at(rank);
      weight_ += discount;
      if (hits_.is_hit(rank)) sum_ += discount * value;
    });
    return {sum_, weight_};
  }

 private:
  ListWalk walk_;
  HitRanks hits_;
  const DiscountTable& discounts_;
  double sum_ = 0;
  double weight_ = 0;
};

struct ExpectedPopularityComplement : DiscountedHits {
  static constexpr std::string_view kAliases[] = {"expected_popularity_complement"};
  static constexpr std::string_view kOwnFields[] = {"unseen_items", "foreign_items"};
  static constexpr MetricInfo info{
      .name = "epc",
      .aliases = kAliases,
      .summary =
          "share of the users of train who do not have the item, over the hits, discounted "
          "by rank",
      .formula =
          "(sum over hits i of (1 - p(i) / U) / log2(i + 1)) / (sum over i of 1 / log2(i + 1))",
      .source = "Vargas, Castells 2011",
      .own_fields = kOwnFields,
      .discounted = true,
      .walks_list = true,
      .reads_popularity = true};

  using DiscountedHits::DiscountedHits;

  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules, Popularity::users);
    const Count users = popularity.users();
    if (users == 0) return {};
    return popularity.values(
        [&](Count count) {
          return static_cast<double>(users - count) / static_cast<double>(users);
        },
        1);
  }
};

struct ExpectedFreeDiscovery : DiscountedHits {
  static constexpr std::string_view kAliases[] = {"expected_free_discovery"};
  static constexpr std::string_view kOwnFields[] = {"popularity", "unseen_items", "foreign_items"};
  static constexpr MetricInfo info{
      .name = "efd",
      .aliases = kAliases,
      .summary =
          "bits that tell the item from all interactions of train, over the hits, discounted "
          "by rank",
      .formula =
          "(sum over hits i of log2(S / max(1, p(i))) / log2(i + 1)) / (sum over i of "
          "1 / log2(i + 1)), S = sum of p",
      .source = "Vargas, Castells 2011",
      .unit_range = false,
      .own_fields = kOwnFields,
      .discounted = true,
      .walks_list = true,
      .reads_popularity = true};

  using DiscountedHits::DiscountedHits;

  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules);
    const Count total = popularity.total();
    if (total == 0) return {};
    const auto value_of = [&](Count count) { return log2_of_inverse_share(total, count).high; };
    const Remembered values(value_of, popularity.divisor(PopularityOver::max));
    return popularity.values(values, value_of(1));
  }
};

}  // namespace exactk
