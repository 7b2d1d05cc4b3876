// Multiplies the vectors of a block of users with those of the items, one tile at a time, so that
// the tile stays in a near cache. Products are in single precision, so each comes with an error
// bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_vector.hpp"
#include "base/run.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {

// One of the users of a block.
struct TileUser {
  // The members that every tile reads come first, in one cache line.
  bool is_unscreened = false;  // too many exclusions, or products say nothing
  std::uint32_t next_excluded_position = 0;
  // Error bound of a product: coefficients of the tile's length, extra number and square, and a
  // constant.
  double error_by_length = 0;
  double error_by_extra = 0;
  double error_by_square = 0;
  double error = 0;
  double factor = 0;  // scale of scores in a product
  Count user = 0;
  UserVector vector;
  double length = 0;                    // of the vector in the panel
  double extra = 0;                     // the number after the vector in the panel
  std::vector<std::uint32_t> excluded;  // ascending positions
  std::size_t next_excluded = 0;

  // Sets the position of the next excluded item, or the highest number if there is none.
  void update_next_excluded() noexcept {
    next_excluded_position = next_excluded < excluded.size()
                                 ? excluded[next_excluded]
                                 : std::numeric_limits<std::uint32_t>::max();
  }
};

// A user's products with consecutive items; minus infinity for excluded items.
struct TileProducts {
  std::size_t begin;  // position of the first
  std::span<float> products;
  double error;

  [[nodiscard]] std::size_t end() const noexcept { return begin + products.size(); }
};

// Converts to single precision, and raises minus infinity to the lowest finite number, because only
// products of excluded items are minus infinity.
[[nodiscard]] float clamp_to_float(double product) noexcept;

class Products {
 public:
  // Whether the source can be multiplied: all users share their candidates.
  [[nodiscard]] static bool can_multiply(const Embeddings& source) noexcept;
  // Returns how many users to multiply together if the caller needs `bytes_per_user` for each.
  [[nodiscard]] static Count max_users(const Embeddings& source, Count bytes_per_user) noexcept;

  Products(const Embeddings& source, const Norms& norms, const Kernels& kernels, const Run& run);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }  // positions
  [[nodiscard]] std::size_t tile_items() const noexcept { return tile_items_; }

  void load_users(std::span<const Count> users, const std::optional<Lists>& exclude);
  [[nodiscard]] std::span<TileUser> users() noexcept {
    return std::span(users_).first(user_count_);
  }
  [[nodiscard]] std::span<const TileUser> users() const noexcept {
    return std::span(users_).first(user_count_);
  }

  // Loads the items of the tile that begins at a position. Call it for tiles in order.
  void load_tile(std::size_t begin);
  // Multiplies a group of the users with the tile.
  void multiply_tile(std::size_t begin, std::size_t size);
  // Returns the products of a user of the group, valid until the next group. Call it once per user.
  [[nodiscard]] TileProducts products_of_user(std::size_t index);

  // Returns the size of a sample of the items; 0 if they are too few, or too wide, to gain by one.
  [[nodiscard]] std::size_t sample_size() const noexcept;
  // Draws the sample, the same for all users.
  void draw_sample();
  [[nodiscard]] std::span<const std::uint32_t> sample_positions() const noexcept {
    return sample_positions_;
  }
  // Multiplies a group of the users with the sample.
  void multiply_sample(std::size_t begin, std::size_t size);
  // Returns the products of a user of the group; minus infinity for excluded items.
  [[nodiscard]] std::span<const float> sample_of_user(std::size_t index);
  // Returns the largest error bound of a product with any item.
  [[nodiscard]] double largest_error(const TileUser& user) const noexcept {
    return error_of(user, tile_of(norms_.largest_square, norms_.largest_bias));
  }

  // Returns the product that an item of this score has, up to the error.
  [[nodiscard]] double product_of(const TileUser& user, double score) const noexcept;
  // Returns the exact scores of the items at the positions, valid until the next call.
  std::span<const double> score_exactly(const TileUser& user,
                                        std::span<const std::uint32_t> positions);
  // Finds the positions of the items, ascending.
  void find_positions(std::span<const std::int64_t> items,
                      std::vector<std::uint32_t>& positions) const;

 private:
  // A range of positions, with the largest length and extra number of its items as they are
  // multiplied.
  struct Tile {
    std::size_t begin;
    std::size_t size;
    double length;
    double extra;
    double square;  // of the largest length, unscaled
  };

  [[nodiscard]] std::int64_t item_at(std::size_t position) const noexcept;
  void choose_scale();
  void load_user(TileUser& user, std::span<const std::int64_t> exclude, float* row);
  void fill_panel_row(TileUser& user, float* row) const;
  void estimate_errors(TileUser& user) const noexcept;
  [[nodiscard]] bool is_in_range(const TileUser& user) const noexcept;
  [[nodiscard]] Tile tile_at(std::size_t begin) const;
  [[nodiscard]] Tile tile_of(double square, double bias) const noexcept;
  [[nodiscard]] static double error_of(const TileUser& user, const Tile& tile) noexcept;
  void convert_item(std::int64_t item, double square, float* row) const;
  void pack_tile();
  template <class PositionOf>
  void pack_converted(std::size_t size, const PositionOf& position_of, float* panels);
  void multiply_panels(const float* panels, std::size_t count, std::size_t stride,
                       AlignedVector<float>& products);

  const Embeddings& source_;
  const Norms& norms_;
  const Kernels& kernels_;
  const Run& run_;
  Similarities similarities_;
  std::span<const std::int64_t> candidate_items_;  // if only some may be ranked
  std::size_t size_;                               // number of positions
  std::size_t width_;                              // width of the rows that are multiplied
  std::size_t tile_items_ = kTileItems;            // positions per tile
  double scale_ = 1;                               // scale of the items
  bool is_converted_ = false;                      // whether items are converted before
  std::vector<TileUser> users_;
  std::size_t user_count_ = 0;  // users of the current block
  Tile tile_{};
  std::vector<float> panel_;
  std::vector<float> rows_;      // converted items of a panel
  AlignedVector<float> items_;   // packed, of the tile
  std::size_t group_begin_ = 0;  // the users who are multiplied
  std::size_t group_size_ = 0;
  AlignedVector<float> products_;
  std::vector<std::uint32_t> sample_positions_;  // ascending
  AlignedVector<float> sample_items_;            // packed
  AlignedVector<float> sample_products_;
  std::vector<std::int64_t> ids_;
  std::vector<double> scores_;
};

}  // namespace exactk
