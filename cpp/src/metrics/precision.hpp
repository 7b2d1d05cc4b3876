// The share of the recommended items that are relevant, or judged.
#pragma once

#include <limits>

#include "exactk/items.hpp"
#include "metrics/item_values.hpp"
#include "metrics/list_mean.hpp"
#include "metrics/metric.hpp"

namespace exactk {

struct Precision {
  using OfValues = FoundGains<&Rules::precision_over>;
  static constexpr std::string_view kAliases[] = {"p", "prec"};
  static constexpr std::string_view kOwnFields[] = {"precision_over", "weight"};
  static constexpr MetricInfo info{
      .name = "precision",
      .aliases = kAliases,
      .summary = "share of the recommended items that are relevant",
      .formula = "h / k",
      .source = "Kent, Berry, Luehrs, Perry 1955; Manning, Raghavan, Schuetze 2008, section 8.4",
      .own_fields = kOwnFields};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) noexcept {
    return ratio(counts.hits, divisor(rules.precision_over, counts));
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }
};

// Precision of the items of a group: the others count as if they were not in the list.
class PrecisionOfGroup {
 public:
  static constexpr MetricInfo info{
      .name = "precision(item_group)",
      .summary = "share of the recommended items of a group that are relevant",
      .formula = "h_g / n_g",
      .source = {},
      .parameter = {"group", std::numeric_limits<double>::quiet_NaN(), 0,
                    double{kMaxItemGroups - 1}, true},
      .walks_list = true,
      .of_item_group = true};

  explicit PrecisionOfGroup(const Context& context) noexcept
      : walk_(context), hits_(context.row.judged_items) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) {
    walk_.advance(counts.cutoff, [&](Count rank, double) {
      ++items_;
      found_ += hits_.is_hit(rank) ? 1 : 0;
    });
    return ratio(found_, items_);
  }

  // 1 for each item of the group; the others are left out.
  static ItemValues item_values(const Items& items, const Rules& /*rules*/, double parameter) {
    const ItemGroupRule group{.group = static_cast<Count>(parameter)};
    ItemValues values;
    values.reserve(items.group_bits.size() + 1);
    for (const std::uint64_t bits : items.group_bits) {
      values.push_back(group.has(bits) ? 1 : kLeftOut);
    }
    values.push_back(kLeftOut);
    return values;
  }

 private:
  ListWalk walk_;
  HitRanks hits_;
  Count items_ = 0;
  Count found_ = 0;
};

struct Judged {
  static constexpr std::string_view kAliases[] = {"judged_rate"};
  static constexpr std::string_view kOwnFields[] = {"precision_over"};
  static constexpr MetricInfo info{
      .name = "judged",
      .aliases = kAliases,
      .summary = "share of the recommended items that are judged, relevant or not",
      .formula = "judged items in the list / k",
      .source = "Buckley, Voorhees 2004 (incomplete judgments)",
      .direction = Direction::none,  // it tells how far the other values can be trusted
      .own_fields = kOwnFields,
      .counts_unjudged = true};

  // Precision as if all judged items were relevant.
  static Ratio ratio_at(CutoffCounts counts, const Rules& rules) noexcept {
    counts.hits = counts.judged;
    counts.relevant += counts.nonrelevant;
    return Precision::ratio_at(counts, rules);
  }
};

struct UnjudgedShare {
  static constexpr std::string_view kAliases[] = {"unj"};
  static constexpr MetricInfo info{
      .name = "unjudged",
      .aliases = kAliases,
      .summary = "share of the first k ranks that have an item that is not judged",
      .formula = "items in the list that are not judged / k",
      .source = "trec_eval 10, unj",
      .direction = Direction::none,
      .positive_without_hits = true,
      .counts_unjudged = true};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.list_length - counts.judged, divisor(Over::cutoff, counts));
  }
};

}  // namespace exactk
