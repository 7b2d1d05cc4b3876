// Finds the best items of users by products: nearly all items are further from a user's best than
// the products can be wrong, and are dropped at sight. The others are scored exactly, so what comes
// out depends neither on the products nor on the shape of the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/products.hpp"
#include "rank/score_order.hpp"

namespace exactk {

class Shortlists {
 public:
  using Item = ScoredItem<double>;

  // What the list of one user takes.
  [[nodiscard]] static Count bytes(Count depth) noexcept;

  // `depth`: so many of the best are wanted of each user. `highest`: of equal scores, the highest
  // position is first, else the lowest.
  Shortlists(const Embeddings& source, Count depth, bool highest, Products& products,
             const Kernels& kernels);

  void start(std::size_t index, const TileUser& user);
  // The tiles come in their order. Returns whether it pays to go on: not where products tell so
  // little apart that most items are scored, and that again and again.
  [[nodiscard]] bool look_at(std::size_t index, const TileUser& user, const TileProducts& tile,
                             const Checkpoint& checkpoint);
  void finish(std::size_t index, const TileUser& user, const Checkpoint& checkpoint);

  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  [[nodiscard]] bool highest() const noexcept { return highest_; }
  // In no order, and perhaps some more.
  [[nodiscard]] std::span<const Item> best(std::size_t index) const { return lists_[index].best; }

 private:
  // What may be among the best of a user: no less than `lowest`, no more than `highest`.
  struct List {
    float bound = 0;  // that enough of them reach
    std::size_t held = 0;
    std::size_t scored = 0;  // items, each as often as it was
    std::vector<float> lowest;
    std::vector<float> highest;
    std::vector<std::uint32_t> positions;
    std::vector<Item> best;  // in the end
  };

  [[nodiscard]] float reached(std::span<const float> numbers);
  void drop_least(List& list, const TileUser& user, const Checkpoint& checkpoint);
  void score(List& list, const TileUser& user, const Checkpoint& checkpoint);
  void drop_exactly(List& list, const TileUser& user, const Checkpoint& checkpoint);

  const Embeddings& source_;
  const std::size_t depth_;
  const bool highest_;
  Products& products_;
  const Kernels& kernels_;
  std::size_t room_;  // for what may be among a user's best
  std::vector<List> lists_;
  float last_bound_ = 0;  // of whatever user, who is like the next
  std::vector<std::uint32_t> found_;
};

}  // namespace exactk
