// How far the tags of a list are from those of what the user had.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metrics/item_tags.hpp"
#include "metrics/metric.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {

class Calibration {
 public:
  static constexpr std::string_view kAliases[] = {"miscalibration"};
  static constexpr std::string_view kOwnFields[] = {"missing_features", "foreign_items"};
  static constexpr MetricInfo info{
      .name = "calibration",
      .aliases = kAliases,
      .summary =
          "divergence of the tags of the list, weighted by rank, from those of what the user has "
          "in train; 0 if their shares are the same, 0 / 0 without either",
      .formula = "sum over tags g of p(g) ln(p(g) / ((1 - alpha) q(g) + alpha p(g)))",
      .source = "Steck 2018",
      .parameter = {.name = "alpha", .standard = 0.01, .low = 1e-6, .high = 1},
      .direction = Direction::lower,
      .unit_range = false,
      .undefined_case = "no item in train, or none of the list, counts",
      .micro = false,
      .own_fields = kOwnFields,
      .discounted = true,
      .positive_without_hits = true,
      .reads_truth = false,
      .walks_list = true,
      .reads_features = true,
      .reads_history = true};

  explicit Calibration(const Context& context)
      : items_(context.list.items),
        tags_(*context.tags),
        discounts_(context.discounts),
        run_(context.run),
        alpha_(context.parameter) {
    read_history(context.list.history);
  }

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) {
    for (; next_ < items_.size() && std::cmp_less(next_, counts.cutoff); ++next_) {
      if (next_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      add(tags_.of_item(items_[next_]), static_cast<Count>(next_) + 1);
    }
    if (shares_.empty() || weight_ == 0) return {0, 0};
    return {divergence(), 1};
  }

 private:
  // A tag of the history.
  struct Share {
    std::int64_t tag;
    double of_history;
    double of_list;  // times the weight of the list
  };

  // Each item is spread evenly over its tags.
  void read_history(std::span<const ItemNumber> history) {
    Count items = 0;
    for (const ItemNumber item : history) {
      const auto tags = tags_.of_item(item);
      if (++items % kCheckpointInterval == 0) run_.checkpoint();
      const double part = 1 / static_cast<double>(tags.size());
      for (const std::int64_t tag : tags) shares_.push_back({tag, part, 0});
      if (tags.empty()) --items;
    }
    std::ranges::stable_sort(shares_, {}, &Share::tag);  // the parts of a tag stay in their order
    std::size_t last = 0;
    for (std::size_t i = 1; i < shares_.size(); ++i) {
      if (shares_[i].tag == shares_[last].tag) {
        shares_[last].of_history += shares_[i].of_history;
      } else {
        shares_[++last] = shares_[i];
      }
    }
    if (!shares_.empty()) shares_.resize(last + 1);
    for (Share& share : shares_) share.of_history /= static_cast<double>(items);
  }

  // Adds the item of a rank of the list.
  void add(std::span<const std::int64_t> tags, Count rank) {
    if (tags.empty()) return;
    const double discount = discounts_.at(rank);
    weight_ += discount;
    for (const std::int64_t tag : tags) {
      const auto share = std::ranges::lower_bound(shares_, tag, {}, &Share::tag);
      if (share == shares_.end() || share->tag != tag) continue;
      share->of_list += discount / static_cast<double>(tags.size());
    }
  }

  [[nodiscard]] double divergence() const {
    double sum = 0;
    for (const Share& share : shares_) {
      const double mixed = (1 - alpha_) * (share.of_list / weight_) + alpha_ * share.of_history;
      sum += share.of_history * natural_log(share.of_history / mixed);
    }
    return std::max(sum, 0.0);  // rounding may lead below it
  }

  std::span<const ItemNumber> items_;
  const ItemTags& tags_;
  const DiscountTable& discounts_;
  const Run& run_;
  double alpha_;
  std::vector<Share> shares_;  // by tag
  std::size_t next_ = 0;       // by rank
  double weight_ = 0;          // of the list
};

}  // namespace exactk
