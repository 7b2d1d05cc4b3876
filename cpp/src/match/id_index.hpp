// Finds the first position of an id in a list: a hash table of positions that compares whole ids.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/run.hpp"
#include "exactk/types.hpp"

namespace exactk {

class IdIndex {
 public:
  template <class Id>
  void build(std::span<const Id> ids, const Run& run) {
    slots_.clear();
    grow(slots_, std::bit_ceil(2 * ids.size() + 2), kEmpty, run);
    mask_ = slots_.size() - 1;
    in_chunks(ids.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Offset& first = slots_[slot_of(ids, static_cast<std::uint64_t>(ids[i]))];
        if (first == kEmpty) first = static_cast<Offset>(i);
      }
    });
  }

  // Returns the first position of the id in the indexed list, or -1. The list is read again; if
  // another thread has changed it, the answer may be wrong, but is a position within it.
  template <class Id>
  [[nodiscard]] Offset find(std::span<const Id> ids, std::uint64_t id) const noexcept {
    return slots_[slot_of(ids, id)];
  }

 private:
  static constexpr Offset kEmpty = -1;

  // Returns the slot of the id, or the empty slot where it belongs. There always is an empty slot.
  template <class Id>
  [[nodiscard]] std::size_t slot_of(std::span<const Id> ids, std::uint64_t id) const noexcept {
    std::size_t slot = static_cast<std::size_t>(keyed_hash(id)) & mask_;
    while (slots_[slot] != kEmpty &&
           static_cast<std::uint64_t>(ids[static_cast<std::size_t>(slots_[slot])]) != id) {
      slot = (slot + 1) & mask_;
    }
    return slot;
  }

  std::vector<Offset> slots_;
  std::size_t mask_ = 0;
};

}  // namespace exactk
