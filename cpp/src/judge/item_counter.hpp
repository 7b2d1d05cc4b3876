// Counts the lists that have each item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/run.hpp"
#include "exactk/item_tally.hpp"
#include "judge/list_row.hpp"

namespace exactk {

class ItemCounter {
 public:
  ItemCounter(const ItemTallyRequest& request, Count items, const Run& run);

  void add(const ListRow& list);

  // Adds what another counter of the same request has counted.
  void add(const ItemCounter& other);

  [[nodiscard]] ItemTally tally() const;

  // Forgets all lists.
  void clear() noexcept;

  // Memory per item and cutoff.
  static constexpr Count kBytesPerCount = sizeof(std::uint32_t);

 private:
  // An item of short lists: its row, and their length.
  using ShortKey = std::uint64_t;

  [[nodiscard]] std::size_t row_of_foreign(std::int64_t item);
  void add_relevant(const ListRow& list);
  void count_item(std::size_t row, std::size_t interval);
  void count_lists(std::size_t column, Count length);
  void count_short_lists();

  const Run& run_;
  const ItemTallyRequest& request_;
  std::size_t items_;
  // By interval between two cutoffs, then by row: lists that have the item at a rank in it.
  std::vector<std::vector<std::uint32_t>> counts_;
  std::vector<Count> tied_lists_;                                 // by column
  std::vector<std::vector<Count>> list_lengths_;                  // by column
  std::vector<std::unordered_map<ShortKey, Count>> short_lists_;  // by column
  std::map<std::int64_t, std::size_t> foreign_rows_;              // beyond those of the items
  // The list counted last: rows of its items, and how many it has down to each cutoff.
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> lengths_;
};

}  // namespace exactk
