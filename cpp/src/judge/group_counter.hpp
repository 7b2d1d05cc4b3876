// Counts the ranks at which lists have items of each group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/group_tally.hpp"
#include "exactk/items.hpp"
#include "exactk/metrics.hpp"
#include "judge/list_row.hpp"

namespace exactk {

class GroupCounter {
 public:
  // Counts down to a rank, which may be kNoCutoff.
  GroupCounter(const MetricInfo& info, const Items& items, Count depth, const Run& run);

  void add(const ListRow& list);

  // Adds what another counter of the same items and depth has counted.
  void add(const GroupCounter& other);

  [[nodiscard]] GroupTally tally() const;

  // Forgets all lists.
  void clear() noexcept;

  // Memory per group and rank.
  static constexpr Count kBytesPerCount = sizeof(std::uint32_t);

 private:
  void reach(std::size_t ranks);
  void count_ties(const ListRow& list);
  void count_possible(const ListRow& list);
  [[nodiscard]] bool reads_item(const ListRow& list, ItemNumber item) const;

  const Run& run_;
  const MetricInfo& info_;
  std::span<const Count> group_of_;  // by item
  std::size_t groups_;
  std::size_t depth_;
  std::vector<std::uint32_t> counts_;  // ranks x groups, perhaps beyond the last rank of an item
  // By group: relevant items that lists could have counted; where all items count, those that they
  // could not have counted.
  std::vector<Count> possible_;
  std::vector<Count> tied_lists_;  // by rank
  Count lists_ = 0;
};

}  // namespace exactk
