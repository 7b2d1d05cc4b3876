// One byte for each id of a user, or for each of a few ids that share a place: what has been seen
// of it. Few enough bytes for a near cache, unless the user has very many ids; emptied by counting
// on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "base/hash.hpp"

namespace exactk {

// The last that was seen of a place.
enum class Mark : std::uint8_t { wanted, listed, excluded, wanted_and_excluded };

// An id whose place was marked before it came. One word, as every id is written down as if it were.
class Collision {
 public:
  Collision() = default;
  Collision(std::size_t position, std::uint8_t code) noexcept
      : word_(static_cast<std::uint32_t>(position) | (std::uint32_t{code} << kPositionBits)) {}

  [[nodiscard]] std::size_t position() const noexcept { return word_ % (1U << kPositionBits); }
  [[nodiscard]] auto code() const noexcept {  // see SeenFilter::before
    return static_cast<std::uint8_t>(word_ >> kPositionBits);
  }

 private:
  static constexpr unsigned kPositionBits = 24;
  static_assert(kChunk <= std::size_t{1} << kPositionBits);

  std::uint32_t word_ = 0;
};

class SeenFilter {
 public:
  // `id_bits`: the bitwise "or" of all ids there are.
  explicit SeenFilter(std::uint64_t id_bits) : id_bits_(id_bits) {}

  // Forgets the user before; the next one has so many ids.
  void start(std::size_t ids, const Checkpoint& checkpoint) {
    if (ids != ids_) choose_layout(ids);
    grow(marks_, mask_ + 1, std::uint8_t{0}, checkpoint);
    if (base_ > kLastBase) {
      std::fill_n(marks_.begin(), used_, std::uint8_t{0});
      used_ = 0;
      base_ = 0;
    }
    used_ = std::max(used_, static_cast<std::size_t>(mask_) + 1);
    base_ = static_cast<std::uint8_t>(base_ + kCodes);
  }

  // Whether each id has a place of its own.
  [[nodiscard]] bool exact() const noexcept { return exact_; }

  // SeenFilter the place of each id. Returns those whose place was marked already for this user, in
  // order; valid until the next call. At most a chunk of ids at a time.
  template <class Id>
  std::span<const Collision> mark(std::span<const Id> ids, Mark mark) {
    if (collisions_.size() < ids.size()) collisions_.resize(ids.size());
    const std::uint64_t mask = mask_;
    if (exact_) return mark_places(ids, mark, [=](std::uint64_t id) { return id & mask; });
    const auto [factor, shift] = hash_;
    return mark_places(ids, mark, [=](std::uint64_t id) { return (id * factor) >> shift; });
  }

  // What the place was marked as when the id came.
  [[nodiscard]] Mark before(std::uint8_t code) const noexcept {
    return static_cast<Mark>(code - base_);
  }

  // Whether the places are so few that the positions of so many ids can be remembered in them.
  [[nodiscard]] bool can_remember(std::size_t ids) const noexcept {
    return mask_ < std::max(kNearPlaces, 4 * ids) &&
           ids <= std::numeric_limits<std::uint32_t>::max();
  }
  // Remembers the position of each id, in its place.
  void remember(std::span<const std::int64_t> ids, const Checkpoint& checkpoint) {
    grow(remembered_, mask_ + 1, std::uint32_t{0}, checkpoint);
    in_chunks(ids.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        remembered_[place_of(static_cast<std::uint64_t>(ids[i]))] = static_cast<std::uint32_t>(i);
      }
    });
  }
  // The position of the id, if it is one of those that are remembered and no later one shares its
  // place; else some number.
  [[nodiscard]] std::size_t recall(std::uint64_t id) const noexcept {
    return remembered_[place_of(id)];
  }

 private:
  // How many places there are for so many ids, and which is an id's.
  void choose_layout(std::size_t ids) {
    const auto id_width = static_cast<unsigned>(std::bit_width(id_bits_));
    exact_ = id_width < 48 && (std::size_t{1} << id_width) <= std::max(kNearPlaces, 4 * ids);
    const std::size_t wanted =
        std::clamp(64 * std::min(ids, kNearPlaces), kFewPlaces - 1, kNearPlaces - 1);
    const unsigned width = exact_ ? id_width : static_cast<unsigned>(std::bit_width(wanted));
    hash_.shift = 64 - width;
    mask_ = (std::uint64_t{1} << width) - 1;
    ids_ = ids;
  }

  struct Hash {
    std::uint64_t factor = process_secrets().first;
    unsigned shift = 0;
  };

  [[nodiscard]] std::size_t place_of(std::uint64_t id) const noexcept {
    return exact_ ? id & mask_ : (id * hash_.factor) >> hash_.shift;
  }

  template <class Id, class PlaceOf>
  std::span<const Collision> mark_places(std::span<const Id> ids, Mark mark,
                                         const PlaceOf& place_of) noexcept {
    // Copies, because a store to a byte might change any member as far as the compiler knows.
    const std::uint8_t base = base_;
    const auto code = static_cast<std::uint8_t>(base + static_cast<std::uint8_t>(mark));
    std::uint8_t* const marks = marks_.data();
    Collision* const collisions = collisions_.data();
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t place = place_of(static_cast<std::uint64_t>(ids[i]));
      const std::uint8_t before = marks[place];
      marks[place] = code;
      collisions[count] = {i, before};
      count += before >= base ? 1 : 0;  // seldom, but too often for a branch
    }
    return {collisions, count};
  }

  static constexpr std::size_t kFewPlaces = std::size_t{1} << 11U;
  static constexpr std::size_t kNearPlaces = std::size_t{1} << 17U;  // 128 KiB, in the second cache
  static constexpr std::uint8_t kCodes = 4;  // marks of one user: base_, base_ + 1, ...
  static constexpr std::uint8_t kLastBase = 255 - 2 * kCodes + 1;

  std::uint64_t id_bits_;
  std::uint64_t mask_ = 0;                                     // of the places
  std::size_t ids_ = std::numeric_limits<std::size_t>::max();  // that they are for
  Hash hash_;
  std::size_t used_ = 0;  // places that may have been marked since they were last cleared
  std::uint8_t base_ = 0;
  bool exact_ = true;
  std::vector<std::uint8_t> marks_;
  std::vector<std::uint32_t> remembered_;  // beside the marks
  std::vector<Collision> collisions_;      // the last ones
};

}  // namespace exactk
