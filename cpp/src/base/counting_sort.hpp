// Sorts few distinct codes, such as those of groups, in linear time.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Lists the positions of the codes by code; equal codes in the order of `before`, or in their own
// if that is empty. Each code is in [0, code_count).
[[nodiscard]] inline std::vector<Count> positions_by_code(std::span<const Offset> codes,
                                                          Count code_count,
                                                          std::span<const Count> before,
                                                          const Run& run) {
  std::vector<Count> next;  // the slot of each code's next position
  grow(next, static_cast<std::size_t>(code_count) + 1, Count{0}, run);
  in_chunks(codes.size(), run, [&](std::size_t begin, std::size_t end) {
    for (const Offset code : codes.subspan(begin, end - begin)) {
      ++next[static_cast<std::size_t>(code) + 1];
    }
  });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Count> order;
  grow(order, codes.size(), Count{0}, run);
  in_chunks(codes.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Count position = before.empty() ? static_cast<Count>(i) : before[i];
      const Offset code = codes[static_cast<std::size_t>(position)];
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(code)]++)] = position;
    }
  });
  return order;
}

}  // namespace exactk
