#include "rank/scores/score_ranker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/radix_sort.hpp"
#include "numeric/bisection.hpp"

namespace exactk {
namespace {

template <class Key>
constexpr Key kLowest = std::is_floating_point_v<Key> ? -std::numeric_limits<Key>::infinity()
                                                      : std::numeric_limits<Key>::min();
// The least key above; sets `none` if there is none.
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

// Beyond so many items whose ranks are asked for, comparing all with each costs more than a search
// for the rank of each among them.
constexpr std::size_t kMaxRankedEach = 64;

// So many entries at most are put in order by counting, which takes the square of their number:
// more are sorted sooner by their digits.
constexpr std::size_t kMaxCountedEntries = 128;
static_assert(kMaxCountedEntries % kCompareBlock == 0);

// So few entries are sorted sooner than the values of a digit are counted.
constexpr std::size_t kMaxComparedEntries = 64;

// So many maxima of groups are looked at several times at no great cost: they stay in the nearest
// cache.
constexpr std::size_t kNearGroups = 2048;

}  // namespace

template <class Row>
ScoreRanker<Row>::ScoreRanker(Row row, std::optional<double> min_score,
                              const ScoreKernels<Key>& kernels)
    : kernels_(kernels),
      row_(std::move(row)),
      least_key_(kLowest<Key>),
      has_min_score_(min_score.has_value()) {
  if (!has_min_score_) return;
  bool none = false;
  least_key_ = row_.least_key(*min_score, none);
  can_recommend_ = !none;
}

// Ids that ascend break ties as the positions do.
template <class Row>
auto ScoreRanker<Row>::item_order(Ties ties) const noexcept -> Better {
  const bool by_id = ties != Ties::input_order && !row_.ids_ascend();
  return {.highest_first = ties == Ties::highest_id, .ids = by_id ? row_.ids().data() : nullptr};
}

// Calls body(keys, begin, size) for one chunk of positions after another.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_chunk(const Checkpoint& checkpoint, const Body& body) {
  const std::size_t chunk_size = row_.chunk_size();
  for (std::size_t begin = 0; begin < size_; begin += chunk_size) {
    const std::size_t size = std::min(chunk_size, size_ - begin);
    body(row_.read_chunk(begin, size), begin, size);
    if (size == chunk_size) checkpoint();
  }
}

// Calls body(entry) for one item after another.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_item(const Checkpoint& checkpoint, const Body& body) {
  const auto visit_range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t position = begin; position < end; ++position) {
      body(Entry{row_.key_at(position), static_cast<std::uint32_t>(position)});
    }
  };
  in_chunks(size_, checkpoint, visit_range, row_.chunk_size());
}

// The same for the excluded items.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_excluded(const Checkpoint& checkpoint, const Body& body) {
  const auto visit_range = [&](std::size_t begin, std::size_t end) {
    for (const std::uint32_t position :
         std::span(excluded_positions_).subspan(begin, end - begin)) {
      body(Entry{row_.key_at(position), position});
    }
  };
  in_chunks(excluded_positions_.size(), checkpoint, visit_range, row_.chunk_size());
}

template <class Row>
void ScoreRanker<Row>::mark_excluded(std::span<const std::int64_t> excluded,
                                     const Checkpoint& checkpoint) {
  in_chunks(excluded_positions_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) excluded_bits_[excluded_positions_[i] / 64] = 0;
  });
  excluded_positions_.clear();
  constexpr std::size_t kWords = kChunkScores / 64;
  grow(excluded_bits_, (size_ / kChunkScores + 1) * kWords, std::uint64_t{0}, checkpoint);
  in_chunks(excluded.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t signed_position : excluded.subspan(begin, end - begin)) {
      const auto position = static_cast<std::uint64_t>(signed_position);
      if (position >= size_ || is_excluded(position)) continue;
      excluded_bits_[position / 64] |= std::uint64_t{1} << (position % 64);
      excluded_positions_.push_back(static_cast<std::uint32_t>(position));
    }
  });
}

template <class Row>
void ScoreRanker<Row>::load_scores(std::span<const std::int64_t> excluded,
                                   const Checkpoint& checkpoint) {
  size_ = row_.size();
  mark_excluded(excluded, checkpoint);
  has_nan_ = false;
  has_maxima_ = false;
  screening_.reset();
  if constexpr (Row::kMayBeNan) read_maxima(checkpoint);
}

template <class Row>
void ScoreRanker<Row>::read_maxima(const Checkpoint& checkpoint) {
  has_maxima_ = true;
  const std::size_t groups = (size_ + kChunkScores - 1) / kChunkScores * kGroups;
  grow(maxima_, groups, Key{}, checkpoint);
  maxima_.resize(groups);
  for_each_chunk(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    const std::uint64_t* const excluded_bits =
        excluded_positions_.empty() ? nullptr : &excluded_bits_[begin / 64];
    Key* const maxima = maxima_.data() + begin / kChunkScores * kGroups;
    const std::size_t chunks = size / kChunkScores;
    if (kernels_.group_maxima(keys, chunks, excluded_bits, maxima)) has_nan_ = true;
    if (size % kChunkScores == 0) return;
    std::array<Key, kChunkScores> last;
    const auto rest = std::copy(keys + chunks * kChunkScores, keys + size, last.begin());
    std::fill(rest, last.end(), kLowest<Key>);
    const std::uint64_t* const last_excluded_bits =
        excluded_bits == nullptr ? nullptr : excluded_bits + chunks * kChunkScores / 64;
    Key* const last_maxima = maxima + chunks * kGroups;
    if (kernels_.group_maxima(last.data(), 1, last_excluded_bits, last_maxima)) has_nan_ = true;
  });
}

template <class Row>
Count ScoreRanker<Row>::count_nan(Offset& first, const Checkpoint& checkpoint) {
  Count count = 0;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (is_nan(entry.key) && count++ == 0) first = row_.offset_of(entry.position);
  });
  return count;
}

template <class Row>
Count ScoreRanker<Row>::length(const Checkpoint& checkpoint) {
  if (!can_recommend_) return 0;
  if (!has_min_score_) return candidate_count();
  if (screening_) return screening_->length;
  Count items = 0;
  for_each_chunk(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
    kernels_.count_beating(keys, size, &least_key_, 1, 1, &items);
  });
  for_each_excluded(checkpoint,
                    [&](const Entry& entry) { items -= entry.key >= least_key_ ? 1 : 0; });
  return std::max(items, Count{0});  // less only if another thread writes to the scores meanwhile
}

// The maxima of all groups, or of so many at least that several groups share them.
template <class Row>
auto ScoreRanker<Row>::fold_maxima(std::size_t groups, const Checkpoint& checkpoint)
    -> std::span<const Key> {
  const std::size_t chunks = maxima_.size() / kGroups;
  const std::size_t rows = groups / kGroups + 1;
  if (chunks <= rows) return maxima_;
  folded_maxima_.clear();
  folded_maxima_.reserve(rows * kGroups);
  in_chunks(rows * kGroups, checkpoint, [&](std::size_t begin, std::size_t end) {
    const auto maxima = std::span(maxima_).subspan(begin, end - begin);
    folded_maxima_.insert(folded_maxima_.end(), maxima.begin(), maxima.end());
  });
  for (std::size_t chunk = rows; chunk < chunks; ++chunk) {
    const Key* const maxima = &maxima_[chunk * kGroups];
    Key* const folded = &folded_maxima_[chunk % rows * kGroups];
    for (std::size_t i = 0; i < kGroups; ++i) folded[i] = std::max(folded[i], maxima[i]);
    if (chunk % kChunk == kChunk - 1) checkpoint();
  }
  return folded_maxima_;
}

// A key that at least `min_count` items reach, if there are as many that are no NaN, and not many
// more: of maxima if there are enough of them to tell these items apart, else of all items.
template <class Row>
auto ScoreRanker<Row>::find_bound(std::size_t min_count, const Checkpoint& checkpoint) -> Key {
  if (maxima_.size() >= 2 * min_count) {
    const std::span<const Key> maxima =
        fold_maxima(std::max(kNearGroups, 4 * min_count), checkpoint);
    return find_threshold(min_count, least_key_, last_bound_, [&](Key key, Count& count) {
      in_chunks(maxima.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
        kernels_.count_beating(&maxima[begin], end - begin, &key, 1, 1, &count);
      });
    });
  }
  min_count += excluded_positions_.size();  // which may be the best of all
  if (min_count >= size_) return least_key_;
  return find_threshold(min_count, least_key_, last_bound_, [&](Key key, Count& count) {
    for_each_chunk(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
      kernels_.count_beating(keys, size, &key, 1, 1, &count);
    });
  });
}

template <class Row>
void ScoreRanker<Row>::keep_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint) {
  if (entries_.size() <= depth) return;
  move_first(std::span(entries_), depth, item_order(ties), checkpoint);
  entries_.resize(depth);
}

// The best items that are no NaN, and some more. However many reach the bound, few are held at a
// time.
template <class Row>
void ScoreRanker<Row>::gather_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint) {
  const std::size_t capacity = std::min(2 * depth + 4 * kChunkScores, size_ + kChunkScores);
  entries_.reserve(capacity);
  Key least = find_bound(depth, checkpoint);
  bool is_done = false;
  const Key* keys = nullptr;  // of the chunk looked at
  std::size_t chunk = maxima_.size();
  const auto add_group = [&](std::size_t group) {
    const std::size_t begin = group / kGroups * kChunkScores;
    const std::size_t size = std::min(kChunkScores, size_ - begin);
    if (chunk != group / kGroups) keys = row_.read_chunk(begin, size);
    chunk = group / kGroups;
    // Read once, as another thread may write to the scores.
    std::array<Entry, kChunkScores / kGroups> reaching;
    std::size_t count = 0;
    for (std::size_t i = group % kGroups; i < size; i += kGroups) {
      reaching[count] = {keys[i], static_cast<std::uint32_t>(begin + i)};
      count += reaching[count].key >= least ? 1U : 0U;
    }
    for (const Entry& entry : std::span(reaching).first(count)) {
      if (!is_excluded(entry.position)) entries_.push_back(entry);
    }
  };
  const std::size_t group_batch =
      std::min<std::size_t>(4096, row_.chunk_size() / kChunkScores * kGroups);
  reached_groups_.resize(std::min(group_batch, maxima_.size()));
  for (std::size_t begin = 0; begin < maxima_.size() && !is_done; begin += group_batch) {
    const std::size_t size = std::min(group_batch, maxima_.size() - begin);
    const std::size_t count =
        kernels_.find_at_least(&maxima_[begin], size, least, reached_groups_.data());
    for (std::size_t i = 0; i < count && !is_done; ++i) {
      const std::size_t group = begin + reached_groups_[i];
      if (maxima_[group] >= least) add_group(group);
      const bool is_last =
          i + 1 == count || (begin + reached_groups_[i + 1]) / kGroups > group / kGroups;
      if (!is_last || entries_.size() + kChunkScores <= capacity) continue;
      keep_best(depth, ties, checkpoint);
      // Whoever comes must beat the last of these; one with the same key may do so by its id.
      least = std::max(least, entries_.back().key);
      if (item_order(ties).is_by_position()) least = successor(least, is_done);
    }
    checkpoint();
  }
}

// All that can be ranked and is no NaN.
template <class Row>
void ScoreRanker<Row>::gather_all() {
  const std::span<const Key> keys(row_.read_chunk(0, size_), size_);
  entries_.resize(size_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const Entry entry{keys[i], static_cast<std::uint32_t>(i)};
    entries_[count] = entry;
    count += entry.key >= least_key_ && !is_excluded(i) ? 1U : 0U;
  }
  entries_.resize(count);
}

template <class Row>
void ScoreRanker<Row>::gather_nan(std::size_t depth, Ties ties, const Checkpoint& checkpoint) {
  if (!has_nan_ || has_min_score_ || entries_.size() >= depth) return;
  const std::size_t capacity = 2 * depth + kChunkScores;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (!is_nan(entry.key) || is_excluded(entry.position)) return;
    entries_.push_back(entry);
    if (entries_.size() >= capacity) keep_best(depth, ties, checkpoint);
  });
}

template <class Row>
RankedList ScoreRanker<Row>::make_ranked_list(Count length, const Checkpoint& checkpoint) {
  const std::size_t size = entries_.size();
  grow(offsets_, size, Offset{0}, checkpoint);
  offsets_.resize(size);
  if (row_.is_sparse()) grow(items_, size, std::int64_t{0}, checkpoint);
  items_.resize(row_.is_sparse() ? size : 0);
  in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) offsets_[i] = row_.offset_of(entries_[i].position);
    if (!row_.is_sparse()) return;
    for (std::size_t i = begin; i < end; ++i) items_[i] = row_.ids()[entries_[i].position];
  });
  return {.items = row_.is_sparse() ? items_ : offsets_,
          .offsets = offsets_,
          .ranks = ranks_,
          .ties = ties_,
          .length = length,
          .scored_end = static_cast<Count>(size_)};
}

// The best items and some more, in no order.
template <class Row>
void ScoreRanker<Row>::collect_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint) {
  entries_.clear();
  if (depth == 0) return;
  if (screening_ && has_best(static_cast<Count>(depth), ties)) {
    for (const auto& [score, position] : screening_->best) {
      entries_.push_back({static_cast<Key>(score), position});
    }
    return;
  }
  if (!has_maxima_) read_maxima(checkpoint);
  if (size_ <= kMaxCountedEntries && size_ <= 2 * depth) {  // no bound would leave many out
    gather_all();
  } else {
    gather_best(depth, ties, checkpoint);
  }
  gather_nan(depth, ties, checkpoint);
}

// Puts the best in order by how many of the others beat each: no branch depends on the keys.
// Returns whether it could: not where some are equal, or too many.
template <class Row>
bool ScoreRanker<Row>::sort_by_counting(std::size_t depth) {
  const std::size_t size = entries_.size();
  if (size > kMaxCountedEntries) return false;
  std::array<Key, kMaxCountedEntries> keys;
  std::array<std::uint32_t, kMaxCountedEntries> above;
  const std::size_t padded_size = (size + kCompareBlock - 1) / kCompareBlock * kCompareBlock;
  for (std::size_t i = 0; i < padded_size; ++i) keys[i] = i < size ? entries_[i].key : kLowest<Key>;
  kernels_.count_above(keys.data(), size, padded_size, above.data());
  constexpr Entry kNone{kLowest<Key>, std::numeric_limits<std::uint32_t>::max()};
  entry_buffer_.assign(std::min(depth, size), kNone);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t index = above[i];
    if (index >= entry_buffer_.size()) continue;
    if (entry_buffer_[index].position != kNone.position) return false;
    entry_buffer_[index] = entries_[i];
  }
  entries_.swap(entry_buffer_);
  return true;
}

// Puts the best in order, those of one key by comparing them.
template <class Row>
void ScoreRanker<Row>::sort_best(std::size_t depth, Ties ties, const Checkpoint& checkpoint) {
  if (entries_.size() <= kMaxComparedEntries || entries_.size() > 8 * depth) {
    keep_best(depth, ties, checkpoint);
    sort(std::span(entries_), item_order(ties), checkpoint);
    return;
  }
  sort_by_key(checkpoint);
  for (std::size_t begin = 0; begin < std::min(depth, entries_.size());) {
    std::size_t end = begin;
    do {
      if (++end % kChunk == 0) checkpoint();
    } while (end < entries_.size() && is_same_key(entries_[begin].key, entries_[end].key));
    const auto tied = std::span(entries_).subspan(begin, end - begin);
    const std::size_t kept = std::min(end, depth) - begin;
    if (kept < tied.size()) move_first(tied, kept, item_order(ties), checkpoint);
    if (tied.size() > 1) sort(tied.first(kept), item_order(ties), checkpoint);
    begin = end;
  }
  if (entries_.size() > depth) entries_.resize(depth);
}

template <class Row>
void ScoreRanker<Row>::sort_by_key(const Checkpoint& checkpoint) {
  const auto code_of = [](const Entry& entry) { return descending_code(entry.key); };
  if (entries_.size() > kMaxComparedEntries) {
    radix_sort(entries_, entry_buffer_, code_of, checkpoint);
  } else {
    std::ranges::sort(entries_, {}, code_of);
  }
}

template <class Row>
RankedList ScoreRanker<Row>::best(Count depth, Ties ties, const Checkpoint& checkpoint) {
  ranks_.clear();
  ties_.clear();
  const Count list_length = length(checkpoint);
  const auto size = static_cast<std::size_t>(std::min(list_length, depth));
  collect_best(size, ties, checkpoint);
  if (!sort_by_counting(size)) sort_best(size, ties, checkpoint);
  has_list_ = true;
  return make_ranked_list(list_length, checkpoint);
}

template <class Row>
Count ScoreRanker<Row>::first_tied_rank() const noexcept {
  const auto tied = std::ranges::adjacent_find(
      entries_, [](const Entry& one, const Entry& next) { return is_same_key(one.key, next.key); });
  return tied == entries_.end() ? 0 : tied - entries_.begin() + 1;
}

template <class Row>
bool ScoreRanker<Row>::may_tie(std::span<const std::int64_t> positions) {
  if (!has_list_) return entries_tie_;
  if (first_tied_rank() == 0) return false;
  return std::ranges::any_of(positions, [&](std::int64_t signed_position) {
    if (std::cmp_greater_equal(signed_position, size_)) return false;
    const auto position = static_cast<std::uint32_t>(signed_position);
    const Key key = row_.key_at(position);
    if (!is_rankable(key, position)) return false;
    const auto first = std::ranges::partition_point(entries_, [&](const Entry& entry) {
      return entry.key > key || (is_nan(key) && !is_nan(entry.key));
    });
    if (first == entries_.end() || !is_same_key(first->key, key)) return false;
    const auto next = std::next(first);
    return first->position != position || (next != entries_.end() && is_same_key(next->key, key));
  });
}

// Those of the positions that are ranked, each once, best first.
template <class Row>
void ScoreRanker<Row>::collect_positions(std::span<const std::int64_t> positions, Ties ties,
                                         const Checkpoint& checkpoint) {
  entries_.clear();
  if (!can_recommend_) return;
  items_.clear();
  in_chunks(positions.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t position : positions.subspan(begin, end - begin)) {
      if (std::cmp_less(position, size_)) items_.push_back(position);
    }
  });
  sort(std::span(items_), std::less<>(), checkpoint);
  const auto repeats = std::ranges::unique(items_);
  items_.erase(repeats.begin(), repeats.end());
  const auto add_range = [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t signed_position : std::span(items_).subspan(begin, end - begin)) {
      const auto position = static_cast<std::uint32_t>(signed_position);
      const Entry entry{row_.key_at(position), position};
      if (is_rankable(entry.key, position)) entries_.push_back(entry);
    }
  };
  in_chunks(items_.size(), checkpoint, add_range, row_.chunk_size());
  sort_best(entries_.size(), ties, checkpoint);
}

// Which of the entries, best first, is the first that the item beats.
template <class Row>
std::size_t ScoreRanker<Row>::first_beaten(const Entry& item, const Better& better) const {
  const auto beaten = std::ranges::partition_point(
      entries_, [&](const Entry& entry) { return !better(item, entry); });
  return static_cast<std::size_t>(beaten - entries_.begin());
}

// Counts for each of the bounds how many keys are above it, and how many below.
template <class Row>
void ScoreRanker<Row>::count_around(const Checkpoint& checkpoint) {
  bound_counts_.assign(bounds_.size(), 0);
  below_counts_.assign(bounds_.size(), 0);
  for_each_chunk(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
    kernels_.count_around(keys, size, bounds_.data(), bounds_.size(), bound_counts_.data(),
                          below_counts_.data());
  });
}

// Adds to the rank of each entry how many of the row beat it, where of equal ones the lowest
// position wins, or the highest.
template <class Row>
void ScoreRanker<Row>::add_ranks_by_position(bool highest_first, const Checkpoint& checkpoint) {
  const std::size_t count = entries_.size();
  // Those first that equal keys beat: at the begin of the row all, or none.
  position_order_.resize(count);
  std::iota(position_order_.begin(), position_order_.end(), std::size_t{0});
  std::ranges::sort(position_order_, [&](std::size_t one, std::size_t other) {
    return (entries_[one].position < entries_[other].position) == highest_first && one != other;
  });
  bounds_.clear();
  for (const std::size_t entry : position_order_) bounds_.push_back(entries_[entry].key);
  bound_counts_.assign(count, 0);
  std::size_t passed_entries = 0;  // whose position lies behind
  const auto next_position = [&](std::size_t end) {
    if (passed_entries == count) return end;
    const Entry& next =
        entries_[position_order_[highest_first ? passed_entries : count - 1 - passed_entries]];
    return std::min<std::size_t>(end, next.position + (highest_first ? 1U : 0U));
  };
  for_each_chunk(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t position = begin; position < begin + size;) {
      const std::size_t next = next_position(begin + size);
      kernels_.count_beating(keys + (position - begin), next - position, bounds_.data(),
                             highest_first ? passed_entries : count - passed_entries, count,
                             bound_counts_.data());
      passed_entries += next < begin + size ? 1 : 0;
      position = next;
    }
  });
  for (std::size_t i = 0; i < count; ++i) ranks_[position_order_[i]] += bound_counts_[i];
}

// Ranks each entry by counting the items that beat it. Positions decide ties.
template <class Row>
void ScoreRanker<Row>::rank_each(const Better& order, const Checkpoint& checkpoint) {
  add_ranks_by_position(order.highest_first, checkpoint);
  // Those that are excluded beat nobody.
  beating_counts_.assign(entries_.size() + 1, 0);
  for_each_excluded(checkpoint,
                    [&](const Entry& entry) { ++beating_counts_[first_beaten(entry, order)]; });
  Count above = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) ranks_[i] -= above += beating_counts_[i];
}

// Ranks all entries at once: counts how many of them each item of the row beats.
template <class Row>
void ScoreRanker<Row>::rank_all(Ties ties, const Checkpoint& checkpoint) {
  const Better order = item_order(ties);
  std::size_t tied_items = 0;  // items, entries included, that have the score of an entry
  beating_counts_.assign(entries_.size() + 1, 0);
  for_each_chunk(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const Entry item{keys[i], static_cast<std::uint32_t>(begin + i)};
      if (!is_rankable(item.key, item.position)) continue;
      const std::size_t beaten = first_beaten(item, order);
      ++beating_counts_[beaten];
      const bool ties_above = beaten > 0 && is_same_key(entries_[beaten - 1].key, item.key);
      const bool ties_below =
          beaten < entries_.size() && is_same_key(entries_[beaten].key, item.key);
      if (ties_above || ties_below) ++tied_items;
    }
  });
  entries_tie_ = tied_items > entries_.size() || first_tied_rank() > 0;
  Count above = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) ranks_[i] += above += beating_counts_[i];
}

// Looks up the ranks of the entries in the screening. Returns whether it has them all.
template <class Row>
bool ScoreRanker<Row>::look_up_truth_ranks() {
  entry_ranks_.clear();
  if (!screening_ || !screening_->truth_ranks) return false;
  const std::span<const ItemRank> ranks = *screening_->truth_ranks;
  for (const Entry& entry : entries_) {
    const auto rank = std::ranges::lower_bound(ranks, entry.position, {}, &ItemRank::position);
    if (rank == ranks.end() || rank->position != entry.position) return false;
    entry_ranks_.push_back(*rank);
  }
  return true;
}

// The strict ranks of the entries by those that were looked up.
template <class Row>
void ScoreRanker<Row>::use_truth_ranks(Ties ties) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& [position, above, equal, before] = entry_ranks_[i];
    ranks_[i] = 1 + above + (item_order(ties).highest_first ? equal - 1 - before : before);
  }
}

// What count_tied_items counts, by the ranks that were looked up.
template <class Row>
void ScoreRanker<Row>::use_truth_ties() {
  distinct_keys_.clear();
  key_ties_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0 && is_same_key(distinct_keys_.back(), entries_[i].key)) continue;
    distinct_keys_.push_back(entries_[i].key);
    key_ties_.push_back({.first = 1 + entry_ranks_[i].above, .last = entry_ranks_[i].equal});
  }
  beating_counts_.assign(distinct_keys_.size() + 1, 0);
}

// Counts the items that score as each of the entries does, and those that score more.
template <class Row>
void ScoreRanker<Row>::count_tied_items(const Checkpoint& checkpoint) {
  distinct_keys_.clear();
  for (const Entry& entry : entries_) {
    if (distinct_keys_.empty() || !is_same_key(distinct_keys_.back(), entry.key))
      distinct_keys_.push_back(entry.key);
  }
  key_ties_.assign(distinct_keys_.size(), Tie{.first = 1, .last = 0});  // last: so many for now
  beating_counts_.assign(distinct_keys_.size() + 1, 0);
  const auto count = [&](Key key, Count times) {
    const auto match = std::ranges::partition_point(
        distinct_keys_, [&](Key score) { return score > key || (is_nan(key) && !is_nan(score)); });
    auto index = static_cast<std::size_t>(match - distinct_keys_.begin());
    if (match != distinct_keys_.end() && is_same_key(*match, key)) key_ties_[index++].last += times;
    beating_counts_[index] += times;
  };
  const bool is_counted = distinct_keys_.size() <= kMaxRankedEach && !has_nan_;
  if (is_counted) {
    bounds_ = distinct_keys_;
    count_around(checkpoint);
    for (std::size_t i = 0; i < distinct_keys_.size(); ++i) {
      key_ties_[i].first += bound_counts_[i];
      key_ties_[i].last += static_cast<Count>(size_) - bound_counts_[i] - below_counts_[i];
    }
  } else {
    for_each_chunk(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) {
        if (is_rankable(keys[i], begin + i)) count(keys[i], 1);
      }
    });
  }
  if (is_counted) for_each_excluded(checkpoint, [&](const Entry& entry) { count(entry.key, -1); });
}

// From the counts to the ranks, and the tie of each entry.
template <class Row>
void ScoreRanker<Row>::record_ties() {
  Count beating = 0;
  Count above = 0;
  std::size_t entry = 0;
  for (std::size_t i = 0; i < distinct_keys_.size(); ++i) {
    beating += beating_counts_[i];
    const Count equal = key_ties_[i].last;
    Tie tie{.first = key_ties_[i].first + beating, .last = 0};
    std::size_t end = entry;
    while (end < entries_.size() && is_same_key(entries_[end].key, distinct_keys_[i])) ++end;
    const auto members = static_cast<Count>(end - entry);
    // Below the one before, and with room for the entries, even if another thread writes to the
    // scores.
    tie.first = std::max(tie.first, above + 1);
    tie.last = tie.first + std::max(equal, members) - 1;
    for (Count member = 0; member < members; ++member) ranks_.push_back(tie.first + member);
    ties_.insert(ties_.end(), static_cast<std::size_t>(members), tie);
    above = tie.last;
    entry = end;
  }
}

template <class Row>
RankedList ScoreRanker<Row>::ranks_of(std::span<const std::int64_t> positions, Ties ties,
                                      const Checkpoint& checkpoint) {
  has_list_ = false;
  ranks_.clear();
  ties_.clear();
  collect_positions(positions, ties, checkpoint);
  if (is_strict(ties)) {
    rank_entries(ties, checkpoint);
  } else {
    if (look_up_truth_ranks()) {
      use_truth_ties();
    } else {
      count_tied_items(checkpoint);
    }
    record_ties();
  }
  return make_ranked_list(length(checkpoint), checkpoint);
}

// Whether entries are tied with entries alone, as the last count shows.
template <class Row>
bool ScoreRanker<Row>::only_entries_tie() const {
  auto entry = entries_.begin();
  for (std::size_t i = 0; i < distinct_keys_.size(); ++i) {
    const auto first = entry;
    while (entry != entries_.end() && is_same_key(entry->key, distinct_keys_[i])) ++entry;
    if (key_ties_[i].last > entry - first) return false;
  }
  return true;
}

// The strict rank of each entry, after the items tied with it were counted.
template <class Row>
void ScoreRanker<Row>::rank_counted_entries(Ties ties, const Checkpoint& checkpoint) {
  if (only_entries_tie()) {
    record_ties();
    ties_.clear();
    return;
  }
  ranks_.assign(entries_.size(), 1);
  const Better order = item_order(ties);
  if (order.ids == nullptr) {
    rank_each(order, checkpoint);
  } else {
    rank_all(ties, checkpoint);
  }
}

// The strict rank of each entry.
template <class Row>
void ScoreRanker<Row>::rank_entries(Ties ties, const Checkpoint& checkpoint) {
  // The kernel does not say where NaN stands.
  const bool is_counted = entries_.size() <= kMaxRankedEach && !has_nan_;
  if (look_up_truth_ranks()) {
    ranks_.resize(entries_.size());
    use_truth_ranks(ties);
    entries_tie_ =
        std::ranges::any_of(entry_ranks_, [](const auto& rank) { return rank.equal > 1; });
  } else if (is_counted) {
    count_tied_items(checkpoint);
    entries_tie_ = std::ranges::any_of(key_ties_, [](const Tie& tie) { return tie.last > 1; });
    rank_counted_entries(ties, checkpoint);
  } else {
    ranks_.assign(entries_.size(), 1);
    rank_all(ties, checkpoint);
  }
  // Each below the one before, and within the row, even if another thread writes to the scores.
  const auto beyond = static_cast<Count>(size_ - ranks_.size()) + 1;
  Count above = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i] = std::clamp(ranks_[i], above + 1, beyond + static_cast<Count>(i));
    above = ranks_[i];
  }
}

template class ScoreRanker<ScoreRow<float>>;
template class ScoreRanker<ScoreRow<double>>;
template class ScoreRanker<ScoreRow<std::int64_t>>;
template class ScoreRanker<EmbeddingRow>;

namespace {

template <class Source>
AnyScoreRanker make_row_ranker(const Source& source, const Kernels& kernels) {
  return with_key_type(source.type, [&]<class Key>(std::type_identity<Key>) -> AnyScoreRanker {
    ScoreRow<Key> row(source);
    if constexpr (std::is_same_v<Key, float>) {
      return ScoreRanker<ScoreRow<Key>>(std::move(row), source.min_score, kernels.float32);
    } else if constexpr (std::is_same_v<Key, double>) {
      return ScoreRanker<ScoreRow<Key>>(std::move(row), source.min_score, kernels.float64);
    } else {
      return ScoreRanker<ScoreRow<Key>>(std::move(row), source.min_score, kernels.int64);
    }
  });
}

}  // namespace

AnyScoreRanker make_score_ranker(const ScoreMatrix& matrix, const Kernels& kernels) {
  return make_row_ranker(matrix, kernels);
}

AnyScoreRanker make_score_ranker(const SparseScores& scores, const Kernels& kernels) {
  return make_row_ranker(scores, kernels);
}

AnyScoreRanker make_score_ranker(const Embeddings& embeddings, const Kernels& kernels) {
  return ScoreRanker<EmbeddingRow>(EmbeddingRow(embeddings, kernels), embeddings.min_score,
                                   kernels.float64);
}

}  // namespace exactk
