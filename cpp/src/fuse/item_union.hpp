// The distinct items of a user's lists, numbered as they come.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"

namespace exactk {

class ItemUnion {
 public:
  static constexpr std::uint32_t kNoList = ~std::uint32_t{0};

  struct Item {
    std::int64_t id;
    std::uint32_t lists = 0;            // that have it
    std::uint32_t last_list = kNoList;  // the last of these
  };

  void clear() noexcept {
    items_.clear();
    if (++epoch_ == 0) {  // cells of 2^32 users ago would seem to be of this one
      cells_.assign(cells_.size(), {});
      epoch_ = 1;
    }
  }

  [[nodiscard]] std::span<const Item> items() const noexcept { return items_; }

  // Adds an item of a list, and returns its number: the next one if it is new, which must be below
  // 2^32. Sets `is_repeat` if the list has it already.
  std::uint32_t add(std::int64_t id, std::uint32_t list, bool& is_repeat) {
    if (kCellsPerItem * (items_.size() + 1) > cells_.size()) enlarge();
    Cell& cell = cell_of(id);
    if (cell.epoch != epoch_) {
      cell = {id, epoch_, static_cast<std::uint32_t>(items_.size())};
      items_.push_back({.id = id});
    }
    Item& item = items_[cell.number];
    is_repeat = is_repeat || item.last_list == list;
    item.last_list = list;
    ++item.lists;
    return cell.number;
  }

 private:
  struct Cell {
    std::int64_t id = 0;
    std::uint32_t epoch = 0;  // empty, unless it is that of the current user
    std::uint32_t number = 0;
  };
  static constexpr std::size_t kCellsPerItem = 2;  // at least: chains are short

  // Returns the cell of the id, or the empty cell where it belongs.
  Cell& cell_of(std::int64_t id) noexcept {
    std::size_t index = hash_(static_cast<std::uint64_t>(id));
    while (cells_[index].id != id && cells_[index].epoch == epoch_) {
      index = (index + 1) & (cells_.size() - 1);
    }
    return cells_[index];
  }

  void enlarge() {
    constexpr std::size_t kFewest = 256;
    cells_.assign(cells_.empty() ? kFewest : 2 * cells_.size(), {});
    hash_.shift = 64U - static_cast<unsigned>(std::countr_zero(cells_.size()));
    for (std::size_t i = 0; i < items_.size(); ++i) {
      cell_of(items_[i].id) = {items_[i].id, epoch_, static_cast<std::uint32_t>(i)};
    }
  }

  std::vector<Item> items_;
  std::vector<Cell> cells_;  // a power of two of them
  ShortHash hash_;
  std::uint32_t epoch_ = 1;
};

}  // namespace exactk
