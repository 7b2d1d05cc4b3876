// Finds the best items of users from products. Nearly all items are further below the best than the
// error bound, and are dropped at once. The rest are scored exactly, so the result depends neither
// on the products nor on the shape of the tiles.
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

  // Memory for the list of one user.
  [[nodiscard]] static Count bytes_per_user(Count depth) noexcept;

  // `depth`: number of best items per user. `highest_first`: whether ties go to the highest
  // position rather than the lowest.
  Shortlists(const Embeddings& source, Count depth, bool highest_first, Products& products,
             const Kernels& kernels);

  void start_list(std::size_t index, const TileUser& user);
  // Whether a sample is multiplied first. It predicts the bound that the best items will reach, so
  // that most others never enter a list; finish_list checks the prediction.
  [[nodiscard]] bool has_sample() const noexcept { return sample_rank_ > 0; }
  void expect_bound(std::size_t index, const TileUser& user, std::span<const float> sample);
  // Fetches what add_tile writes to.
  void prefetch_list(std::size_t index) const noexcept {
    if (index >= lists_.size()) return;
    const List& list = lists_[index];
    __builtin_prefetch(list.products.data() + list.size, 1);
    __builtin_prefetch(list.positions.data() + list.size, 1);
  }
  // Adds a tile; call it for tiles in order. Returns whether it pays to go on: not if the products
  // separate so little that most items are scored exactly, again and again.
  [[nodiscard]] bool add_tile(std::size_t index, const TileUser& user, const TileProducts& tile);
  // Returns whether the list has all of the best items.
  [[nodiscard]] bool finish_list(std::size_t index, const TileUser& user);

  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  [[nodiscard]] bool highest_first() const noexcept { return highest_first_; }
  // Returns the best items, and possibly some more, in no order.
  [[nodiscard]] std::span<const Item> best(std::size_t index) const { return lists_[index].best; }

 private:
  // Items that may be among a user's best, with their products. What every tile reads comes first,
  // in one cache line.
  struct alignas(64) List {
    float bound = 0;           // reached by the scores of at least `depth` of them
    float expected_bound = 0;  // by the sample
    double error = 0;          // the largest of the products so far
    std::size_t size = 0;
    std::size_t scored_items = 0;  // counted once per scoring
    std::vector<float> products;
    std::vector<std::uint32_t> positions;
    std::vector<Item> best;  // set by finish_list
  };

  [[nodiscard]] float find_bound(std::span<const float> numbers, std::size_t count, float& last);
  [[nodiscard]] Count count_reaching(std::span<const float> numbers, float bound) const;
  void raise_bound(List& list, std::span<const float> products);
  [[nodiscard]] bool is_complete(const List& list);
  void prune(List& list, const TileUser& user);
  void score_list(List& list, const TileUser& user);
  void prune_exactly(List& list, const TileUser& user);

  const Embeddings& source_;
  const std::size_t depth_;
  const bool highest_first_;
  Products& products_;
  const Kernels& kernels_;
  std::size_t capacity_;  // of a list
  std::vector<List> lists_;
  std::size_t sample_rank_ = 0;    // whose product is the expected bound, or 0
  float last_bound_ = 0;           // of the user before, who is likely similar
  float last_expected_bound_ = 0;  // the same
};

}  // namespace exactk
