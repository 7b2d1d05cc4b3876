// Maxima of groups of a user's scores, and the bound that follows: a key that at least a given
// number of items reach. Groups whose maximum does not reach it need not be read again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rank/scores/rankable_row.hpp"

namespace exactk {

template <class Row>
class GroupMaxima {
 public:
  using Key = Row::Score;

  // Forgets the maxima of the previous user.
  void clear() noexcept { is_read_ = false; }
  [[nodiscard]] bool is_read() const noexcept { return is_read_; }
  // Reads all scores, and notes NaN in the row.
  void read(RankableRow<Row>& row);

  // kGroups maxima per chunk of kChunkScores items, without excluded items.
  [[nodiscard]] std::span<const Key> maxima() const noexcept { return maxima_; }

  // Returns a key that at least `min_count` items reach, if that many are not NaN, and not many
  // more. Uses the maxima if there are enough to separate these items, otherwise all items.
  [[nodiscard]] Key find_bound(RankableRow<Row>& row, std::size_t min_count);

 private:
  [[nodiscard]] std::span<const Key> fold(RankableRow<Row>& row, std::size_t groups);

  bool is_read_ = false;
  std::vector<Key> maxima_;
  std::vector<Key> folded_maxima_;
  Key last_bound_ = 0;  // of the last user, as the next one's is likely near
};

}  // namespace exactk
