// How many tags a list has, and how evenly they are spread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metrics/denominators.hpp"
#include "metrics/item_tags.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// The weights of the tags of a list, from the rank after the last one down to the cutoff.
class TagWeights {
 public:
  struct Share {
    std::int64_t tag;
    double weight;
  };

  explicit TagWeights(const Context& context) noexcept
      : items_(context.list.items), tags_(*context.tags), run_(context.run) {}

  // Calls weight_of(rank) for each item that has tags.
  template <class WeightOf>
  void advance(Count cutoff, const WeightOf& weight_of) {
    for (; next_ < items_.size() && std::cmp_less(next_, cutoff); ++next_) {
      if (next_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      const auto tags = tags_.of_item(items_[next_]);
      if (tags.empty()) continue;
      ++items_with_tags_;
      const double weight = weight_of(static_cast<Count>(next_) + 1);
      for (const std::int64_t tag : tags) {
        const auto share = std::ranges::lower_bound(shares_, tag, {}, &Share::tag);
        if (share != shares_.end() && share->tag == tag) {
          share->weight += weight;
        } else {
          shares_.insert(share, {tag, weight});
        }
      }
    }
  }
  [[nodiscard]] std::span<const Share> shares() const noexcept { return shares_; }  // by tag
  [[nodiscard]] Count items() const noexcept { return items_with_tags_; }

 private:
  std::span<const ItemNumber> items_;
  const ItemTags& tags_;
  const Run& run_;
  std::vector<Share> shares_;
  Count items_with_tags_ = 0;
  std::size_t next_ = 0;  // by rank
};

class TagDiversity {
 public:
  static constexpr std::string_view kAliases[] = {"categorical_diversity", "category_coverage"};
  static constexpr std::string_view kOwnFields[] = {"missing_features", "foreign_items",
                                                    "list_mean_over"};
  static constexpr MetricInfo info{.name = "tag_diversity",
                                   .aliases = kAliases,
                                   .summary = "number of distinct tags of a list, per item",
                                   .formula = "|union of the tags of the items of L| / |L|",
                                   .source = "RePlay",
                                   .unit_range = false,
                                   .undefined_case = "no item of the list counts",
                                   .own_fields = kOwnFields,
                                   .positive_without_hits = true,
                                   .reads_truth = false,
                                   .walks_list = true,
                                   .reads_features = true};

  explicit TagDiversity(const Context& context) noexcept : tags_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) {
    tags_.advance(counts.cutoff, [](Count) { return 1.0; });
    return ratio(static_cast<Count>(tags_.shares().size()),
                 list_mean_divisor(rules.list_mean_over, tags_.items(), counts));
  }

 private:
  TagWeights tags_;
};

class TagEntropy {
 public:
  static constexpr std::string_view kAliases[] = {"category_entropy", "rank_biased_entropy"};
  static constexpr std::string_view kOwnFields[] = {"missing_features", "foreign_items",
                                                    "entropy_base"};
  static constexpr MetricInfo info{
      .name = "tag_entropy",
      .aliases = kAliases,
      .summary =
          "entropy of the tags of a list, whose items are weighted by rank: 0 if all have one "
          "and the same tag",
      .formula = "-sum over tags g of q(g) log2 q(g), with q(g) the share of g in the weights",
      .source = "LensKit",
      .unit_range = false,
      .undefined_case = "no item of the list counts",
      .micro = false,
      .own_fields = kOwnFields,
      .discounted = true,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_features = true};

  explicit TagEntropy(const Context& context) noexcept
      : tags_(context), discounts_(context.discounts) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) {
    tags_.advance(counts.cutoff, [&](Count rank) { return discounts_.at(rank); });
    double weight = 0;
    for (const TagWeights::Share& share : tags_.shares()) weight += share.weight;
    if (weight == 0) return {0, 0};
    double entropy = 0;
    for (const TagWeights::Share& share : tags_.shares()) {
      if (share.weight == 0) continue;
      entropy += share.weight / weight * log_in(rules.entropy_base, weight / share.weight);
    }
    return {entropy, 1};
  }

 private:
  TagWeights tags_;
  const DiscountTable& discounts_;
};

}  // namespace exactk
