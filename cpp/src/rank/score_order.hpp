// The order of items by score, and of ties by id or position.
#pragma once

#include <cstdint>

#include "numeric/key_order.hpp"

namespace exactk {

template <class Key>
struct ScoredItem {
  Key key;
  std::uint32_t position;
};

// Compares items: whether one ranks before the other.
template <class Key>
struct BetterItem {
  bool highest_first;       // whether ties go to the highest id
  const std::int64_t* ids;  // by position; null: positions are ids

  bool operator()(const ScoredItem<Key>& one, const ScoredItem<Key>& other) const noexcept {
    if (one.key > other.key) return true;
    if (one.key < other.key) return false;
    if (is_nan(one.key) != is_nan(other.key)) return is_nan(other.key);
    if (ids != nullptr && ids[one.position] != ids[other.position]) {
      return (ids[one.position] > ids[other.position]) == highest_first;
    }
    // Repeated ids rank in row order.
    return highest_first && ids == nullptr ? one.position > other.position
                                           : one.position < other.position;
  }
  // Whether later positions lose all ties.
  [[nodiscard]] bool is_by_position() const noexcept { return !highest_first && ids == nullptr; }
};

}  // namespace exactk
