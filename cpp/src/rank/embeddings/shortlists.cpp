#include "rank/embeddings/shortlists.hpp"

#include <algorithm>
#include <limits>

#include "numeric/bisection.hpp"

namespace exactk {
namespace {

constexpr float kLowestProduct = std::numeric_limits<float>::lowest();

// Capacity of a shortlist: at least twice the depth, plus a tile.
constexpr std::size_t capacity(std::size_t depth) {
  return depth + std::max<std::size_t>(depth, 128) + kTileItems;
}

}  // namespace

Count Shortlists::bytes_per_user(Count depth) noexcept {
  constexpr std::size_t kItemBytes = 2 * sizeof(float) + sizeof(std::uint32_t);
  return static_cast<Count>(capacity(static_cast<std::size_t>(depth)) * kItemBytes);
}

Shortlists::Shortlists(const Embeddings& source, Count depth, bool highest_first,
                       Products& products, const Kernels& kernels)
    : source_(source),
      depth_(static_cast<std::size_t>(depth)),
      highest_first_(highest_first),
      products_(products),
      kernels_(kernels),
      capacity_(capacity(depth_)),
      tile_positions_(products.tile_items()) {}

void Shortlists::start_list(std::size_t index, const TileUser& user) {
  if (index >= lists_.size()) lists_.resize(index + 1);
  List& list = lists_[index];
  list.size = 0;
  list.scored_items = 0;
  list.lower_bounds.resize(capacity_);
  list.upper_bounds.resize(capacity_);
  list.positions.resize(capacity_);
  list.bound = source_.min_score ? clamp_to_float(products_.product_of(user, *source_.min_score))
                                 : kLowestProduct;
}

// Returns a number that at least depth_ of the numbers reach, or the lowest if there is none.
float Shortlists::find_bound(std::span<const float> numbers) {
  return find_threshold(depth_, kLowestProduct, last_bound_, [&](float key, Count& count) {
    kernels_.float32.count_beating(numbers.data(), numbers.size(), &key, 1, 1, &count);
  });
}

bool Shortlists::add_tile(std::size_t index, const TileUser& user, const TileProducts& tile,
                          const Checkpoint& checkpoint) {
  List& list = lists_[index];
  if (tile.begin == 0 && tile.products.size() > depth_) {
    list.bound = std::max(
        list.bound, clamp_to_float(static_cast<double>(find_bound(tile.products)) - tile.error));
  }
  const float least = clamp_to_float(static_cast<double>(list.bound) - tile.error);
  const std::size_t count = kernels_.float32.find_at_least(
      tile.products.data(), tile.products.size(), least, tile_positions_.data());
  for (std::size_t i = 0; i < count; ++i) {
    const float product = tile.products[tile_positions_[i]];
    list.lower_bounds[list.size] = product - static_cast<float>(tile.error);
    list.upper_bounds[list.size] = product + static_cast<float>(tile.error);
    list.positions[list.size++] = static_cast<std::uint32_t>(tile.begin) + tile_positions_[i];
  }
  if (list.size + products_.tile_items() > capacity_) prune(list, user, checkpoint);
  return 2 * list.scored_items < tile.end() + 16 * capacity_;
}

// Drops the items that cannot be among the best, given the bounds so far.
void Shortlists::prune(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  if (list.size <= depth_) return;
  list.bound = std::max(list.bound, find_bound(std::span(list.lower_bounds).first(list.size)));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size; ++i) {
    list.lower_bounds[kept] = list.lower_bounds[i];
    list.upper_bounds[kept] = list.upper_bounds[i];
    list.positions[kept] = list.positions[i];
    kept += list.upper_bounds[i] >= list.bound ? 1U : 0U;
  }
  list.size = kept;
  // If most products are nearly equal, their bounds separate nothing.
  if (kept > depth_ + (capacity_ - products_.tile_items() - depth_) / 2) {
    prune_exactly(list, user, checkpoint);
  }
}

// Computes the exact scores of all items that may be among the best.
void Shortlists::score_list(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  const auto positions = std::span<const std::uint32_t>(list.positions).first(list.size);
  const std::span<const double> scores = products_.score_exactly(user, positions, checkpoint);
  list.best.clear();
  const double least = source_.min_score.value_or(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= least) list.best.push_back({scores[i], positions[i]});
  }
}

// Prunes by exact scores.
void Shortlists::prune_exactly(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  score_list(list, user, checkpoint);
  list.scored_items += list.size;
  const std::size_t kept = std::min(depth_, list.best.size());
  if (kept > 0) {
    const auto last = list.best.begin() + static_cast<std::ptrdiff_t>(kept - 1);
    std::ranges::nth_element(list.best, last,
                             BetterItem<double>{.highest_first = highest_first_, .ids = nullptr});
  }
  // Restores the order of arrival, which the bounds are in.
  list.best.resize(kept);
  std::ranges::sort(list.best, {}, &Item::position);
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size && next < kept; ++i) {
    if (list.positions[i] != list.best[next].position) continue;
    list.lower_bounds[next] = list.lower_bounds[i];
    list.upper_bounds[next] = list.upper_bounds[i];
    list.positions[next++] = list.positions[i];
  }
  list.size = kept;
}

void Shortlists::finish_list(std::size_t index, const TileUser& user,
                             const Checkpoint& checkpoint) {
  prune(lists_[index], user, checkpoint);
  score_list(lists_[index], user, checkpoint);
}

}  // namespace exactk
