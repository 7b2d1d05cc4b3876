#include "rank/embeddings/shortlists.hpp"

#include <algorithm>
#include <limits>

#include "numeric/bisection.hpp"

namespace exactk {
namespace {

constexpr float kLowestProduct = std::numeric_limits<float>::lowest();

// For so many of a user's items that may be among the best: twice as many as are, and a tile.
constexpr std::size_t room(std::size_t depth) {
  return depth + std::max<std::size_t>(depth, 128) + kTileItems;
}

}  // namespace

Count Shortlists::bytes(Count depth) noexcept {
  constexpr std::size_t kBytesHeld = 2 * sizeof(float) + sizeof(std::uint32_t);
  return static_cast<Count>(room(static_cast<std::size_t>(depth)) * kBytesHeld);
}

Shortlists::Shortlists(const Embeddings& source, Count depth, bool highest, Products& products,
                       const Kernels& kernels)
    : source_(source),
      depth_(static_cast<std::size_t>(depth)),
      highest_(highest),
      products_(products),
      kernels_(kernels),
      room_(room(depth_)),
      found_(products.tile_items()) {}

void Shortlists::start(std::size_t index, const TileUser& user) {
  if (index >= lists_.size()) lists_.resize(index + 1);
  List& list = lists_[index];
  list.held = 0;
  list.scored = 0;
  list.lowest.resize(room_);
  list.highest.resize(room_);
  list.positions.resize(room_);
  list.bound =
      source_.min_score ? bounded(products_.product_of(user, *source_.min_score)) : kLowestProduct;
}

// A number that as many of these reach as are wanted, or the lowest.
float Shortlists::reached(std::span<const float> numbers) {
  return key_reached_by(depth_, kLowestProduct, last_bound_, [&](float key, Count& count) {
    kernels_.float32.count_beating(numbers.data(), numbers.size(), &key, 1, 1, &count);
  });
}

bool Shortlists::look_at(std::size_t index, const TileUser& user, const TileProducts& tile,
                         const Checkpoint& checkpoint) {
  List& list = lists_[index];
  if (tile.begin == 0 && tile.products.size() > depth_) {
    list.bound =
        std::max(list.bound, bounded(static_cast<double>(reached(tile.products)) - tile.error));
  }
  const float least = bounded(static_cast<double>(list.bound) - tile.error);
  const std::size_t count = kernels_.float32.find_at_least(
      tile.products.data(), tile.products.size(), least, found_.data());
  for (std::size_t i = 0; i < count; ++i) {
    const float product = tile.products[found_[i]];
    list.lowest[list.held] = product - static_cast<float>(tile.error);
    list.highest[list.held] = product + static_cast<float>(tile.error);
    list.positions[list.held++] = static_cast<std::uint32_t>(tile.begin) + found_[i];
  }
  if (list.held + products_.tile_items() > room_) drop_least(list, user, checkpoint);
  return 2 * list.scored < tile.end() + 16 * room_;
}

// Leaves what may be among the best, for all that is known.
void Shortlists::drop_least(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  if (list.held <= depth_) return;
  list.bound = std::max(list.bound, reached(std::span(list.lowest).first(list.held)));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.held; ++i) {
    list.lowest[kept] = list.lowest[i];
    list.highest[kept] = list.highest[i];
    list.positions[kept] = list.positions[i];
    kept += list.highest[i] >= list.bound ? 1U : 0U;
  }
  list.held = kept;
  // Products of about one value tell nothing apart.
  if (kept > depth_ + (room_ - products_.tile_items() - depth_) / 2) {
    drop_exactly(list, user, checkpoint);
  }
}

// The exact scores of all that may be among the best.
void Shortlists::score(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  const auto positions = std::span<const std::uint32_t>(list.positions).first(list.held);
  const std::span<const double> scores = products_.score(user, positions, checkpoint);
  list.best.clear();
  const double least = source_.min_score.value_or(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= least) list.best.push_back({scores[i], positions[i]});
  }
}

// The same by the scores themselves.
void Shortlists::drop_exactly(List& list, const TileUser& user, const Checkpoint& checkpoint) {
  score(list, user, checkpoint);
  list.scored += list.held;
  const std::size_t kept = std::min(depth_, list.best.size());
  if (kept > 0) {
    const auto last = list.best.begin() + static_cast<std::ptrdiff_t>(kept - 1);
    std::ranges::nth_element(list.best, last,
                             BetterItem<double>{.highest = highest_, .ids = nullptr});
  }
  // In the order in which they came, as are their bounds.
  list.best.resize(kept);
  std::ranges::sort(list.best, {}, &Item::item);
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.held && next < kept; ++i) {
    if (list.positions[i] != list.best[next].item) continue;
    list.lowest[next] = list.lowest[i];
    list.highest[next] = list.highest[i];
    list.positions[next++] = list.positions[i];
  }
  list.held = kept;
}

void Shortlists::finish(std::size_t index, const TileUser& user, const Checkpoint& checkpoint) {
  drop_least(lists_[index], user, checkpoint);
  score(lists_[index], user, checkpoint);
}

}  // namespace exactk
