// The products of some users' vectors with those of the items, a tile at a time, which stays in a
// near cache: made by BLAS in single precision, so each comes with how wrong it may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {

// One of the users that are multiplied together.
struct TileUser {
  // What every tile looks at stands together, in one line of a cache.
  bool is_unscreened = false;  // takes too much memory, or no product tells anything
  std::uint32_t next_excluded_position = 0;
  // By how much a product may be wrong: so much for each of the tile's length, of what stands
  // behind its vectors, of its square, and whatever it is.
  double error_by_length = 0;
  double error_by_extra = 0;
  double error_by_square = 0;
  double error = 0;
  double factor = 0;  // what scores are multiplied by in a product
  Count user = 0;
  UserVector vector;
  double length = 0;                    // of the vector in the panel
  double extra = 0;                     // the number behind it there
  std::vector<std::uint32_t> excluded;  // ascending positions
  std::size_t next_excluded = 0;

  // Where the next excluded item stands, if there is one.
  void update_next_excluded() noexcept {
    next_excluded_position = next_excluded < excluded.size()
                                 ? excluded[next_excluded]
                                 : std::numeric_limits<std::uint32_t>::max();
  }
};

// A user's products with consecutive items, that of an excluded one minus infinity.
struct TileProducts {
  std::size_t begin;  // position of the first
  std::span<float> products;
  double error;

  [[nodiscard]] std::size_t end() const noexcept { return begin + products.size(); }
};

// In single precision, and no less than any product but that of an excluded item.
[[nodiscard]] float clamp_to_float(double product) noexcept;

class Products {
 public:
  // Whether products can be made.
  [[nodiscard]] static bool can_multiply(const Embeddings& source) noexcept;
  // As many users as may be multiplied together, if something else takes so much memory for each.
  [[nodiscard]] static Count max_users(const Embeddings& source, Count bytes_per_user) noexcept;

  Products(const Embeddings& source, const Norms& norms, const Kernels& kernels);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }  // positions
  [[nodiscard]] std::size_t tile_items() const noexcept { return tile_items_; }

  void load_users(std::span<const Count> users, const std::optional<Lists>& exclude,
                  const Checkpoint& checkpoint);
  [[nodiscard]] std::span<TileUser> users() noexcept {
    return std::span(users_).first(user_count_);
  }
  [[nodiscard]] std::span<const TileUser> users() const noexcept {
    return std::span(users_).first(user_count_);
  }

  // Multiplies all users with the tile that begins at a position. The tiles come in their order.
  void multiply_tile(std::size_t begin);
  // Of that tile, and valid until the next. Each once.
  [[nodiscard]] TileProducts products_of_user(std::size_t index);

  // What an item of this score has as its product, but for the error.
  [[nodiscard]] double product_of(const TileUser& user, double score) const noexcept;
  // The exact scores of items at some positions. Valid until the next call.
  std::span<const double> score_exactly(const TileUser& user,
                                        std::span<const std::uint32_t> positions,
                                        const Checkpoint& checkpoint);
  // The positions of items, ascending.
  void find_positions(std::span<const std::int64_t> items,
                      std::vector<std::uint32_t>& positions) const;

 private:
  // A part of the items: positions, and the greatest of their lengths, and of what stands behind
  // them, as they are multiplied.
  struct Tile {
    std::size_t begin;
    std::size_t size;
    double length;
    double extra;
    double square;  // of the greatest length, unscaled
  };

  [[nodiscard]] std::int64_t item_at(std::size_t position) const noexcept;
  void choose_scale();
  void load_user(TileUser& user, std::span<const std::int64_t> exclude, float* row);
  void fill_panel_row(TileUser& user, float* row) const;
  void estimate_errors(TileUser& user) const noexcept;
  [[nodiscard]] bool is_in_range(const TileUser& user) const noexcept;
  [[nodiscard]] Tile tile_at(std::size_t begin) const;
  void pack_tile();

  const Embeddings& source_;
  const Norms& norms_;
  Similarities similarities_;
  std::span<const std::int64_t> candidate_items_;  // if only some may be ranked
  std::size_t size_;                               // positions
  std::size_t width_;                              // of the rows as they are multiplied
  std::size_t tile_items_ = kTileItems;            // positions at a time
  double scale_ = 1;                               // what items are multiplied by
  bool is_packed_ = false;                         // whether items are copied to be multiplied
  std::vector<TileUser> users_;
  std::size_t user_count_ = 0;  // of those that are multiplied
  Tile tile_{};
  std::vector<float> panel_;
  std::vector<float> items_;
  std::vector<float> products_;
  std::vector<std::int64_t> ids_;
  std::vector<double> scores_;
};

}  // namespace exactk
