// The order of items by their scores, and of those of one score by their ids or positions.
#pragma once

#include <cstdint>

#include "numeric/key_order.hpp"

namespace exactk {

template <class Key>
struct ScoredItem {
  Key key;
  std::uint32_t item;  // its position
};

// Whether one is ranked before the other.
template <class Key>
struct BetterItem {
  bool highest;             // of equal scores, the highest number is first
  const std::int64_t* ids;  // which are the numbers; null: the positions are

  bool operator()(const ScoredItem<Key>& one, const ScoredItem<Key>& other) const noexcept {
    if (one.key > other.key) return true;
    if (one.key < other.key) return false;
    if (is_nan(one.key) != is_nan(other.key)) return is_nan(other.key);
    if (ids != nullptr && ids[one.item] != ids[other.item]) {
      return (ids[one.item] > ids[other.item]) == highest;
    }
    // Of one id, the first in the row.
    return highest && ids == nullptr ? one.item > other.item : one.item < other.item;
  }
  // Whether later positions lose all ties.
  [[nodiscard]] bool by_position() const noexcept { return !highest && ids == nullptr; }
};

}  // namespace exactk
