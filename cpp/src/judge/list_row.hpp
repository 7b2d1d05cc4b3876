// The input of the metrics that read the items of the list: their numbers in the catalogue.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exactk/types.hpp"
#include "match/catalogue_index.hpp"

namespace exactk {

// The list of one user, down to the last rank that a metric reads.
struct ListRow {
  // By rank: positions in the catalogue; its size stands for items outside it, and its size + 1 for
  // a rank without an item, or with one that repeats and does not count again.
  std::span<const ItemNumber> items;
  Count first_foreign = 0;  // rank of the first item outside the catalogue; 0 if none
  Count first_unseen = 0;   // rank of the first item that is not in train; 0 if none
};

// The lists of a batch.
class ListRows {
 public:
  [[nodiscard]] bool is_full() const noexcept { return items_.size() >= kMaxItems; }
  void clear() noexcept {
    rows_.clear();
    items_.clear();
  }

  // Adds a row and returns its items, to be written before the next call.
  std::span<ItemNumber> add(std::size_t items, const Checkpoint& checkpoint) {
    const std::size_t begin = items_.size();
    grow(items_, begin + items, ItemNumber{0}, checkpoint);
    const auto added = std::span(items_).subspan(begin);
    rows_.push_back({.items = added});
    return added;
  }
  [[nodiscard]] ListRow& last() noexcept { return rows_.back(); }

  // Valid until the next call of `add`.
  [[nodiscard]] std::span<const ListRow> rows() noexcept {
    std::size_t item = 0;
    for (ListRow& row : rows_) {  // the vector may have moved
      row.items = std::span(items_).subspan(item, row.items.size());
      item += row.items.size();
    }
    return rows_;
  }

 private:
  static constexpr std::size_t kMaxItems = 4096;

  std::vector<ListRow> rows_;
  std::vector<ItemNumber> items_;  // of all users, in order
};

}  // namespace exactk
