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
  [[nodiscard]] static Count bytes_per_user(Count depth) noexcept;

  // `depth`: so many of the best are wanted of each user. `highest_first`: of equal scores, the
  // highest position is first, else the lowest.
  Shortlists(const Embeddings& source, Count depth, bool highest_first, Products& products,
             const Kernels& kernels);

  void start_list(std::size_t index, const TileUser& user);
  // The tiles come in their order. Returns whether it pays to go on: not where products tell so
  // little apart that most items are scored, and that again and again.
  [[nodiscard]] bool add_tile(std::size_t index, const TileUser& user, const TileProducts& tile,
                              const Checkpoint& checkpoint);
  void finish_list(std::size_t index, const TileUser& user, const Checkpoint& checkpoint);

  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  [[nodiscard]] bool highest_first() const noexcept { return highest_first_; }
  // In no order, and perhaps some more.
  [[nodiscard]] std::span<const Item> best(std::size_t index) const { return lists_[index].best; }

 private:
  // What may be among the best of a user, with a lower and an upper bound of each product.
  struct List {
    float bound = 0;  // that enough of them reach
    std::size_t size = 0;
    std::size_t scored_items = 0;  // each as often as it was scored
    std::vector<float> lower_bounds;
    std::vector<float> upper_bounds;
    std::vector<std::uint32_t> positions;
    std::vector<Item> best;  // in the end
  };

  [[nodiscard]] float find_bound(std::span<const float> numbers);
  void prune(List& list, const TileUser& user, const Checkpoint& checkpoint);
  void score_list(List& list, const TileUser& user, const Checkpoint& checkpoint);
  void prune_exactly(List& list, const TileUser& user, const Checkpoint& checkpoint);

  const Embeddings& source_;
  const std::size_t depth_;
  const bool highest_first_;
  Products& products_;
  const Kernels& kernels_;
  std::size_t capacity_;  // for what may be among a user's best
  std::vector<List> lists_;
  float last_bound_ = 0;  // of whatever user, who is like the next
  std::vector<std::uint32_t> tile_positions_;
};

}  // namespace exactk
