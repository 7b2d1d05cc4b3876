// How many lists have each item, and how many of these as a hit: metrics of all lists together are
// computed from that.
#pragma once

#include <cstdint>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/types.hpp"

namespace exactk {

// What is counted of the users whose lists count: the items of the list, rank by rank or not, those
// that are relevant, or all relevant items, which are the same at any cutoff.
enum class Counted : std::uint8_t { lists, ranks, hits, relevant };

[[nodiscard]] constexpr bool reads_relevant(Counted counted) noexcept {
  return counted == Counted::hits || counted == Counted::relevant;
}

struct ItemTallyRequest {
  Rules rules;                   // by which lists are read, and users counted
  std::vector<Count> cutoffs;    // ascending
  bool has_short_lists = false;  // whether to count items by the length of short lists
  Counted counted = Counted::lists;
};

// Lists with fewer items than the cutoff that have the item.
struct ShortLists {
  Count item = 0;  // row of ItemTally::counts
  Count length = 0;
  Count lists = 0;
};

struct ItemTally {
  // Rows x cutoffs: lists that have the item down to the cutoff. A row for each item of the
  // catalogue, then one for each foreign item.
  std::vector<Count> counts;
  std::vector<std::int64_t> foreign_items;  // ids, ascending
  // Per cutoff: lists whose items above it the order of ties decides; if ranks are counted, lists
  // whose first tie of two ranks is there.
  std::vector<Count> tied_lists;
  std::vector<std::vector<Count>> list_lengths;      // per cutoff: lists by their number of items
  std::vector<std::vector<ShortLists>> short_lists;  // per cutoff, in no order; if requested
};

}  // namespace exactk
