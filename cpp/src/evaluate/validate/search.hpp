// Searches in arrays that the checks share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <variant>

#include "base/checks.hpp"
#include "exactk/types.hpp"

namespace exactk {

inline Count item_count(const ItemArray& items) {
  return std::visit([](const auto& ids) { return static_cast<Count>(ids.size()); }, items);
}

struct RowPosition {
  Count row;
  Offset position;
};

// Returns the row and position of an offset into the items of all rows.
inline RowPosition locate_offset(Offset offset, std::span<const Offset> indptr) {
  const auto after = std::ranges::upper_bound(indptr, offset);
  const auto row = static_cast<Count>(after - indptr.begin()) - 1;
  return {row, offset - indptr[static_cast<std::size_t>(row)]};
}

// Calls check(row) for every row.
template <class Check>
void for_each_row(const Lists& lists, const Run& run, const Check& check) {
  const auto rows = static_cast<std::size_t>(lists.row_count());
  in_chunks(rows, run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) check(static_cast<Count>(row));
  });
}

}  // namespace exactk
