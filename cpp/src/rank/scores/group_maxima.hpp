// The maxima of groups of a user's scores, and the bound that follows from them: a key that at
// least so many items reach. Whatever group has no maximum that reaches it need not be read again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "rank/scores/rankable_row.hpp"

namespace exactk {

template <class Row>
class GroupMaxima {
 public:
  using Key = Row::Score;

  // Forgets those of the user before.
  void clear() noexcept { is_read_ = false; }
  [[nodiscard]] bool is_read() const noexcept { return is_read_; }
  // Reads all scores; tells the row whether one is NaN.
  void read(RankableRow<Row>& row, const Checkpoint& checkpoint);

  // kGroups per chunk of kChunkScores items, excluded ones left out.
  [[nodiscard]] std::span<const Key> maxima() const noexcept { return maxima_; }

  // A key that at least `min_count` items reach, if so many are no NaN, and not many more: from the
  // maxima if there are enough of them to tell these items apart, else from all items.
  [[nodiscard]] Key find_bound(RankableRow<Row>& row, std::size_t min_count,
                               const Checkpoint& checkpoint);

 private:
  [[nodiscard]] std::span<const Key> fold(std::size_t groups, const Checkpoint& checkpoint);

  bool is_read_ = false;
  std::vector<Key> maxima_;
  std::vector<Key> folded_maxima_;
  Key last_bound_ = 0;  // of the last user, whoever that was: that of the next is likely near
};

}  // namespace exactk
