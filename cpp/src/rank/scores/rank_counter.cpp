#include "rank/scores/rank_counter.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "numeric/key_order.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/scores/score_row.hpp"
#include "rank/scores/sort_items.hpp"

namespace exactk {

// Collects the positions of the truth that have a score, in order, each once with its first entry.
template <class Row>
void RankCounter<Row>::locate_truth(RankableRow<Row>& row, const TruthPositions& truth) {
  truth_items_.clear();
  bool ascend = true;
  in_chunks(truth.positions.size(), row.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (std::cmp_greater_equal(truth.positions[i], row.size())) continue;
      const auto position = static_cast<std::uint32_t>(truth.positions[i]);
      ascend = ascend && (truth_items_.empty() || truth_items_.back().position < position);
      truth_items_.push_back({{Key{}, position}, truth.entry_at(i)});
    }
  });
  if (ascend) return;
  const auto before = [](const TruthItem& one, const TruthItem& other) {
    if (one.position != other.position) return one.position < other.position;
    return one.entry < other.entry;
  };
  sort(std::span(truth_items_), before, row.run());
  const auto repeats = std::ranges::unique(truth_items_, {}, &TruthItem::position);
  truth_items_.erase(repeats.begin(), repeats.end());
}

// Collects the rankable items of the truth, best first; only those that reach `least`, if any.
template <class Row>
void RankCounter<Row>::collect_items(RankableRow<Row>& row, const TruthPositions& truth, Ties ties,
                                     std::optional<Key> least) {
  items_.clear();
  entries_.clear();
  if (!row.can_rank()) return;
  locate_truth(row, truth);
  std::size_t count = 0;
  const auto read_range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      TruthItem item = truth_items_[i];
      item.key = row.key_at(item.position);
      if (least && !(item.key >= *least)) continue;
      if (row.is_rankable(item.key, item.position)) truth_items_[count++] = item;
    }
  };
  in_chunks(truth_items_.size(), row.run(), read_range, row.chunk_size());
  truth_items_.resize(count);
  sort_best(truth_items_, buffer_, count, row.order(ties), row.run());
  in_chunks(count, row.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      items_.push_back(truth_items_[i]);
      entries_.push_back(truth_items_[i].entry);
    }
  });
}

// Returns the index of the first item, best first, that the given one beats.
template <class Row>
std::size_t RankCounter<Row>::first_beaten(const Item& item, const Better& better) const {
  const auto beaten =
      std::ranges::partition_point(items_, [&](const Item& other) { return !better(item, other); });
  return static_cast<std::size_t>(beaten - items_.begin());
}

// Adds `sign` times the number of items that beat it to the rank of each item.
template <class Row>
void RankCounter<Row>::add_beating_counts(Count sign) {
  Count above = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) ranks_[i] += sign * (above += beating_counts_[i]);
}

// Adds the number of items that beat it to the rank of each item, where ties go to the lowest or
// the highest position.
template <class Row>
void RankCounter<Row>::add_ranks_by_position(RankableRow<Row>& row, bool highest_first) {
  const std::size_t count = items_.size();
  // Bounds that equal keys beat come first: at the start of the row none of them (highest_first) or
  // all.
  position_order_.resize(count);
  std::iota(position_order_.begin(), position_order_.end(), std::size_t{0});
  std::ranges::sort(position_order_, [&](std::size_t one, std::size_t other) {
    return (items_[one].position < items_[other].position) == highest_first && one != other;
  });
  bounds_.clear();
  for (const std::size_t index : position_order_) bounds_.push_back(items_[index].key);
  above_counts_.assign(count, 0);
  std::size_t passed_items = 0;  // items whose position lies behind
  const auto next_position = [&](std::size_t end) {
    if (passed_items == count) return end;
    const Item& next =
        items_[position_order_[highest_first ? passed_items : count - 1 - passed_items]];
    return std::min<std::size_t>(end, next.position + (highest_first ? 1U : 0U));
  };
  row.for_each_chunk([&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t position = begin; position < begin + size;) {
      const std::size_t next = next_position(begin + size);
      row.kernels().count_beating(keys + (position - begin), next - position, bounds_.data(),
                                  highest_first ? passed_items : count - passed_items, count,
                                  above_counts_.data());
      passed_items += next < begin + size ? 1 : 0;
      position = next;
    }
  });
  for (std::size_t i = 0; i < count; ++i) ranks_[position_order_[i]] += above_counts_[i];
}

// Ranks each item on its own. Ties are broken by position.
template <class Row>
void RankCounter<Row>::rank_each(RankableRow<Row>& row, const Better& order) {
  ranks_.assign(items_.size(), 1);
  add_ranks_by_position(row, order.highest_first);
  // Excluded items beat nothing.
  beating_counts_.assign(items_.size() + 1, 0);
  row.for_each_excluded(
      [&](const Item& excluded) { ++beating_counts_[first_beaten(excluded, order)]; });
  add_beating_counts(-1);
}

// Ranks all items in one pass: for each item of the row, counts the items that it beats.
template <class Row>
void RankCounter<Row>::rank_together(RankableRow<Row>& row, const Better& order) {
  ranks_.assign(items_.size(), 1);
  std::size_t tied_items = 0;  // items of the row, these included, with the score of one of these
  beating_counts_.assign(items_.size() + 1, 0);
  row.for_each_chunk([&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const Item item{keys[i], static_cast<std::uint32_t>(begin + i)};
      if (!row.is_rankable(item.key, item.position)) continue;
      const std::size_t beaten = first_beaten(item, order);
      ++beating_counts_[beaten];
      const bool ties_above = beaten > 0 && is_same_key(items_[beaten - 1].key, item.key);
      const bool ties_below = beaten < items_.size() && is_same_key(items_[beaten].key, item.key);
      if (ties_above || ties_below) ++tied_items;
    }
  });
  const auto ties_with_next = [](const Item& one, const Item& next) {
    return is_same_key(one.key, next.key);
  };
  has_ties_ = tied_items > items_.size() ||
              std::ranges::adjacent_find(items_, ties_with_next) != items_.end();
  add_beating_counts(1);
}

// Looks up the ranks from screening. Returns whether it has all of them.
template <class Row>
bool RankCounter<Row>::look_up(const std::optional<std::span<const ItemRank>>& screened) {
  screened_ranks_.clear();
  if (!screened) return false;
  for (const Item& item : items_) {
    const auto rank = std::ranges::lower_bound(*screened, item.position, {}, &ItemRank::position);
    if (rank == screened->end() || rank->position != item.position) return false;
    screened_ranks_.push_back(*rank);
  }
  return true;
}

// Computes strict ranks from those of screening.
template <class Row>
void RankCounter<Row>::use_screened_ranks(bool highest_first) {
  ranks_.resize(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const auto& [position, above, equal, before] = screened_ranks_[i];
    ranks_[i] = 1 + above + (highest_first ? equal - 1 - before : before);
  }
  has_ties_ =
      std::ranges::any_of(screened_ranks_, [](const ItemRank& rank) { return rank.equal > 1; });
}

template <class Row>
void RankCounter<Row>::rank_strictly(RankableRow<Row>& row, Ties ties, bool is_screened) {
  const Better order = row.order(ties);
  if (is_screened) {
    use_screened_ranks(order.highest_first);
  } else if (items_.size() <= kMaxComparedKeys && !row.has_nan()) {
    tie_counter_.count(row, items_);
    has_ties_ = tie_counter_.has_ties();
    if (!tie_counter_.has_ties_beyond(items_)) {
      tie_counter_.record(items_, ranks_, ties_);
      ties_.clear();
    } else if (order.ids == nullptr) {
      rank_each(row, order);
    } else {
      rank_together(row, order);
    }
  } else {
    rank_together(row, order);
  }
  // Keeps ranks ascending and within the row, even if another thread writes to the scores.
  const auto beyond = static_cast<Count>(row.size() - ranks_.size()) + 1;
  Count above = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i] = std::clamp(ranks_[i], above + 1, beyond + static_cast<Count>(i));
    above = ranks_[i];
  }
}

template <class Row>
void RankCounter<Row>::count(RankableRow<Row>& row, const TruthPositions& truth, Ties ties,
                             const std::optional<std::span<const ItemRank>>& screened) {
  ranks_.clear();
  ties_.clear();
  collect_items(row, truth, ties, std::nullopt);
  const bool is_screened = look_up(screened);
  if (is_strict(ties)) {
    rank_strictly(row, ties, is_screened);
    return;
  }
  if (is_screened) {
    tie_counter_.use_screened(items_, screened_ranks_);
  } else {
    tie_counter_.count(row, items_);
  }
  tie_counter_.record(items_, ranks_, ties_);
}

template <class Row>
void RankCounter<Row>::count_listed(RankableRow<Row>& row, const TruthPositions& truth,
                                    std::span<const Item> list, bool is_split) {
  ranks_.clear();
  ties_.clear();
  items_.clear();
  entries_.clear();
  if (list.empty()) return;
  const Key last = list.back().key;
  collect_items(row, truth, Ties::expected, is_nan(last) ? std::nullopt : std::optional(last));
  Count last_equal = 0;
  if (is_split && !items_.empty() && is_same_key(items_.back().key, last)) {
    tie_counter_.count(row, std::span(items_).last(1));
    last_equal = tie_counter_.last_equal_count();
  }
  tie_counter_.use_list(items_, list, last_equal);
  tie_counter_.record(items_, ranks_, ties_);
}

template class RankCounter<ScoreRow<float>>;
template class RankCounter<ScoreRow<double>>;
template class RankCounter<ScoreRow<std::int64_t>>;
template class RankCounter<EmbeddingRow>;

}  // namespace exactk
