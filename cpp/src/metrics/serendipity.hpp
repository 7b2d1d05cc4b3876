// How surprising the hits of a list are: by the popularity of items, or by what the user had.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "metrics/history_distance.hpp"
#include "metrics/list_mean.hpp"
#include "metrics/popularity.hpp"

namespace exactk {

class Serendipity {
 public:
  static constexpr std::string_view kOwnFields[] = {
      "serendipity_of", "distance",     "history_distance", "missing_features",
      "popularity",     "unseen_items", "foreign_items",    "list_mean_over"};
  static constexpr MetricInfo info{
      .name = "serendipity",
      .summary =
          "mean over the list of the distance of each hit from what the user has in train; of "
          "popularity: of the ranks by which the list has it above its place among the most "
          "popular items",
      .formula = "(sum over hits i of d(i, history)) / |L|",
      .source = "Zhang et al. 2012; RecTools, Serendipity",
      .unit_range = false,
      .undefined_case = "no item in train, or none of the list, counts",
      .own_fields = kOwnFields,
      .walks_list = true,
      .reads_list_ranks = true,
      .reads_features = true,
      .reads_popularity = true,
      .reads_history = true};

  explicit Serendipity(const Context& context)
      : items_(context.list.items),
        ranks_of_items_(context.item_values),
        run_(context.run),
        hits_(context.row.judged_items),
        scale_(std::max(static_cast<double>(ranks_of_items_.size()) - 2, 0.0)) {
    if (context.distances == nullptr) return;
    history_.emplace(*context.distances, context.list.history, context.rules.history_distance);
    scale_ = history_->is_empty() ? 0 : 1;
  }

  // Each item outside train is one rank below the last of the catalogue, so the sum over the ranks
  // is a whole number.
  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) {
    for (; next_ < items_.size() && std::cmp_less(next_, counts.cutoff); ++next_) {
      if (next_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      const ItemNumber item = items_[next_];
      if (!is_counted(item)) continue;
      ++counted_;
      const auto rank = static_cast<Count>(next_) + 1;
      if (hits_.is_hit(rank)) sum_ += surprise(item, rank);
    }
    const Count divisor = list_mean_divisor(rules.list_mean_over, counted_, counts);
    return {sum_, static_cast<double>(divisor) * scale_};
  }

  // The dense rank of each item by falling popularity.
  static ItemValues item_values(const Items& items, const Rules& rules, double /*parameter*/) {
    const PopularityView popularity(items, rules);
    std::vector<Count> distinct;
    for (const Count count : popularity.counts()) {
      if (count > 0) distinct.push_back(count);
    }
    std::ranges::sort(distinct, std::greater<>());
    const auto repeats = std::ranges::unique(distinct);
    distinct.erase(repeats.begin(), repeats.end());
    const auto last = static_cast<double>(popularity.counts().size());
    return popularity.values(
        [&](Count count) {
          const auto rank = std::ranges::lower_bound(distinct, count, std::greater<>());
          return static_cast<double>(rank - distinct.begin() + 1);
        },
        last + 1);
  }

 private:
  [[nodiscard]] bool is_counted(ItemNumber item) const noexcept {
    return history_ ? history_->has_features(item) : !std::isnan(ranks_of_items_[item]);
  }
  double surprise(ItemNumber item, Count rank) {
    if (history_) return history_->distance(item, run_);
    return std::max(ranks_of_items_[item] - static_cast<double>(rank), 0.0);
  }

  std::span<const ItemNumber> items_;
  std::span<const double> ranks_of_items_;
  const Run& run_;
  HitRanks hits_;
  double scale_;
  std::optional<HistoryDistances> history_ = {};  // null: of popularity
  std::size_t next_ = 0;                          // by rank
  Count counted_ = 0;
  double sum_ = 0;
};

}  // namespace exactk
