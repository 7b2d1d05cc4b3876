// Ranks the items of a user's truth from products: counts the items that score more and those that
// tie. The truth is scored exactly first. Nearly all products are further from its scores than the
// error bound, and are counted for the whole truth in one pass. The rest are scored exactly, each
// once, so the result depends neither on the products nor on the shape of the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/products.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

class TruthRanks {
 public:
  // Maximum memory for one user.
  [[nodiscard]] static Count bytes_per_user() noexcept;

  TruthRanks(const Embeddings& source, Products& products, const Kernels& kernels, const Run& run);

  // Returns whether the truth is small enough to be ranked from products.
  [[nodiscard]] bool start_user(std::size_t index, const TileUser& user,
                                std::span<const std::int64_t> truth);
  // Adds a tile; the order of tiles does not matter. Removes undecided products from the tile.
  void add_tile(std::size_t index, const TileUser& user, const TileProducts& tile);

  // Returns the ranks by ascending position.
  [[nodiscard]] std::span<const ItemRank> ranks_of_user(std::size_t index) const;
  // Returns the number of items that score at least min_score. Requires min_score.
  [[nodiscard]] Count list_length(std::size_t index) const;

 private:
  // Per-user state: the items of the truth, followed by min_score as if it were an item's score.
  struct Row {
    std::vector<ItemRank> ranks;
    std::vector<double> products;  // of these, up to the error
    std::vector<double> scores;    // stored twice: to be reached, and to be beaten
  };

  void select_positions(const TileUser& user, std::span<const std::int64_t> truth);
  void set_bounds(const Row& row, double error);
  void count_beating(std::span<const float> products);
  [[nodiscard]] Count count_undecided() const;
  void extract_range(const TileProducts& tile, float lowest, float highest);
  void extract_undecided(const TileProducts& tile);
  void rank_undecided(Row& row, const TileUser& user, const TileProducts& tile);
  [[nodiscard]] Count count_before(const ItemRank& rank, double score,
                                   std::span<const double> scores) const;

  const Embeddings& source_;
  Products& products_;
  const Kernels& kernels_;
  const Run& run_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> positions_;  // of the truth
  // Per tile: the bounds that products surely reach or beat, and how many do.
  std::vector<float> bounds_;
  std::vector<Count> counts_;
  std::vector<std::uint32_t> tile_positions_;
  std::vector<std::uint32_t> undecided_;  // positions to score exactly
};

}  // namespace exactk
