// The order of items by their scores, and of those of one score by their ids or positions.
#pragma once

#include <cstdint>

#include "numeric/key_order.hpp"

namespace exactk {

template <class Key>
struct ScoredItem {
  Key key;
  std::uint32_t position;
};

// Whether one is ranked before the other.
template <class Key>
struct BetterItem {
  bool highest_first;       // of equal scores, the highest id is first
  const std::int64_t* ids;  // by position; null: the positions are the ids

  bool operator()(const ScoredItem<Key>& one, const ScoredItem<Key>& other) const noexcept {
    if (one.key > other.key) return true;
    if (one.key < other.key) return false;
    if (is_nan(one.key) != is_nan(other.key)) return is_nan(other.key);
    if (ids != nullptr && ids[one.position] != ids[other.position]) {
      return (ids[one.position] > ids[other.position]) == highest_first;
    }
    // Of one id, the first in the row.
    return highest_first && ids == nullptr ? one.position > other.position
                                           : one.position < other.position;
  }
  // Whether later positions lose all ties.
  [[nodiscard]] bool is_by_position() const noexcept { return !highest_first && ids == nullptr; }
};

}  // namespace exactk
