// Finds the position of an item in the catalogue, and whether it is in train.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/types.hpp"
#include "match/id_index.hpp"

namespace exactk {

// A position in the catalogue, or one of two numbers after its last one.
using ItemNumber = std::uint32_t;

// Beside the number of an item that is known not to be in train: one access to memory finds both.
inline constexpr ItemNumber kUnseen = ItemNumber{1} << 31U;

class CatalogueIndex {
 public:
  CatalogueIndex() = default;
  // Requires ids of at least 0, fewer than 2^31 - 2. `counts` says how often each is in train;
  // empty: unknown. Both must outlive the index.
  CatalogueIndex(std::span<const std::int64_t> ids, std::span<const Count> counts, const Run& run)
      : ids_(ids), counts_(counts) {
    std::int64_t highest = -1;
    in_chunks(ids.size(), run, [&](std::size_t begin, std::size_t end) {
      highest = std::max(highest, *std::max_element(&ids[begin], &ids[begin] + (end - begin)));
    });
    const std::size_t spread = static_cast<std::size_t>(highest) + 1;  // 0 without ids
    if (spread > kMaxSpread * ids.size() + kSmall) {
      index_.build(ids, run);
      return;
    }
    grow(numbers_, spread, kAbsent, run);
    in_chunks(ids.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        ItemNumber& number = numbers_[static_cast<std::size_t>(ids[i])];
        if (number == kAbsent) number = marked(static_cast<ItemNumber>(i));
      }
    });
  }

  [[nodiscard]] Count size() const noexcept { return static_cast<Count>(ids_.size()); }

  // Returns how many ids there are up to the highest, if these are few enough to be looked up one
  // by one; otherwise 0.
  [[nodiscard]] std::size_t spread() const noexcept { return numbers_.size(); }

  // Returns the number of an item outside the catalogue.
  [[nodiscard]] ItemNumber foreign() const noexcept { return static_cast<ItemNumber>(ids_.size()); }

  // Returns the first position of the id.
  [[nodiscard]] ItemNumber find(std::uint64_t id) const noexcept {
    return find_marked(id) & ~kUnseen;
  }
  // Returns it with kUnseen if the item is known not to be in train.
  [[nodiscard]] ItemNumber find_marked(std::uint64_t id) const noexcept {
    if (!numbers_.empty() || ids_.empty()) {
      const ItemNumber number = id < numbers_.size() ? numbers_[id] : kAbsent;
      return number == kAbsent ? foreign() : number;
    }
    const Offset position = index_.find(ids_, id);
    return position < 0 ? foreign() : marked(static_cast<ItemNumber>(position));
  }

 private:
  [[nodiscard]] ItemNumber marked(ItemNumber number) const noexcept {
    return !counts_.empty() && counts_[number] == 0 ? number | kUnseen : number;
  }

  // A table over all ids takes half a cache line an item at most.
  static constexpr std::size_t kMaxSpread = 8;
  static constexpr std::size_t kSmall = 1024;
  static constexpr ItemNumber kAbsent = std::numeric_limits<ItemNumber>::max();

  std::span<const std::int64_t> ids_;
  std::span<const Count> counts_;
  std::vector<ItemNumber> numbers_;  // by id, marked; empty: use the index
  IdIndex index_;
};

}  // namespace exactk
