// How far an item is from what a user has in train.
#pragma once

#include <span>
#include <vector>

#include "metrics/item_distances.hpp"
#include "metrics/metric.hpp"

namespace exactk {

class HistoryDistances {
 public:
  HistoryDistances(const ItemDistances& distances, std::span<const ItemNumber> history,
                   HistoryDistance kind)
      : distances_(distances), kind_(kind) {
    for (const ItemNumber item : history) {
      if (distances.has_features(item)) history_.push_back(item);
    }
    of_items_.resize(history_.size());
  }

  [[nodiscard]] bool is_empty() const noexcept { return history_.empty(); }
  [[nodiscard]] bool has_features(ItemNumber item) const noexcept {
    return distances_.has_features(item);
  }

  // Returns the distance of an item that has features from the history; 0 if that is empty.
  [[nodiscard]] double distance(ItemNumber item, const Run& run) {
    if (history_.empty()) return 0;
    const std::span<const ItemNumber> history = history_;
    in_chunks(
        history.size(), run,
        [&](std::size_t begin, std::size_t end) {
          distances_.compute(item, history.subspan(begin, end - begin), scratch_,
                             std::span(of_items_).subspan(begin, end - begin));
        },
        kBlock);
    return distance_of_items(kind_, of_items_);
  }

 private:
  static constexpr std::size_t kBlock = 1024;

  const ItemDistances& distances_;
  HistoryDistance kind_;
  std::vector<ItemNumber> history_;  // items with features
  std::vector<double> of_items_;     // parallel to the history
  std::vector<double> scratch_;
};

}  // namespace exactk
