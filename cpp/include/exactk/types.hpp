// Types at the boundary of the core: views as inputs, exact integers as outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace exactk {

using Count = std::int64_t;   // a number of things; a rank, counted from 1
using Offset = std::int64_t;  // an index into an array, for any width of the caller's indptr

// No cutoff: larger than any list, so min(k, .) needs no special case.
inline constexpr Count kNoCutoff = std::numeric_limits<Count>::max();

inline constexpr Count kMaxCutoff = (Count{1} << 31U) - 1;
// The highest rank that a list may assign. Bounded because the work may grow with it.
inline constexpr Count kMaxGivenRank = Count{1} << 20U;
inline constexpr int kMaxThreads = 1024;

// Item ids as the caller stores them, read without a copy and converted one at a time.
using ItemArray = std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>,
                               std::span<const std::uint32_t>, std::span<const std::uint64_t>>;

// One list of items per user. Row u begins at items[indptr[u]] and has lengths[u] items; without
// `lengths` it ends where the next row begins (padded matrices need `lengths`). present[u] == 0
// means that the user has no list, as opposed to an empty one; without `present` every user has
// one. `ranks` are the ranks of the items, ascending within a row, possibly with gaps; without
// `ranks` they are 1, 2, 3, ...
struct Lists {
  ItemArray items;
  std::span<const Offset> indptr;
  std::span<const Offset> lengths;
  std::span<const std::uint8_t> present;
  std::span<const Count> ranks = {};

  [[nodiscard]] Count row_count() const noexcept { return static_cast<Count>(indptr.size()) - 1; }
  [[nodiscard]] Offset begin(Count row) const noexcept {
    return indptr[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] Count length(Count row) const noexcept {
    const auto index = static_cast<std::size_t>(row);
    return lengths.empty() ? indptr[index + 1] - indptr[index] : lengths[index];
  }
  [[nodiscard]] bool has(Count row) const noexcept {
    return present.empty() || present[static_cast<std::size_t>(row)] != 0;
  }
};

// One row of the items, or of an array parallel to them.
template <class T>
[[nodiscard]] std::span<const T> row_slice(std::span<const T> values, const Lists& lists,
                                           Count row) {
  return values.subspan(static_cast<std::size_t>(lists.begin(row)),
                        static_cast<std::size_t>(lists.length(row)));
}

// Only rankings and sparse scores may have other integer types; the adapters convert everything
// else to int64.
[[nodiscard]] inline std::span<const std::int64_t> int64_row_items(const Lists& lists, Count row) {
  return row_slice(std::get<std::span<const std::int64_t>>(lists.items), lists, row);
}

// An exact sum as an integer in little-endian two's complement; its value is integer x 2^-scale.
struct ExactInteger {
  std::vector<std::uint8_t> bytes;
  int scale = 0;
};

}  // namespace exactk
