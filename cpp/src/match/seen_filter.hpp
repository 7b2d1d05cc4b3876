// A table with one byte per slot: the last mark of its ids. An id has a slot of its own or shares
// it with a few others. The table fits into a near cache unless the user has very many ids, and is
// cleared by raising the base of its marks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/run.hpp"

namespace exactk {

// The last mark of the ids of a slot.
enum class Mark : std::uint8_t { truth, listed, excluded, truth_and_excluded };

// An id whose slot was already marked. One word, because every id is written as if it were a
// collision.
class Collision {
 public:
  Collision() = default;
  Collision(std::size_t position, std::uint8_t previous_byte) noexcept
      : word_(static_cast<std::uint32_t>(position) |
              (std::uint32_t{previous_byte} << kPositionBits)) {}

  [[nodiscard]] std::size_t position() const noexcept { return word_ % (1U << kPositionBits); }
  [[nodiscard]] auto previous_byte() const noexcept {  // of the slot, see previous_mark
    return static_cast<std::uint8_t>(word_ >> kPositionBits);
  }

 private:
  static constexpr unsigned kPositionBits = 24;
  static_assert(kChunk <= std::size_t{1} << kPositionBits);

  std::uint32_t word_ = 0;
};

class SeenFilter {
 public:
  // `id_bits`: the bitwise "or" of all ids.
  SeenFilter(std::uint64_t id_bits, const Run& run) : run_(run), id_bits_(id_bits) {}

  // Forgets the previous user. `ids`: number of ids of the next one; `may_exclude`: whether some
  // of them may be marked as excluded.
  void reset(std::size_t ids, bool may_exclude) {
    if (ids != id_count_) choose_layout(ids);
    grow(slots_, mask_ + 1, std::uint8_t{0}, run_);
    const unsigned marks = may_exclude ? kMarks : kMarksWithoutExcluded;
    if (next_base_ + marks > kBytes) {
      std::fill_n(slots_.begin(), used_slots_, std::uint8_t{0});
      used_slots_ = 0;
      next_base_ = 1;
    }
    used_slots_ = std::max(used_slots_, static_cast<std::size_t>(mask_) + 1);
    base_ = static_cast<std::uint8_t>(next_base_);
    next_base_ += marks;
  }

  // Whether each id has a slot of its own.
  [[nodiscard]] bool is_exact() const noexcept { return is_exact_; }

  // Marks the slot of each id, at most a chunk of ids at a time. Returns, in order, the ids whose
  // slot was already marked for this user; valid until the next call.
  template <class Id>
  std::span<const Collision> mark(std::span<const Id> ids, Mark mark) {
    if (collisions_.size() < ids.size()) collisions_.resize(ids.size());
    const std::uint64_t mask = mask_;
    if (is_exact_) return mark_slots(ids, mark, [=](std::uint64_t id) { return id & mask; });
    return mark_slots(ids, mark, [hash = hash_](std::uint64_t id) { return hash(id); });
  }

  // Returns the mark that the slot of a collision had before.
  [[nodiscard]] Mark previous_mark(std::uint8_t previous_byte) const noexcept {
    return static_cast<Mark>(previous_byte - base_);
  }

  // Whether the slots are few enough to store the positions of `ids` ids beside them.
  [[nodiscard]] bool can_store_positions(std::size_t ids) const noexcept {
    return mask_ < std::max(kNearSlots, 4 * ids) &&
           ids <= std::numeric_limits<std::uint32_t>::max();
  }
  // Stores the position of each id beside its slot.
  void store_positions(std::span<const std::int64_t> ids) {
    grow(positions_, mask_ + 1, std::uint32_t{0}, run_);
    in_chunks(ids.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        positions_[slot_of(static_cast<std::uint64_t>(ids[i]))] = static_cast<std::uint32_t>(i);
      }
    });
  }
  // Returns the id's stored position if it has one and no later id shares its slot, otherwise any
  // number.
  [[nodiscard]] std::size_t stored_position(std::uint64_t id) const noexcept {
    return positions_[slot_of(id)];
  }

 private:
  // Chooses the number of slots for `ids` ids and the mapping from id to slot.
  void choose_layout(std::size_t ids) {
    const auto id_width = static_cast<unsigned>(std::bit_width(id_bits_));
    const std::size_t most_slots = ids <= kFewIds ? kFewSlots : std::max(kNearSlots, 4 * ids);
    is_exact_ = id_width < 48 && (std::size_t{1} << id_width) <= most_slots;
    const std::size_t last_slot =
        std::clamp(64 * std::min(ids, kNearSlots), kFewSlots - 1, kNearSlots - 1);
    const unsigned width = is_exact_ ? id_width : static_cast<unsigned>(std::bit_width(last_slot));
    hash_.shift = 64 - width;
    mask_ = (std::uint64_t{1} << width) - 1;
    id_count_ = ids;
  }

  [[nodiscard]] std::size_t slot_of(std::uint64_t id) const noexcept {
    return is_exact_ ? id & mask_ : hash_(id);
  }

  template <class Id, class SlotOf>
  std::span<const Collision> mark_slots(std::span<const Id> ids, Mark mark,
                                        const SlotOf& slot_of) noexcept {
    // Local copies, because the compiler must assume that a store to a byte changes any member.
    const std::uint8_t base = base_;
    const auto marked = static_cast<std::uint8_t>(base + static_cast<std::uint8_t>(mark));
    std::uint8_t* const slots = slots_.data();
    Collision* const collisions = collisions_.data();
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t slot = slot_of(static_cast<std::uint64_t>(ids[i]));
      const std::uint8_t previous = slots[slot];
      slots[slot] = marked;
      collisions[count] = {i, previous};
      count += previous >= base ? 1 : 0;  // rare, but too frequent for a branch
    }
    return {collisions, count};
  }

  static constexpr std::size_t kFewIds = 48;  // for which a table in the nearest cache is faster
  static constexpr std::size_t kFewSlots = std::size_t{1} << 11U;
  static constexpr std::size_t kNearSlots = std::size_t{1} << 17U;  // 128 KiB, fits the L2 cache
  static constexpr unsigned kMarks = 4;  // marks of one user: base_, base_ + 1, ...
  static constexpr unsigned kMarksWithoutExcluded = 2;
  static constexpr unsigned kBytes = 256;

  const Run& run_;
  std::uint64_t id_bits_;
  std::uint64_t mask_ = 0;                                          // of the slots
  std::size_t id_count_ = std::numeric_limits<std::size_t>::max();  // that the layout is for
  ShortHash hash_;
  std::size_t used_slots_ = 0;  // slots that may be marked since the table was last cleared
  std::uint8_t base_ = 1;       // 0: not marked since the table was cleared
  unsigned next_base_ = 1;      // of the next user
  bool is_exact_ = true;
  std::vector<std::uint8_t> slots_;
  std::vector<std::uint32_t> positions_;  // parallel to the slots
  std::vector<Collision> collisions_;     // of the last call
};

}  // namespace exactk
