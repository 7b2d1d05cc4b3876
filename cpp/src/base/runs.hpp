// Runs of equal elements, as in a column that is sorted by user.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/read_once.hpp"

namespace exactk {

// Calls visitor(position) for each element that differs from the one before, which is `last` until
// the visitor returns; the first element is compared with the given one.
template <class T, class Visitor>
void visit_changes(std::span<const T> elements, T& last, const Visitor& visitor) {
  constexpr std::size_t kBlock = 16;  // elements that are compared at once
  for (std::size_t begin = 0; begin < elements.size(); begin += kBlock) {
    const auto block = elements.subspan(begin, std::min(kBlock, elements.size() - begin));
    if (block.size() == kBlock) {
      T differences = 0;
      for (std::size_t i = 0; i < kBlock; ++i) differences |= block[i] ^ last;
      if (differences == 0) continue;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      const T element = read_once(block[i]);
      if (element == last) continue;
      visitor(begin + i);
      last = element;
    }
  }
}

}  // namespace exactk
