#include "rank/scores/top_selector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "numeric/key_order.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/scores/score_row.hpp"
#include "rank/scores/sort_items.hpp"

namespace exactk {
namespace {

// The most items that are sorted by counting, which takes quadratic time; more are sorted faster by
// digits.
constexpr std::size_t kMaxCountedItems = 128;
static_assert(kMaxCountedItems % kCompareBlock == 0);

// Returns the next higher key; sets `none` if there is none.
template <class Key>
Key successor(Key key, bool& none) noexcept {
  if constexpr (std::is_floating_point_v<Key>) {
    none = key == std::numeric_limits<Key>::infinity();
    return std::nextafter(key, std::numeric_limits<Key>::infinity());
  } else {
    none = key == std::numeric_limits<Key>::max();
    return none ? key : key + 1;
  }
}

}  // namespace

// Gathers all rankable items except NaN.
template <class Row>
void TopSelector<Row>::gather_all(RankableRow<Row>& row) {
  const std::size_t size = row.size();
  const Key least = row.least_rankable_key();
  const std::span<const Key> keys(row.read_chunk(0, size), size);
  items_.resize(size);
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Item item{keys[i], static_cast<std::uint32_t>(i)};
    items_[count] = item;
    count += item.key >= least && !row.is_excluded(i) ? 1U : 0U;
  }
  items_.resize(count);
}

// Gathers the items that reach a bound: the best without NaN, and some more. Holds few items at a
// time, however many reach it.
template <class Row>
void TopSelector<Row>::gather_reaching(RankableRow<Row>& row, GroupMaxima<Row>& group_maxima,
                                       std::size_t depth, Ties ties) {
  const std::size_t row_size = row.size();
  const std::span<const Key> maxima = group_maxima.maxima();
  const auto order = row.order(ties);
  const std::size_t capacity = std::min(2 * depth + 4 * kChunkScores, row_size + kChunkScores);
  items_.reserve(capacity);
  Key least = group_maxima.find_bound(row, depth);
  bool is_done = false;
  const Key* keys = nullptr;  // of the chunk read last
  std::size_t chunk = maxima.size();
  const auto add_group = [&](std::size_t group) {
    const std::size_t begin = group / kGroups * kChunkScores;
    const std::size_t size = std::min(kChunkScores, row_size - begin);
    if (chunk != group / kGroups) keys = row.read_chunk(begin, size);
    chunk = group / kGroups;
    // Read once, because another thread may write to the scores.
    std::array<Item, kChunkScores / kGroups> reaching;
    std::size_t count = 0;
    for (std::size_t i = group % kGroups; i < size; i += kGroups) {
      reaching[count] = {keys[i], static_cast<std::uint32_t>(begin + i)};
      count += reaching[count].key >= least ? 1U : 0U;
    }
    for (const Item& item : std::span(reaching).first(count)) {
      if (!row.is_excluded(item.position)) items_.push_back(item);
    }
  };
  const std::size_t group_batch =
      std::min<std::size_t>(4096, row.chunk_size() / kChunkScores * kGroups);
  reaching_groups_.resize(std::min(group_batch, maxima.size()));
  for (std::size_t begin = 0; begin < maxima.size() && !is_done; begin += group_batch) {
    const std::size_t size = std::min(group_batch, maxima.size() - begin);
    const std::size_t count =
        row.kernels().find_at_least(&maxima[begin], size, least, reaching_groups_.data());
    for (std::size_t i = 0; i < count && !is_done; ++i) {
      const std::size_t group = begin + reaching_groups_[i];
      if (maxima[group] >= least) add_group(group);
      const bool is_last =
          i + 1 == count || (begin + reaching_groups_[i + 1]) / kGroups > group / kGroups;
      if (!is_last || items_.size() + kChunkScores <= capacity) continue;
      keep_best(items_, depth, order, row.run());
      // A later item must beat the last of these; one with the same key may do so by its id.
      least = std::max(least, items_.back().key);
      if (order.is_by_position()) least = successor(least, is_done);
    }
    row.run().checkpoint();
  }
}

// Gathers NaN scores, which rank last, if there is room.
template <class Row>
void TopSelector<Row>::gather_nan(RankableRow<Row>& row, std::size_t depth, Ties ties) {
  if (!row.has_nan() || row.has_min_score() || items_.size() >= depth) return;
  const std::size_t capacity = 2 * depth + kChunkScores;
  row.for_each_item([&](const Item& item) {
    if (!is_nan(item.key) || row.is_excluded(item.position)) return;
    items_.push_back(item);
    if (items_.size() >= capacity) keep_best(items_, depth, row.order(ties), row.run());
  });
}

// Sorts the best items by counting how many of the others beat each, without branching on keys.
// Returns false, and sorts nothing, if there are ties or too many items.
template <class Row>
bool TopSelector<Row>::sort_by_counting(const RankableRow<Row>& row, std::size_t depth) {
  const std::size_t size = items_.size();
  if (size > kMaxCountedItems) return false;
  std::array<Key, kMaxCountedItems> keys;
  std::array<std::uint32_t, kMaxCountedItems> above;
  const std::size_t padded_size = (size + kCompareBlock - 1) / kCompareBlock * kCompareBlock;
  for (std::size_t i = 0; i < padded_size; ++i) {
    keys[i] = i < size ? items_[i].key : kLowestKey<Key>;
  }
  row.kernels().count_above(keys.data(), size, padded_size, above.data());
  constexpr Item kNone{kLowestKey<Key>, std::numeric_limits<std::uint32_t>::max()};
  buffer_.assign(std::min(depth, size), kNone);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t index = above[i];
    if (index >= buffer_.size()) continue;
    if (buffer_[index].position != kNone.position) return false;
    buffer_[index] = items_[i];
  }
  items_.swap(buffer_);
  return true;
}

template <class Row>
void TopSelector<Row>::put_in_order(RankableRow<Row>& row, std::size_t depth, Ties ties) {
  if (sort_by_counting(row, depth)) return;
  sort_best(items_, buffer_, depth, row.order(ties), row.run());
}

template <class Row>
void TopSelector<Row>::select(RankableRow<Row>& row, GroupMaxima<Row>& maxima, std::size_t depth,
                              Ties ties) {
  items_.clear();
  if (depth == 0) return;
  const std::size_t size = row.size();
  if (size <= kMaxCountedItems && size <= 2 * depth) {  // no bound would rule out many
    gather_all(row);
  } else {
    gather_reaching(row, maxima, depth, ties);
  }
  gather_nan(row, depth, ties);
  put_in_order(row, depth, ties);
}

template <class Row>
void TopSelector<Row>::select_from(std::span<const ScoredItem<double>> shortlist,
                                   RankableRow<Row>& row, std::size_t depth, Ties ties) {
  items_.clear();
  if (depth == 0) return;
  for (const auto& [score, position] : shortlist) {
    items_.push_back({static_cast<Key>(score), position});
  }
  put_in_order(row, depth, ties);
}

template <class Row>
Count TopSelector<Row>::first_tied_rank() const noexcept {
  const auto tied = std::ranges::adjacent_find(
      items_, [](const Item& one, const Item& next) { return is_same_key(one.key, next.key); });
  return tied == items_.end() ? 0 : tied - items_.begin() + 1;
}

template <class Row>
bool TopSelector<Row>::may_tie(RankableRow<Row>& row,
                               std::span<const std::int64_t> positions) const {
  if (first_tied_rank() == 0) return false;
  return std::ranges::any_of(positions, [&](std::int64_t signed_position) {
    if (std::cmp_greater_equal(signed_position, row.size())) return false;
    const auto position = static_cast<std::uint32_t>(signed_position);
    const Key key = row.key_at(position);
    if (!row.is_rankable(key, position)) return false;
    const auto first = std::ranges::partition_point(items_, [&](const Item& item) {
      return item.key > key || (is_nan(key) && !is_nan(item.key));
    });
    if (first == items_.end() || !is_same_key(first->key, key)) return false;
    const auto next = std::next(first);
    return first->position != position || (next != items_.end() && is_same_key(next->key, key));
  });
}

template class TopSelector<ScoreRow<float>>;
template class TopSelector<ScoreRow<double>>;
template class TopSelector<ScoreRow<std::int64_t>>;
template class TopSelector<EmbeddingRow>;

}  // namespace exactk
