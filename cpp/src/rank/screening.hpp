// Finds the best items of some users at a time. Products of matrices in single precision, a tile
// at a time, which stays in a near cache, tell of nearly every item that it is not among the best
// of a user: more than their rounding can hide. The others are scored exactly, so what comes out
// depends neither on the products nor on the shape of the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint.hpp"
#include "kernels/table.hpp"
#include "metrik/embeddings.hpp"
#include "metrik/types.hpp"
#include "rank/found.hpp"
#include "rank/lengths.hpp"
#include "rank/score_order.hpp"
#include "rank/similarities.hpp"

namespace metrik {

class Screening {
 public:
  // Whether there is something to gain.
  [[nodiscard]] static bool pays(const Embeddings& source, Count depth) noexcept;
  // The users that are best looked at together.
  [[nodiscard]] static Count block_users(const Embeddings& source, Count depth,
                                         int threads) noexcept;

  // `depth`: so many of the best are wanted of each user. `highest`: of equal scores, the highest
  // position is first, else the lowest.
  Screening(const Embeddings& source, const Lengths& lengths, Count depth, bool highest,
            const Kernels& kernels);

  void screen(std::span<const Count> users, const std::optional<Lists>& exclude,
              const Checkpoint& checkpoint);
  // Of one of the users last screened. Valid until others are.
  [[nodiscard]] std::optional<Found> found_of(Count user) const;

 private:
  using Item = ScoredItem<double>;

  struct User {
    Count user = 0;
    bool screened = false;
    UserVector vector;
    double factor = 0;                    // what scores are multiplied by in the tile
    double length = 0;                    // of the user's row of the panel
    std::vector<std::uint32_t> excluded;  // ascending positions
    std::size_t next_excluded = 0;
    // By how much a product may be wrong: so much for each of the tile's length, of its square, and
    // whatever it is.
    double error_by_length = 0;
    double error_by_square = 0;
    double error = 0;
    // What may be among the best: no less than `lowest`, no more than `highest`.
    std::size_t held = 0;
    std::vector<float> lowest;
    std::vector<float> highest;
    std::vector<std::uint32_t> positions;
    float bound = 0;         // that enough of them reach
    std::vector<Item> best;  // in the end
  };
  // A part of the items: positions, and the greatest length of a row as it is multiplied.
  struct Tile {
    std::size_t begin;
    std::size_t size;
    double length;
    double square;  // of the greatest length as it is given
  };

  [[nodiscard]] std::int64_t item_at(std::size_t position) const noexcept;
  [[nodiscard]] bool is_in_range(const User& user) const noexcept;
  void settle_scale();
  void start(User& user, Count number, std::span<const std::int64_t> exclude, float* row);
  void fill_panel(User& user, float* row) const;
  void exclude_from(User& user, std::span<const std::int64_t> exclude) const;
  [[nodiscard]] Tile tile_at(std::size_t begin) const;
  void pack(const Tile& tile);
  void multiply(const Tile& tile);
  void estimate_errors(User& user) const noexcept;
  [[nodiscard]] double least_product(const User& user) const noexcept;
  void look_at(User& user, const Tile& tile, std::span<float> products,
               const Checkpoint& checkpoint);
  [[nodiscard]] float reached(std::span<const float> numbers);
  void drop_least(User& user, const Checkpoint& checkpoint);
  void score(User& user, const Checkpoint& checkpoint);
  void drop_exactly(User& user, const Checkpoint& checkpoint);

  const Embeddings& source_;
  const Lengths& lengths_;
  const std::size_t depth_;
  const bool highest_;
  const Kernels& kernels_;
  Similarities similarities_;
  std::span<const std::int64_t> restriction_;  // to some items, if there is one
  std::size_t size_;                           // positions
  std::size_t width_;                          // of the rows as they are multiplied
  std::size_t tile_items_ = kTileItems;        // positions at a time
  std::size_t room_;                           // for what may be among a user's best
  double scale_ = 1;                           // what items are multiplied by
  bool packed_ = false;                        // whether items are copied to be multiplied
  std::vector<User> users_;
  std::size_t count_ = 0;  // of them that are at hand
  std::vector<float> panel_;
  std::vector<float> items_;
  std::vector<float> products_;
  float last_bound_ = 0;  // of whatever user, who is like the next
  std::vector<std::uint32_t> found_;
  std::vector<std::int64_t> ids_;
  std::vector<double> scores_;
};

}  // namespace metrik
