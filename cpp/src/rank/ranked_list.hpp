// What ranking a user's scores gives: as much of the list as the metrics need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The ranks that tied items share.
struct Tie {
  Count first = 0;
  Count last = 0;

  [[nodiscard]] Count size() const noexcept { return last - first + 1; }
  friend bool operator==(const Tie&, const Tie&) = default;
};

// Whether the order among items of one score is a matter of the items alone.
[[nodiscard]] constexpr bool is_strict(Ties ties) noexcept {
  return ties == Ties::lowest_id || ties == Ties::highest_id || ties == Ties::input_order;
}

// How scores have to be ranked for some ties: strictly, or, as for `expected`, so that the tie of
// each item is recorded.
[[nodiscard]] constexpr Ties ranking_ties(Ties ties) noexcept {
  return is_strict(ties) ? ties : Ties::expected;
}

// Where the items of a user's truth stand in the row. Positions beyond its end have no score.
struct TruthPositions {
  std::span<const std::int64_t> positions;  // not negative
  std::span<const Count> entries = {};      // of the truth, beside them; empty: 0, 1, 2, ...

  [[nodiscard]] Count entry_at(std::size_t index) const noexcept {
    return entries.empty() ? static_cast<Count>(index) : entries[index];
  }
};

struct RankedList {
  // Best first, either the offsets of the items in the row, as it is stored, or, where the truth
  // was looked up already, for each item the first entry that names it, or kNoEntry.
  std::span<const Offset> offsets = {};
  std::span<const Count> entries = {};
  std::span<const Count> ranks = {};  // beside either; empty: 1, 2, 3, ...
  std::span<const Tie> ties = {};     // beside either; empty: not asked for
  Count length = 0;                   // of the whole list
  Count scored_end = 0;               // items with ids from here on have no score

  static constexpr Count kNoEntry = -1;
};

}  // namespace exactk
