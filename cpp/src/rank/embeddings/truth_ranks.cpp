#include "rank/embeddings/truth_ranks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace exactk {
namespace {

// Beyond so many items, to compare all products with each costs as much as to make the scores.
constexpr std::size_t kMostItems = 64;

// A longer truth is not looked through for those that can be ranked.
constexpr std::size_t kLongestTruth = std::size_t{1} << 15U;

constexpr std::uint32_t kNoItem = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Count TruthRanks::bytes() noexcept {
  return (kMostItems + 1) * (sizeof(ItemRank) + 3 * sizeof(double));
}

TruthRanks::TruthRanks(const Embeddings& source, Products& products, const Kernels& kernels)
    : source_(source), products_(products), kernels_(kernels), found_(products.tile_items()) {}

// The positions of items of the truth that may be ranked, each once.
void TruthRanks::choose(const TileUser& user, std::span<const std::int64_t> truth) {
  products_.place(truth, chosen_);
  const auto repeats = std::ranges::unique(chosen_);
  chosen_.erase(repeats.begin(), repeats.end());
  std::erase_if(chosen_, [&](std::uint32_t position) {
    return std::ranges::binary_search(user.excluded, position);
  });
}

bool TruthRanks::start(std::size_t index, const TileUser& user, std::span<const std::int64_t> truth,
                       const Checkpoint& checkpoint) {
  if (index >= rows_.size()) rows_.resize(index + 1);
  Row& row = rows_[index];
  row.standings.clear();
  row.products.clear();
  row.scores.clear();
  if (truth.size() > kLongestTruth) return false;
  choose(user, truth);
  if (chosen_.size() > kMostItems) return false;
  const auto add = [&](std::uint32_t item, double score) {
    row.standings.push_back({.item = item});
    row.products.push_back(products_.product_of(user, score));
    row.scores.push_back(score);
  };
  const std::span<const double> scores = products_.score(user, chosen_, checkpoint);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const bool ranked = !source_.min_score || scores[i] >= *source_.min_score;
    if (ranked) add(chosen_[i], scores[i]);
  }
  if (source_.min_score) add(kNoItem, *source_.min_score);
  const std::size_t size = row.scores.size();
  row.scores.resize(2 * size);
  std::copy_n(row.scores.begin(), size, row.scores.begin() + static_cast<Offset>(size));
  return true;
}

// First those that a product reaches unless the item scores less, then, in the same order, those
// that it exceeds only if the item scores more.
void TruthRanks::set_bounds(const Row& row, double error) {
  bounds_.clear();
  for (const double product : row.products) bounds_.push_back(bounded(product - error));
  for (const double product : row.products) bounds_.push_back(bounded(product + error));
}

void TruthRanks::count(std::span<const float> products) {
  counts_.assign(bounds_.size(), 0);
  kernels_.float32.count_beating(products.data(), products.size(), bounds_.data(),
                                 bounds_.size() / 2, bounds_.size(), counts_.data());
}

// How many products lie between the two bounds of a score, for all scores together.
Count TruthRanks::between() const {
  const auto size = static_cast<Offset>(counts_.size() / 2);
  return std::reduce(counts_.begin(), counts_.begin() + size) -
         std::reduce(counts_.begin() + size, counts_.end());
}

// Takes products out of the tile.
void TruthRanks::take(const TileProducts& tile, float lowest, float highest) {
  const std::size_t count = kernels_.float32.find_at_least(
      tile.products.data(), tile.products.size(), lowest, found_.data());
  for (const std::uint32_t place : std::span(found_).first(count)) {
    if (tile.products[place] > highest) continue;
    taken_.push_back(static_cast<std::uint32_t>(tile.begin) + place);
    tile.products[place] = -std::numeric_limits<float>::infinity();
  }
}

// Takes those between two bounds, or all if that is most of them, and counts the others anew.
void TruthRanks::take_between(const TileProducts& tile) {
  const std::size_t size = bounds_.size() / 2;
  taken_.clear();
  if (std::cmp_greater(2 * between(), tile.products.size())) {
    take(tile, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::infinity());
    counts_.assign(2 * size, 0);
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (counts_[i] > counts_[size + i]) take(tile, bounds_[i], bounds_[size + i]);
  }
  count(tile.products);
}

// Those of the taken that score the same at lower positions than the item, which is of the tile.
Count TruthRanks::count_before(const ItemRank& standing, double score,
                               std::span<const double> scores) const {
  Count before = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    before += scores[i] == score && taken_[i] < standing.item ? 1 : 0;
  }
  return before;
}

void TruthRanks::count_taken(Row& row, const TileUser& user, const TileProducts& tile,
                             const Checkpoint& checkpoint) {
  const std::size_t size = row.standings.size();
  const std::span<const double> scores = products_.score(user, taken_, checkpoint);
  counts_.assign(2 * size, 0);
  kernels_.float64.count_beating(scores.data(), scores.size(), row.scores.data(), size, 2 * size,
                                 counts_.data());
  for (std::size_t i = 0; i < size; ++i) {
    ItemRank& standing = row.standings[i];
    const Count equal = counts_[i] - counts_[size + i];
    standing.above += counts_[size + i];
    standing.equal += equal;
    if (standing.item >= tile.end()) {
      standing.before += equal;
    } else if (standing.item >= tile.begin) {
      standing.before += count_before(standing, row.scores[i], scores);
    }
  }
}

void TruthRanks::look_at(std::size_t index, const TileUser& user, const TileProducts& tile,
                         const Checkpoint& checkpoint) {
  Row& row = rows_[index];
  const std::size_t size = row.standings.size();
  set_bounds(row, tile.error);
  count(tile.products);
  const bool told = between() == 0;
  if (!told) take_between(tile);
  for (std::size_t i = 0; i < size; ++i) row.standings[i].above += counts_[size + i];
  if (told) return;
  count_taken(row, user, tile, checkpoint);
  checkpoint();
}

std::span<const ItemRank> TruthRanks::of(std::size_t index) const {
  const std::span<const ItemRank> all = rows_[index].standings;
  return all.first(all.size() - (source_.min_score ? 1 : 0));
}

Count TruthRanks::length(std::size_t index) const {
  const ItemRank& least = rows_[index].standings.back();
  return least.above + least.equal;
}

}  // namespace exactk
