// The input of the metrics that read the items of the list: their numbers in the catalogue.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // By rank: the item's rank in the base list; kNotInBase if it is not there, and kNotCounted for a
  // rank without an item, or with one that repeats and does not count again.
  std::span<const Count> base_ranks = {};
  std::span<const std::int64_t> foreign_items = {};  // ids of the items outside it, by rank
  Count first_foreign = 0;  // rank of the first item outside the catalogue; 0 if none
  Count first_unseen = 0;   // rank of the first item that is not in train; 0 if none
  std::span<const ItemNumber> history = {};  // what the user has in train: ascending positions
  // Relevant items of the catalogue, if a metric reads those that the list lacks: ascending.
  std::span<const ItemNumber> relevant = {};
  std::span<const std::int64_t> foreign_relevant = {};  // ids of the others, ascending
  std::span<const Count> tied_ranks = {};  // whose item scores the same as the next one; ascending

  static constexpr Count kNotInBase = -1;
  static constexpr Count kNotCounted = 0;
};

// The lists of a batch.
class ListRows {
 public:
  [[nodiscard]] bool is_full() const noexcept {
    return items_.size() + base_ranks_.size() >= kMaxItems;
  }
  void clear() noexcept {
    rows_.clear();
    items_.clear();
    base_ranks_.clear();
    foreign_items_.clear();
    tied_ranks_.clear();
    relevant_.clear();
    foreign_relevant_.clear();
  }

  // Adds a row and returns its items, to be written before the next call.
  std::span<ItemNumber> add(std::size_t items, const Run& run) {
    const std::size_t begin = items_.size();
    grow(items_, begin + items, ItemNumber{0}, run);
    const auto added = std::span(items_).subspan(begin);
    rows_.push_back({.items = added});
    return added;
  }
  // Adds ranks in the base list to the row added last, to be written before the next call.
  std::span<Count> add_base_ranks(std::size_t items, const Run& run) {
    const std::size_t begin = base_ranks_.size();
    grow(base_ranks_, begin + items, Count{0}, run);
    const auto added = std::span(base_ranks_).subspan(begin);
    rows_.back().base_ranks = added;
    return added;
  }
  // Changes the row added last. The history must outlive the rows.
  void set_history(std::span<const ItemNumber> history) noexcept { rows_.back().history = history; }
  void set_first_ranks(Count first_foreign, Count first_unseen) noexcept {
    rows_.back().first_foreign = first_foreign;
    rows_.back().first_unseen = first_unseen;
  }
  void add_foreign_item(std::int64_t item) {
    foreign_items_.push_back(item);
    const std::size_t size = rows_.back().foreign_items.size() + 1;
    rows_.back().foreign_items = std::span(foreign_items_).last(size);
  }
  void set_relevant(std::span<const ItemNumber> relevant, std::span<const std::int64_t> foreign) {
    relevant_.insert(relevant_.end(), relevant.begin(), relevant.end());
    rows_.back().relevant = std::span(relevant_).last(relevant.size());
    foreign_relevant_.insert(foreign_relevant_.end(), foreign.begin(), foreign.end());
    rows_.back().foreign_relevant = std::span(foreign_relevant_).last(foreign.size());
  }
  void add_tied_rank(Count rank) {
    tied_ranks_.push_back(rank);
    const std::size_t size = rows_.back().tied_ranks.size() + 1;
    rows_.back().tied_ranks = std::span(tied_ranks_).last(size);
  }

  // Valid until the next call of `add`.
  [[nodiscard]] std::span<const ListRow> rows() noexcept {
    std::size_t item = 0;
    std::size_t base_rank = 0;
    std::size_t foreign_item = 0;
    std::size_t tied_rank = 0;
    std::size_t relevant = 0;
    std::size_t foreign_relevant = 0;
    for (ListRow& row : rows_) {  // the vectors may have moved
      row.items = std::span(items_).subspan(item, row.items.size());
      row.base_ranks = std::span(base_ranks_).subspan(base_rank, row.base_ranks.size());
      row.foreign_items = std::span(foreign_items_).subspan(foreign_item, row.foreign_items.size());
      item += row.items.size();
      base_rank += row.base_ranks.size();
      foreign_item += row.foreign_items.size();
      row.tied_ranks = std::span(tied_ranks_).subspan(tied_rank, row.tied_ranks.size());
      tied_rank += row.tied_ranks.size();
      row.relevant = std::span(relevant_).subspan(relevant, row.relevant.size());
      relevant += row.relevant.size();
      row.foreign_relevant =
          std::span(foreign_relevant_).subspan(foreign_relevant, row.foreign_relevant.size());
      foreign_relevant += row.foreign_relevant.size();
    }
    return rows_;
  }

 private:
  static constexpr std::size_t kMaxItems = 4096;

  std::vector<ListRow> rows_;
  std::vector<ItemNumber> items_;               // of all users, in order
  std::vector<Count> base_ranks_;               // likewise
  std::vector<std::int64_t> foreign_items_;     // likewise
  std::vector<Count> tied_ranks_;               // likewise
  std::vector<ItemNumber> relevant_;            // likewise
  std::vector<std::int64_t> foreign_relevant_;  // likewise
};

}  // namespace exactk
