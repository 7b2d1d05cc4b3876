// Sorts the best of some items: few by comparison, many by the digits of their keys. An item is a
// ScoredItem or derived from one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/radix_sort.hpp"
#include "base/run.hpp"
#include "numeric/key_order.hpp"

namespace exactk {

// Fewer items are sorted faster by comparison than by counting digits.
inline constexpr std::size_t kMaxComparedItems = 64;

// Keeps only the best `depth` items, with the last of them at the end.
template <class Item, class Better>
void keep_best(std::vector<Item>& items, std::size_t depth, const Better& better, const Run& run) {
  if (items.size() <= depth) return;
  move_first(std::span(items), depth, better, run);
  items.resize(depth);
}

// Keeps the best `depth` items, sorted; equal keys are ordered by `better`. `buffer` is scratch
// space.
template <class Item, class Better>
void sort_best(std::vector<Item>& items, std::vector<Item>& buffer, std::size_t depth,
               const Better& better, const Run& run) {
  if (items.size() <= kMaxComparedItems || items.size() > 8 * depth) {
    keep_best(items, depth, better, run);
    sort(std::span(items), better, run);
    return;
  }
  radix_sort(items, buffer, [](const Item& item) { return descending_code(item.key); }, run);
  for (std::size_t begin = 0; begin < std::min(depth, items.size());) {
    std::size_t end = begin;
    do {
      if (++end % kChunk == 0) run.checkpoint();
    } while (end < items.size() && is_same_key(items[begin].key, items[end].key));
    const auto tied = std::span(items).subspan(begin, end - begin);
    const std::size_t kept = std::min(end, depth) - begin;
    if (kept < tied.size()) move_first(tied, kept, better, run);
    if (tied.size() > 1) sort(tied.first(kept), better, run);
    begin = end;
  }
  if (items.size() > depth) items.resize(depth);
}

}  // namespace exactk
