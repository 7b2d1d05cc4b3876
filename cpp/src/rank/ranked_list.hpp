// The result of ranking a user's scores: as much of the list as the metrics need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The range of ranks that tied items share.
struct Tie {
  Count first = 0;
  Count last = 0;

  [[nodiscard]] Count size() const noexcept { return last - first + 1; }
  friend bool operator==(const Tie&, const Tie&) = default;
};

// Whether ties are broken by the items alone.
[[nodiscard]] constexpr bool is_strict(Ties ties) noexcept {
  return ties == Ties::lowest_id || ties == Ties::highest_id || ties == Ties::input_order;
}

// Returns how to rank scores for these ties: strictly, or as for `expected`, with the tie of each
// item recorded.
[[nodiscard]] constexpr Ties ranking_ties(Ties ties) noexcept {
  return is_strict(ties) ? ties : Ties::expected;
}

// Positions of the truth's items in the row. Positions beyond its end have no score.
struct TruthPositions {
  std::span<const std::int64_t> positions;  // nonnegative
  std::span<const Count> entries = {};      // parallel entries of the truth; empty: 0, 1, 2, ...

  [[nodiscard]] Count entry_at(std::size_t index) const noexcept {
    return entries.empty() ? static_cast<Count>(index) : entries[index];
  }
};

struct RankedList {
  // Best first: either offsets of the items in the stored row, or, if the truth has been looked up,
  // each item's first entry in the truth, or kNoEntry.
  std::span<const Offset> offsets = {};
  std::span<const Count> entries = {};
  std::span<const Count> ranks = {};  // parallel to either; empty: 1, 2, 3, ...
  std::span<const Tie> ties = {};     // parallel to either; empty: not requested
  Count length = 0;                   // of the whole list
  Count scored_end = 0;               // items with ids from here on have no score
  // One bit per id below scored_end, if ids are positions: whether it is excluded. Null: none is.
  const std::uint64_t* excluded_bits = nullptr;

  // Whether an id below scored_end is excluded.
  [[nodiscard]] bool excludes(std::int64_t id) const noexcept {
    if (excluded_bits == nullptr || id < 0 || id >= scored_end) return false;
    const auto position = static_cast<std::size_t>(id);
    return (excluded_bits[position / 64] >> (position % 64) & 1U) != 0;
  }

  static constexpr Count kNoEntry = -1;
};

}  // namespace exactk
