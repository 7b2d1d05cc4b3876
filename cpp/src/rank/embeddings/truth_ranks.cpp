#include "rank/embeddings/truth_ranks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace exactk {
namespace {

// With more items, comparing all products with each costs as much as computing the scores.
constexpr std::size_t kMaxItems = 64;

// Longer truths are not searched for rankable items.
constexpr std::size_t kMaxTruth = std::size_t{1} << 15U;

constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Count TruthRanks::bytes_per_user() noexcept {
  return (kMaxItems + 1) * (sizeof(ItemRank) + 3 * sizeof(double));
}

TruthRanks::TruthRanks(const Embeddings& source, Products& products, const Kernels& kernels,
                       const Run& run)
    : source_(source),
      products_(products),
      kernels_(kernels),
      run_(run),
      tile_positions_(products.tile_items()) {}

// Selects the positions of the truth's items that are not excluded, each once.
void TruthRanks::select_positions(const TileUser& user, std::span<const std::int64_t> truth) {
  products_.find_positions(truth, positions_);
  const auto repeats = std::ranges::unique(positions_);
  positions_.erase(repeats.begin(), repeats.end());
  std::erase_if(positions_, [&](std::uint32_t position) {
    return std::ranges::binary_search(user.excluded, position);
  });
}

bool TruthRanks::start_user(std::size_t index, const TileUser& user,
                            std::span<const std::int64_t> truth) {
  if (index >= rows_.size()) rows_.resize(index + 1);
  Row& row = rows_[index];
  row.ranks.clear();
  row.products.clear();
  row.scores.clear();
  if (truth.size() > kMaxTruth) return false;
  select_positions(user, truth);
  if (positions_.size() > kMaxItems) return false;
  const auto add = [&](std::uint32_t position, double score) {
    row.ranks.push_back({.position = position});
    row.products.push_back(products_.product_of(user, score));
    row.scores.push_back(score);
  };
  const std::span<const double> scores = products_.score_exactly(user, positions_);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const bool is_ranked = !source_.min_score || scores[i] >= *source_.min_score;
    if (is_ranked) add(positions_[i], scores[i]);
  }
  if (source_.min_score) add(kNoPosition, *source_.min_score);
  const std::size_t size = row.scores.size();
  row.scores.resize(2 * size);
  std::copy_n(row.scores.begin(), size, row.scores.begin() + static_cast<Offset>(size));
  return true;
}

// Sets two bounds per score. A product below the first belongs to an item that scores less; one
// above the second, which follow in the same order, to an item that scores more.
void TruthRanks::set_bounds(const Row& row, double error) {
  bounds_.clear();
  for (const double product : row.products) bounds_.push_back(clamp_to_float(product - error));
  for (const double product : row.products) bounds_.push_back(clamp_to_float(product + error));
}

void TruthRanks::count_beating(std::span<const float> products) {
  counts_.assign(bounds_.size(), 0);
  kernels_.float32.count_beating(products.data(), products.size(), bounds_.data(),
                                 bounds_.size() / 2, bounds_.size(), counts_.data());
}

// Returns the number of products between the two bounds of a score, summed over all scores.
Count TruthRanks::count_undecided() const {
  const auto size = static_cast<Offset>(counts_.size() / 2);
  return std::reduce(counts_.begin(), counts_.begin() + size) -
         std::reduce(counts_.begin() + size, counts_.end());
}

// Removes the products between two bounds from the tile and lists their positions as undecided.
void TruthRanks::extract_range(const TileProducts& tile, float lowest, float highest) {
  const std::size_t count = kernels_.float32.find_at_least(
      tile.products.data(), tile.products.size(), lowest, tile_positions_.data());
  for (const std::uint32_t position : std::span(tile_positions_).first(count)) {
    if (tile.products[position] > highest) continue;
    undecided_.push_back(static_cast<std::uint32_t>(tile.begin) + position);
    tile.products[position] = -std::numeric_limits<float>::infinity();
  }
}

// Extracts the products between the bounds of each score, or all products if that is most of them,
// and counts the rest again.
void TruthRanks::extract_undecided(const TileProducts& tile) {
  const std::size_t size = bounds_.size() / 2;
  undecided_.clear();
  if (std::cmp_greater(2 * count_undecided(), tile.products.size())) {
    extract_range(tile, std::numeric_limits<float>::lowest(),
                  std::numeric_limits<float>::infinity());
    counts_.assign(2 * size, 0);
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (counts_[i] > counts_[size + i]) extract_range(tile, bounds_[i], bounds_[size + i]);
  }
  count_beating(tile.products);
}

// Counts the undecided items that tie with the item at lower positions. The item is in the tile.
Count TruthRanks::count_before(const ItemRank& rank, double score,
                               std::span<const double> scores) const {
  Count before = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    before += scores[i] == score && undecided_[i] < rank.position ? 1 : 0;
  }
  return before;
}

void TruthRanks::rank_undecided(Row& row, const TileUser& user, const TileProducts& tile) {
  const std::size_t size = row.ranks.size();
  const std::span<const double> scores = products_.score_exactly(user, undecided_);
  counts_.assign(2 * size, 0);
  kernels_.float64.count_beating(scores.data(), scores.size(), row.scores.data(), size, 2 * size,
                                 counts_.data());
  for (std::size_t i = 0; i < size; ++i) {
    ItemRank& rank = row.ranks[i];
    const Count equal = counts_[i] - counts_[size + i];
    rank.above += counts_[size + i];
    rank.equal += equal;
    if (rank.position >= tile.end()) {
      rank.before += equal;
    } else if (rank.position >= tile.begin) {
      rank.before += count_before(rank, row.scores[i], scores);
    }
  }
}

void TruthRanks::add_tile(std::size_t index, const TileUser& user, const TileProducts& tile) {
  Row& row = rows_[index];
  const std::size_t size = row.ranks.size();
  set_bounds(row, tile.error);
  count_beating(tile.products);
  const bool is_decided = count_undecided() == 0;
  if (!is_decided) extract_undecided(tile);
  for (std::size_t i = 0; i < size; ++i) row.ranks[i].above += counts_[size + i];
  if (is_decided) return;
  rank_undecided(row, user, tile);
  run_.checkpoint();
}

std::span<const ItemRank> TruthRanks::ranks_of_user(std::size_t index) const {
  const std::span<const ItemRank> all = rows_[index].ranks;
  return all.first(all.size() - (source_.min_score ? 1 : 0));
}

Count TruthRanks::list_length(std::size_t index) const {
  const ItemRank& least = rows_[index].ranks.back();
  return least.above + least.equal;
}

}  // namespace exactk
