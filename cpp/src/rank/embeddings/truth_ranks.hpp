// Finds by products how many items score more than those of a user's truth, and how many the same.
// The scores of these are made first; nearly all products are further from theirs than they can be
// wrong, and are counted, for all items of the truth at one reading. The others are scored exactly,
// each once, so what comes out depends neither on the products nor on the shape of the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/products.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

class TruthRanks {
 public:
  // What those of one user take at most.
  [[nodiscard]] static Count bytes_per_user() noexcept;

  TruthRanks(const Embeddings& source, Products& products, const Kernels& kernels);

  // Returns whether there are few enough items to be counted.
  [[nodiscard]] bool start_user(std::size_t index, const TileUser& user,
                                std::span<const std::int64_t> truth, const Checkpoint& checkpoint);
  // The tiles come in any order. Leaves those products that are counted by themselves.
  void add_tile(std::size_t index, const TileUser& user, const TileProducts& tile,
                const Checkpoint& checkpoint);

  // By position.
  [[nodiscard]] std::span<const ItemRank> ranks_of_user(std::size_t index) const;
  // How many items score min_score, if there is one.
  [[nodiscard]] Count list_length(std::size_t index) const;

 private:
  // Of a user: the items of the truth, and behind them, as if it were an item's, min_score.
  struct Row {
    std::vector<ItemRank> ranks;
    std::vector<double> products;  // that they have but for the error
    std::vector<double> scores;    // twice: to be reached, and to be beaten
  };

  void select_positions(const TileUser& user, std::span<const std::int64_t> truth);
  void set_bounds(const Row& row, double error);
  void count_beating(std::span<const float> products);
  [[nodiscard]] Count count_undecided() const;
  void extract_range(const TileProducts& tile, float lowest, float highest);
  void extract_undecided(const TileProducts& tile);
  void rank_undecided(Row& row, const TileUser& user, const TileProducts& tile,
                      const Checkpoint& checkpoint);
  [[nodiscard]] Count count_before(const ItemRank& rank, double score,
                                   std::span<const double> scores) const;

  const Embeddings& source_;
  Products& products_;
  const Kernels& kernels_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> positions_;  // of the truth
  // Of a tile: what products surely reach, and what they surely beat, and how many do.
  std::vector<float> bounds_;
  std::vector<Count> counts_;
  std::vector<std::uint32_t> tile_positions_;
  std::vector<std::uint32_t> undecided_;  // positions that are scored exactly
};

}  // namespace exactk
