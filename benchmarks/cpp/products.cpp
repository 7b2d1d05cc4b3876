// Multiplies factors of users and items by a given BLAS, in parallel threads, a tile at a time: the
// tile stays in a cache, and the next one overwrites it. The products are not used.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

using Size = std::size_t;
// As LAPACK's `sgemm_` of SciPy: column-major, everything by its address.
using Multiply = void (*)(const char*, const char*, const int*, const int*, const int*,
                          const float*, const float*, const int*, const float*, const int*,
                          const float*, float*, const int*);

struct Factors {
  const float* rows;
  Size count;
};

// Fills the tile, one row per user, and returns its last product.
double multiply_tile(Multiply multiply, Factors users, Factors items, int dimensions, float* tile) {
  const auto user_count = static_cast<int>(users.count);
  const auto item_count = static_cast<int>(items.count);
  const float one = 1;
  const float zero = 0;
  multiply("T", "N", &item_count, &user_count, &dimensions, &one, items.rows, &dimensions,
           users.rows, &dimensions, &zero, tile, &item_count);
  return tile[(users.count * items.count) - 1];
}

Factors slice_rows(Factors all, Size begin, Size max_count, Size dimensions) {
  return {.rows = all.rows + (begin * dimensions), .count = std::min(max_count, all.count - begin)};
}

}  // namespace

// Returns the sum of the last products of all tiles. The threads take blocks of users as they come.
extern "C" double exactk_products(Multiply multiply, const float* user_rows, Size user_count,
                                  const float* item_rows, Size item_count, Size dimensions,
                                  Size tile_users, Size tile_items, Size threads) {
  const Factors users{.rows = user_rows, .count = user_count};
  const Factors items{.rows = item_rows, .count = item_count};
  std::atomic<Size> next{0};
  std::atomic<double> sum{0};
  const auto multiply_blocks = [&] {
    std::vector<float> tile(tile_users * tile_items);
    for (Size user = next.fetch_add(tile_users); user < users.count;
         user = next.fetch_add(tile_users)) {
      const Factors block = slice_rows(users, user, tile_users, dimensions);
      for (Size item = 0; item < items.count; item += tile_items) {
        sum += multiply_tile(multiply, block, slice_rows(items, item, tile_items, dimensions),
                             static_cast<int>(dimensions), tile.data());
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (Size i = 1; i < threads; ++i) helpers.emplace_back(multiply_blocks);
    multiply_blocks();
  }
  return sum;
}
