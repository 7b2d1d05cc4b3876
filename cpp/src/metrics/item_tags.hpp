// The tags of the items of a catalogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exactk/items.hpp"
#include "match/catalogue_index.hpp"

namespace exactk {

// Holds a copy, because metrics index by the tags.
class ItemTags {
 public:
  // Requires valid sets.
  explicit ItemTags(const ItemFeatures& features)
      : indptr_(features.indptr.begin(), features.indptr.end()),
        tags_(features.columns.begin(), features.columns.end()) {}

  // Returns the tags of an item, ascending; none for an item outside the catalogue.
  [[nodiscard]] std::span<const std::int64_t> of_item(ItemNumber item) const noexcept {
    if (static_cast<std::size_t>(item) + 1 >= indptr_.size()) return {};
    const auto begin = static_cast<std::size_t>(indptr_[item]);
    return std::span(tags_).subspan(begin, static_cast<std::size_t>(indptr_[item + 1]) - begin);
  }
  [[nodiscard]] bool has_features(ItemNumber item) const noexcept { return !of_item(item).empty(); }

 private:
  std::vector<Offset> indptr_;
  std::vector<std::int64_t> tags_;
};

}  // namespace exactk
