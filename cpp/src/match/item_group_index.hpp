// Finds the groups that have an item, as bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/items.hpp"
#include "match/catalogue_index.hpp"

namespace exactk {

class ItemGroupIndex {
 public:
  ItemGroupIndex() = default;
  // Requires bits for each item of the catalogue, and for others, which must outlive the index.
  ItemGroupIndex(const CatalogueIndex& catalogue, std::span<const std::uint64_t> bits,
                 std::size_t groups, const Run& run)
      : bits_(bits), has_few_groups_(groups <= kFew) {
    if (!has_few_groups_) return;
    grow(by_id_, catalogue.spread(), static_cast<std::uint8_t>(bits.back()), run);
    in_chunks(by_id_.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t id = begin; id < end; ++id) {
        by_id_[id] = static_cast<std::uint8_t>(bits[catalogue.find(id)]);
      }
    });
  }

  // Whether a byte holds the bits of all groups.
  [[nodiscard]] bool has_few_groups() const noexcept { return has_few_groups_; }

  [[nodiscard]] std::uint64_t find(const CatalogueIndex& catalogue,
                                   std::uint64_t id) const noexcept {
    if (!by_id_.empty()) return id < by_id_.size() ? by_id_[id] : bits_.back();
    return bits_[catalogue.find(id)];
  }

  // Counts the items of each of few groups in a byte of its own. Requires at most 255 items.
  [[nodiscard]] std::uint64_t count_few(const CatalogueIndex& catalogue,
                                        std::span<const std::int64_t> items) const noexcept {
    constexpr std::uint64_t kOfEach = 0x0101010101010101U;
    constexpr std::uint64_t kOneBitOfEach = 0x8040201008040201U;
    std::uint64_t counts = 0;
    for (const std::int64_t item : items) {
      const std::uint64_t bits = find(catalogue, static_cast<std::uint64_t>(item)) & 0xffU;
      counts += ((bits * kOfEach & kOneBitOfEach) + 0x7f * kOfEach) >> 7U & kOfEach;
    }
    return counts;
  }

 private:
  static constexpr std::size_t kFew = 8;

  std::span<const std::uint64_t> bits_;
  bool has_few_groups_ = false;
  std::vector<std::uint8_t> by_id_;  // of few groups; empty: ask the catalogue
};

}  // namespace exactk
