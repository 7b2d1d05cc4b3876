#include "rank/scores/tie_counter.hpp"

#include <algorithm>

#include "numeric/key_order.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/scores/score_row.hpp"

namespace exactk {
namespace {

template <class Key>
bool is_better(Key better, Key worse) noexcept {
  return better > worse || (is_nan(worse) && !is_nan(better));
}

}  // namespace

// Adds `times` items of the key.
template <class Row>
void TieCounter<Row>::add(Key key, Count times) {
  const auto match =
      std::ranges::partition_point(keys_, [&](Key counted) { return is_better(counted, key); });
  auto index = static_cast<std::size_t>(match - keys_.begin());
  if (match != keys_.end() && is_same_key(*match, key)) equal_counts_[index++] += times;
  beating_counts_[index] += times;
}

template <class Row>
void TieCounter<Row>::count(RankableRow<Row>& row, std::span<const Item> items) {
  keys_.clear();
  for (const Item& item : items) {
    if (keys_.empty() || !is_same_key(keys_.back(), item.key)) keys_.push_back(item.key);
  }
  const std::size_t size = keys_.size();
  equal_counts_.assign(size, 0);
  beating_counts_.assign(size + 1, 0);
  above_counts_.assign(size, 0);
  // The kernel does not handle NaN.
  if (size > kMaxComparedKeys || row.has_nan()) {
    row.for_each_chunk([&](const Key* keys, std::size_t begin, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        if (row.is_rankable(keys[i], begin + i)) add(keys[i], 1);
      }
    });
    return;
  }
  below_counts_.assign(size, 0);
  row.for_each_chunk([&](const Key* keys, std::size_t, std::size_t count) {
    row.kernels().count_around(keys, count, keys_.data(), size, above_counts_.data(),
                               below_counts_.data());
  });
  for (std::size_t i = 0; i < size; ++i) {
    equal_counts_[i] = static_cast<Count>(row.size()) - above_counts_[i] - below_counts_[i];
  }
  row.for_each_excluded([&](const Item& excluded) { add(excluded.key, -1); });
}

template <class Row>
void TieCounter<Row>::use_screened(std::span<const Item> items, std::span<const ItemRank> ranks) {
  keys_.clear();
  equal_counts_.clear();
  above_counts_.clear();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && is_same_key(keys_.back(), items[i].key)) continue;
    keys_.push_back(items[i].key);
    equal_counts_.push_back(ranks[i].equal);
    above_counts_.push_back(ranks[i].above);
  }
  beating_counts_.assign(keys_.size() + 1, 0);
}

template <class Row>
void TieCounter<Row>::use_list(std::span<const Item> items, std::span<const Item> list,
                               Count last_equal) {
  keys_.clear();
  equal_counts_.clear();
  above_counts_.clear();
  std::size_t begin = 0;
  for (const Item& item : items) {
    if (!keys_.empty() && is_same_key(keys_.back(), item.key)) continue;
    while (begin < list.size() && is_better(list[begin].key, item.key)) ++begin;
    std::size_t end = begin;
    while (end < list.size() && is_same_key(list[end].key, item.key)) ++end;
    const auto listed = static_cast<Count>(end - begin);
    keys_.push_back(item.key);
    equal_counts_.push_back(end == list.size() ? std::max(listed, last_equal) : listed);
    above_counts_.push_back(static_cast<Count>(begin));
    begin = end;
  }
  beating_counts_.assign(keys_.size() + 1, 0);
}

template <class Row>
bool TieCounter<Row>::has_ties() const noexcept {
  return std::ranges::any_of(equal_counts_, [](Count equal) { return equal > 1; });
}

template <class Row>
bool TieCounter<Row>::has_ties_beyond(std::span<const Item> items) const noexcept {
  auto item = items.begin();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto first = item;
    while (item != items.end() && is_same_key(item->key, keys_[i])) ++item;
    if (equal_counts_[i] > item - first) return true;
  }
  return false;
}

template <class Row>
void TieCounter<Row>::record(std::span<const Item> items, std::vector<Count>& ranks,
                             std::vector<Tie>& ties) const {
  Count beating = 0;
  Count last = 0;  // last rank of the previous tie
  std::size_t begin = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    beating += beating_counts_[i];
    std::size_t end = begin;
    while (end < items.size() && is_same_key(items[end].key, keys_[i])) ++end;
    const auto members = static_cast<Count>(end - begin);
    // Keeps ties disjoint, with room for the items, even if another thread writes to the scores.
    const Count first = std::max(1 + above_counts_[i] + beating, last + 1);
    last = first + std::max(equal_counts_[i], members) - 1;
    for (Count member = 0; member < members; ++member) ranks.push_back(first + member);
    ties.insert(ties.end(), static_cast<std::size_t>(members), Tie{.first = first, .last = last});
    begin = end;
  }
}

template class TieCounter<ScoreRow<float>>;
template class TieCounter<ScoreRow<double>>;
template class TieCounter<ScoreRow<std::int64_t>>;
template class TieCounter<EmbeddingRow>;

}  // namespace exactk
