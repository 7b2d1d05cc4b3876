// Matches a short list with a short truth through a table of bytes: the position of each item is
// stored in the slot of its hash, then all slots are read. A load of a random byte behind stores to
// others costs about twice as much as all stores before all loads. Of several items in a slot the
// last remains; the others, which are displaced, are compared one by one.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A template on the lanes, so that each instruction set has its own; compilers find the vectors by
// themselves.
template <class Lanes, class Id>
struct ShortLists {
  static constexpr std::uint16_t kNoSlot = 0xffff;
  static_assert(kShortSlots < kNoSlot);
  static_assert(kShortTruth <= kShortList && kShortList <= 256);  // positions are bytes

  template <class RowId>
  static std::uint16_t slot_of(RowId id, ShortFactors factors) {
    std::uint32_t product = static_cast<std::uint32_t>(id) * factors.low;
    if constexpr (sizeof(RowId) > sizeof(std::uint32_t)) {
      product += static_cast<std::uint32_t>(static_cast<std::uint64_t>(id) >> 32U) * factors.high;
    }
    return static_cast<std::uint16_t>(product >> (32 - kShortSlotBits));
  }

  template <std::size_t size, class RowId>
  static void find_slots(const RowId* ids, ShortFactors factors, std::uint16_t* slots) {
    for (std::size_t i = 0; i < size; ++i) slots[i] = slot_of(ids[i], factors);
  }

  template <class RowId, std::size_t capacity>
  struct Row {
    // Finds the slots in blocks, of which the last overlaps its predecessor.
    Row(const RowId* items, std::size_t count, ShortFactors factors) : ids(items), size(count) {
      constexpr std::size_t kBlock = 16;
      constexpr std::size_t kHalf = kBlock / 2;
      if (size >= kBlock) {
        for (std::size_t i = 0; i + kBlock <= size; i += kBlock) {
          find_slots<kBlock>(ids + i, factors, slots + i);
        }
        find_slots<kBlock>(ids + size - kBlock, factors, slots + size - kBlock);
      } else if (size >= kHalf) {
        find_slots<kHalf>(ids, factors, slots);
        find_slots<kHalf>(ids + size - kHalf, factors, slots + size - kHalf);
      } else {
        for (std::size_t i = 0; i < size; ++i) slots[i] = slot_of(ids[i], factors);
      }
    }

    const RowId* ids;
    std::size_t size;
    std::uint16_t slots[capacity];  // of the ids; the rest is not set
  };
  using Truth = Row<std::int64_t, kShortTruth>;
  using List = Row<Id, kShortList>;

  // Puts the row into the table. Writes the positions of the items that are displaced, in ascending
  // order, and returns their number. `displaced` has room for one more than the row has items.
  template <class AnyRow>
  static std::size_t put(const AnyRow& row, std::uint8_t* table, std::uint8_t* displaced) {
    constexpr std::size_t kGroup = 16;  // items that are checked by one sum
#pragma GCC unroll 4
    for (std::size_t i = 0; i < row.size; ++i) table[row.slots[i]] = static_cast<std::uint8_t>(i);
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < row.size; begin += kGroup) {
      const std::size_t end = begin + kGroup < row.size ? begin + kGroup : row.size;
      std::size_t sum = 0;
#pragma GCC unroll 4
      for (std::size_t i = begin; i < end; ++i) sum += table[row.slots[i]];
      // A displaced item reads a higher position, so the sum is greater unless there is none.
      if (sum == (begin + end - 1) * (end - begin) / 2) continue;
      for (std::size_t i = begin; i < end; ++i) {
        displaced[count] = static_cast<std::uint8_t>(i);
        count += table[row.slots[i]] != i ? 1 : 0;
      }
    }
    return count;
  }

  // Whether all items of the row that was put last are distinct. False, too, if many are displaced.
  template <class AnyRow>
  static bool are_distinct(const AnyRow& row, const std::uint8_t* table,
                           const std::uint8_t* displaced, std::size_t count) {
    constexpr std::size_t kMostDisplaced = 16;
    if (count > kMostDisplaced) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = row.ids[displaced[i]];
      if (row.ids[table[row.slots[displaced[i]]]] == id) return false;
      for (std::size_t other = 0; other < i; ++other) {
        if (row.ids[displaced[other]] == id) return false;
      }
    }
    return true;
  }

  // Whether the item is in the truth, whose slots end with kNoSlot.
  static bool is_in(const Truth& truth, Id id, std::uint16_t slot) {
    std::uint16_t shares_slot = 0;
    for (const std::uint16_t other : truth.slots) shares_slot |= other == slot ? 1 : 0;
    if (shares_slot == 0) return false;
    for (std::size_t entry = 0; entry < truth.size; ++entry) {
      if (truth.ids[entry] == static_cast<std::int64_t>(id)) return true;
    }
    return false;
  }

  // Returns the positions of the items in the truth, but not of those that are displaced.
  // `is_longer`: whether the truth may have left positions in the table that the list does not
  // have. Without a branch on the position, which would often be mispredicted.
  template <bool is_longer>
  static PositionBits find_hits(const Truth& truth, const List& list, const std::uint8_t* table) {
    PositionBits hits = {0, 0};
    for (std::size_t entry = 0; entry < truth.size; ++entry) {
      const std::size_t stored = table[truth.slots[entry]];
      const std::size_t position = is_longer && stored >= list.size ? 0 : stored;
      const bool is_hit = static_cast<std::int64_t>(list.ids[position]) == truth.ids[entry];
      const std::uint64_t bit = std::uint64_t{is_hit} << position % 64;
      const std::uint64_t is_high = std::uint64_t{0} - position / 64;
      hits.low |= bit & ~is_high;
      hits.high |= bit & is_high;
    }
    return hits;
  }

  static PositionBits match(const std::int64_t* truth_ids, std::size_t truth_size,
                            const Id* list_ids, std::size_t list_size, ShortFactors factors,
                            std::uint8_t* table, bool* is_certain) {
    Truth truth(truth_ids, truth_size, factors);
    const List list(list_ids, list_size, factors);
    for (std::size_t i = truth_size; i < kShortTruth; ++i) truth.slots[i] = kNoSlot;
    std::uint8_t displaced[kShortList + 1];
    std::size_t count = put(truth, table, displaced);
    *is_certain = count == 0 || are_distinct(truth, table, displaced, count);
    count = put(list, table, displaced);
    if (count > 0 && !are_distinct(list, table, displaced, count)) *is_certain = false;
    PositionBits hits = truth_size > list_size ? find_hits<true>(truth, list, table)
                                               : find_hits<false>(truth, list, table);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t position = displaced[i];
      if (!is_in(truth, list.ids[position], list.slots[position])) continue;
      (position < 64 ? hits.low : hits.high) |= std::uint64_t{1} << position % 64;
    }
    return hits;
  }
};

template <class Lanes, class Id>
inline constexpr ShortListKernels<Id> kShortListKernels = {.match = &ShortLists<Lanes, Id>::match};

}  // namespace exactk
