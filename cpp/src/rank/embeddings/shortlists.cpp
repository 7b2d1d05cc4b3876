#include "rank/embeddings/shortlists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "numeric/bisection.hpp"

namespace exactk {
namespace {

constexpr float kLowestProduct = std::numeric_limits<float>::lowest();

// Capacity of a shortlist: at least three times the depth, plus a tile.
constexpr std::size_t capacity(std::size_t depth) {
  return depth + std::max<std::size_t>(2 * depth, 128) + kTileItems;
}

// Returns a rank in the sample whose item is reached by `depth` of all items: it is four standard
// deviations deeper than expected, so the prediction fails for about one user in 10,000.
std::size_t rank_in_sample(std::size_t depth, std::size_t sample, std::size_t items) {
  const double expected = static_cast<double>(depth * sample) / static_cast<double>(items);
  return static_cast<std::size_t>(expected + 4 * std::sqrt(expected)) + 2;
}

}  // namespace

Count Shortlists::bytes_per_user(Count depth) noexcept {
  constexpr std::size_t kItemBytes = sizeof(float) + sizeof(std::uint32_t);
  return static_cast<Count>(capacity(static_cast<std::size_t>(depth)) * kItemBytes);
}

Shortlists::Shortlists(const Embeddings& source, Count depth, bool highest_first,
                       Products& products, const Kernels& kernels)
    : source_(source),
      depth_(static_cast<std::size_t>(depth)),
      highest_first_(highest_first),
      products_(products),
      kernels_(kernels),
      capacity_(capacity(depth_)) {
  const std::size_t sample = products.sample_size();
  if (sample == 0) return;
  const std::size_t items = products.size();
  const std::size_t rank = rank_in_sample(depth_, sample, items);
  // Without the sample, a list grows by about its depth whenever the number of items doubles.
  const double reaching = static_cast<double>(rank * items) / static_cast<double>(sample);
  const double added = static_cast<double>(depth_) *
                       std::log2(static_cast<double>(items) / static_cast<double>(depth_));
  if (2 * reaching > added) return;
  sample_rank_ = rank;
  products.draw_sample();
}

void Shortlists::start_list(std::size_t index, const TileUser& user) {
  if (index >= lists_.size()) lists_.resize(index + 1);
  List& list = lists_[index];
  list.size = 0;
  list.scored_items = 0;
  list.error = 0;
  list.expected_bound = kLowestProduct;
  list.products.resize(capacity_);
  list.positions.resize(capacity_);
  list.bound = source_.min_score ? clamp_to_float(products_.product_of(user, *source_.min_score))
                                 : kLowestProduct;
}

void Shortlists::expect_bound(std::size_t index, const TileUser& user,
                              std::span<const float> sample) {
  const double bound = find_bound(sample, sample_rank_, last_expected_bound_);
  lists_[index].expected_bound = clamp_to_float(bound - 2 * products_.largest_error(user));
}

// Returns a number that at least `count` of the numbers reach, or the lowest if there is none.
float Shortlists::find_bound(std::span<const float> numbers, std::size_t count, float& last) {
  return find_threshold(count, kLowestProduct, last, [&](float key, Count& reaching) {
    reaching += count_reaching(numbers, key);
  });
}

Count Shortlists::count_reaching(std::span<const float> numbers, float bound) const {
  Count count = 0;
  kernels_.float32.count_beating(numbers.data(), numbers.size(), &bound, 1, 1, &count);
  return count;
}

bool Shortlists::add_tile(std::size_t index, const TileUser& user, const TileProducts& tile) {
  List& list = lists_[index];
  list.error = std::max(list.error, tile.error);
  if (tile.begin == 0 && tile.products.size() > depth_) {
    raise_bound(list, tile.products);
  }
  const double bound = std::max(list.bound, list.expected_bound);
  list.size += kernels_.float32.list_at_least(
      tile.products.data(), tile.products.size(), clamp_to_float(bound - tile.error),
      static_cast<std::uint32_t>(tile.begin), &list.products[list.size],
      &list.positions[list.size]);
  if (list.size + products_.tile_items() > capacity_) prune(list, user);
  return 2 * list.scored_items < tile.end() + 16 * capacity_;
}

// Raises the bound to one that the scores of at least depth_ of the products reach.
void Shortlists::raise_bound(List& list, std::span<const float> products) {
  const double bound = find_bound(products, depth_, last_bound_);
  list.bound = std::max(list.bound, clamp_to_float(bound - list.error));
}

// Drops the items that cannot be among the best, given the bounds so far.
void Shortlists::prune(List& list, const TileUser& user) {
  if (list.size <= depth_) return;
  raise_bound(list, std::span(list.products).first(list.size));
  const float least = clamp_to_float(static_cast<double>(list.bound) - list.error);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size; ++i) {
    list.products[kept] = list.products[i];
    list.positions[kept] = list.positions[i];
    kept += list.products[i] >= least ? 1U : 0U;
  }
  list.size = kept;
  // If most products are nearly equal, their bounds separate nothing.
  if (kept > depth_ + (capacity_ - products_.tile_items() - depth_) / 2) {
    prune_exactly(list, user);
  }
}

// Computes the exact scores of all items that may be among the best.
void Shortlists::score_list(List& list, const TileUser& user) {
  const auto positions = std::span<const std::uint32_t>(list.positions).first(list.size);
  const std::span<const double> scores = products_.score_exactly(user, positions);
  list.best.clear();
  const double least = source_.min_score.value_or(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= least) list.best.push_back({scores[i], positions[i]});
  }
}

// Prunes by exact scores.
void Shortlists::prune_exactly(List& list, const TileUser& user) {
  score_list(list, user);
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
    list.products[next] = list.products[i];
    list.positions[next++] = list.positions[i];
  }
  list.size = kept;
}

// Whether the list has all of the best items. It has not if the sample promised too much: if fewer
// than depth_ items are surely above those that it ruled out.
bool Shortlists::is_complete(const List& list) {
  if (list.bound >= list.expected_bound) return true;
  const float least = clamp_to_float(list.expected_bound + list.error);
  const Count count = count_reaching(std::span(list.products).first(list.size), least);
  return std::cmp_greater_equal(count, depth_);
}

bool Shortlists::finish_list(std::size_t index, const TileUser& user) {
  List& list = lists_[index];
  if (!is_complete(list)) return false;
  prune(list, user);
  score_list(list, user);
  return true;
}

}  // namespace exactk
