#include "rank/scores/score_ranking.hpp"

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

// Beyond so many items whose ranks are asked for, comparing all with each costs more than to search
// each one's place among them.
constexpr std::size_t kCountedEach = 64;

// So many entries at most are put in order by counting, which takes the square of their number:
// more are sorted sooner by their digits.
constexpr std::size_t kCountedEntries = 128;
static_assert(kCountedEntries % kCompared == 0);

// So few entries are sorted sooner than the values of a digit are counted.
constexpr std::size_t kComparedEntries = 64;

// So many maxima of groups are looked at several times at no great cost: they stay in the nearest
// cache.
constexpr std::size_t kNearGroups = 2048;

}  // namespace

template <class Row>
ScoreRanker<Row>::ScoreRanker(Row row, std::optional<double> min_score,
                              const ScoreKernels<Key>& kernels)
    : kernels_(kernels),
      row_(std::move(row)),
      least_(kLowest<Key>),
      has_least_(min_score.has_value()) {
  if (!has_least_) return;
  bool none = false;
  least_ = row_.least(*min_score, none);
  recommends_ = !none;
}

// Ids that ascend break ties as the positions do.
template <class Row>
auto ScoreRanker<Row>::better(Ties ties) const noexcept -> Better {
  const bool by_id = ties != Ties::input_order && !row_.ascends();
  return {.highest = ties == Ties::highest_id, .ids = by_id ? row_.ids().data() : nullptr};
}

// Calls body(keys, begin, size) for one piece after another.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_piece(const Checkpoint& checkpoint, const Body& body) {
  const std::size_t piece = row_.piece_size();
  for (std::size_t begin = 0; begin < size_; begin += piece) {
    const std::size_t size = std::min(piece, size_ - begin);
    body(row_.piece(begin, size), begin, size);
    if (size == piece) checkpoint();
  }
}

// Calls body(entry) for one item after another.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_item(const Checkpoint& checkpoint, const Body& body) {
  const auto some = [&](std::size_t begin, std::size_t end) {
    for (std::size_t item = begin; item < end; ++item) {
      body(Entry{row_.at(item), static_cast<std::uint32_t>(item)});
    }
  };
  in_chunks(size_, checkpoint, some, row_.piece_size());
}

// The same for the excluded items.
template <class Row>
template <class Body>
void ScoreRanker<Row>::for_each_excluded(const Checkpoint& checkpoint, const Body& body) {
  const auto some = [&](std::size_t begin, std::size_t end) {
    for (const std::uint32_t item : std::span(excluded_).subspan(begin, end - begin)) {
      body(Entry{row_.at(item), item});
    }
  };
  in_chunks(excluded_.size(), checkpoint, some, row_.piece_size());
}

template <class Row>
void ScoreRanker<Row>::mark_excluded(std::span<const std::int64_t> excluded,
                                     const Checkpoint& checkpoint) {
  in_chunks(excluded_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) excluded_bits_[excluded_[i] / 64] = 0;
  });
  excluded_.clear();
  constexpr std::size_t kWords = kChunkScores / 64;
  grow(excluded_bits_, (size_ / kChunkScores + 1) * kWords, std::uint64_t{0}, checkpoint);
  in_chunks(excluded.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t position : excluded.subspan(begin, end - begin)) {
      const auto item = static_cast<std::uint64_t>(position);
      if (item >= size_ || is_excluded(item)) continue;
      excluded_bits_[item / 64] |= std::uint64_t{1} << (item % 64);
      excluded_.push_back(static_cast<std::uint32_t>(item));
    }
  });
}

template <class Row>
void ScoreRanker<Row>::start(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint) {
  size_ = row_.size();
  sorted_ = 0;
  mark_excluded(excluded, checkpoint);
  has_nan_ = false;
  is_read_ = false;
  found_.reset();
  if constexpr (Row::kMayBeNan) read(checkpoint);
}

template <class Row>
void ScoreRanker<Row>::read(const Checkpoint& checkpoint) {
  is_read_ = true;
  const std::size_t groups = (size_ + kChunkScores - 1) / kChunkScores * kGroups;
  grow(maxima_, groups, Key{}, checkpoint);
  maxima_.resize(groups);
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    const std::uint64_t* const masked = excluded_.empty() ? nullptr : &excluded_bits_[begin / 64];
    Key* const maxima = maxima_.data() + begin / kChunkScores * kGroups;
    const std::size_t chunks = size / kChunkScores;
    if (kernels_.group_maxima(keys, chunks, masked, maxima)) has_nan_ = true;
    if (size % kChunkScores == 0) return;
    std::array<Key, kChunkScores> last;
    const auto rest = std::copy(keys + chunks * kChunkScores, keys + size, last.begin());
    std::fill(rest, last.end(), kLowest<Key>);
    const std::uint64_t* const last_masked =
        masked == nullptr ? nullptr : masked + chunks * kChunkScores / 64;
    Key* const last_maxima = maxima + chunks * kGroups;
    if (kernels_.group_maxima(last.data(), 1, last_masked, last_maxima)) has_nan_ = true;
  });
}

template <class Row>
Count ScoreRanker<Row>::count_nan(Offset& first, const Checkpoint& checkpoint) {
  Count count = 0;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (is_nan(entry.key) && count++ == 0) first = row_.place(entry.item);
  });
  return count;
}

template <class Row>
Count ScoreRanker<Row>::length(const Checkpoint& checkpoint) {
  if (!recommends_) return 0;
  if (!has_least_) return candidates();
  if (found_) return found_->length;
  Count items = 0;
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
    kernels_.count_beating(keys, size, &least_, 1, 1, &items);
  });
  for_each_excluded(checkpoint, [&](const Entry& entry) { items -= entry.key >= least_ ? 1 : 0; });
  return std::max(items, Count{0});  // less only if another thread writes to the scores meanwhile
}

// The maxima of all groups, or of so many at least that several groups share them.
template <class Row>
auto ScoreRanker<Row>::fold_maxima(std::size_t groups, const Checkpoint& checkpoint)
    -> std::span<const Key> {
  const std::size_t chunks = maxima_.size() / kGroups;
  const std::size_t rows = groups / kGroups + 1;
  if (chunks <= rows) return maxima_;
  folded_.clear();
  folded_.reserve(rows * kGroups);
  in_chunks(rows * kGroups, checkpoint, [&](std::size_t begin, std::size_t end) {
    const auto some = std::span(maxima_).subspan(begin, end - begin);
    folded_.insert(folded_.end(), some.begin(), some.end());
  });
  for (std::size_t chunk = rows; chunk < chunks; ++chunk) {
    const Key* const maxima = &maxima_[chunk * kGroups];
    Key* const folded = &folded_[chunk % rows * kGroups];
    for (std::size_t i = 0; i < kGroups; ++i) folded[i] = std::max(folded[i], maxima[i]);
    if (chunk % kChunk == kChunk - 1) checkpoint();
  }
  return folded_;
}

// A key that at least `wanted` items reach, if there are as many that are no NaN, and not many
// more: of maxima if there are enough of them to tell these items apart, else of all items.
template <class Row>
auto ScoreRanker<Row>::bound(std::size_t wanted, const Checkpoint& checkpoint) -> Key {
  if (maxima_.size() >= 2 * wanted) {
    const std::span<const Key> maxima = fold_maxima(std::max(kNearGroups, 4 * wanted), checkpoint);
    return key_reached_by(wanted, least_, last_bound_, [&](Key key, Count& count) {
      in_chunks(maxima.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
        kernels_.count_beating(&maxima[begin], end - begin, &key, 1, 1, &count);
      });
    });
  }
  wanted += excluded_.size();  // which may be the best of all
  if (wanted >= size_) return least_;
  return key_reached_by(wanted, least_, last_bound_, [&](Key key, Count& count) {
    for_each_piece(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
      kernels_.count_beating(keys, size, &key, 1, 1, &count);
    });
  });
}

template <class Row>
void ScoreRanker<Row>::keep_best(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  if (entries_.size() <= keep) return;
  move_first(std::span(entries_), keep, better(ties), checkpoint);
  entries_.resize(keep);
}

// The best items that are no NaN, and some more. However many reach the bound, few are held at a
// time.
template <class Row>
void ScoreRanker<Row>::gather(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  const std::size_t room = std::min(2 * keep + 4 * kChunkScores, size_ + kChunkScores);
  entries_.reserve(room);
  Key least = bound(keep, checkpoint);
  bool done = false;
  const Key* keys = nullptr;  // of the chunk looked at
  std::size_t chunk = maxima_.size();
  const auto look_at = [&](std::size_t group) {
    const std::size_t begin = group / kGroups * kChunkScores;
    const std::size_t size = std::min(kChunkScores, size_ - begin);
    if (chunk != group / kGroups) keys = row_.piece(begin, size);
    chunk = group / kGroups;
    // Read once, as another thread may write to the scores.
    std::array<Entry, kChunkScores / kGroups> found;
    std::size_t count = 0;
    for (std::size_t i = group % kGroups; i < size; i += kGroups) {
      found[count] = {keys[i], static_cast<std::uint32_t>(begin + i)};
      count += found[count].key >= least ? 1U : 0U;
    }
    for (const Entry& entry : std::span(found).first(count)) {
      if (!is_excluded(entry.item)) entries_.push_back(entry);
    }
  };
  const std::size_t some = std::min<std::size_t>(4096, row_.piece_size() / kChunkScores * kGroups);
  reached_.resize(std::min(some, maxima_.size()));
  for (std::size_t begin = 0; begin < maxima_.size() && !done; begin += some) {
    const std::size_t size = std::min(some, maxima_.size() - begin);
    const std::size_t count = kernels_.find_at_least(&maxima_[begin], size, least, reached_.data());
    for (std::size_t i = 0; i < count && !done; ++i) {
      const std::size_t group = begin + reached_[i];
      if (maxima_[group] >= least) look_at(group);
      const bool last = i + 1 == count || (begin + reached_[i + 1]) / kGroups > group / kGroups;
      if (!last || entries_.size() + kChunkScores <= room) continue;
      keep_best(keep, ties, checkpoint);
      // Whoever comes must beat the last of these; one with the same key may do so by its id.
      least = std::max(least, entries_.back().key);
      if (better(ties).by_position()) least = successor(least, done);
    }
    checkpoint();
  }
}

// All that can be ranked and is no NaN.
template <class Row>
void ScoreRanker<Row>::gather_all() {
  const std::span<const Key> keys(row_.piece(0, size_), size_);
  entries_.resize(size_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const Entry entry{keys[i], static_cast<std::uint32_t>(i)};
    entries_[count] = entry;
    count += entry.key >= least_ && !is_excluded(i) ? 1U : 0U;
  }
  entries_.resize(count);
}

template <class Row>
void ScoreRanker<Row>::gather_nan(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  if (!has_nan_ || has_least_ || entries_.size() >= keep) return;
  const std::size_t room = 2 * keep + kChunkScores;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (!is_nan(entry.key) || is_excluded(entry.item)) return;
    entries_.push_back(entry);
    if (entries_.size() >= room) keep_best(keep, ties, checkpoint);
  });
}

template <class Row>
RankedList ScoreRanker<Row>::ranked(Count length, const Checkpoint& checkpoint) {
  const std::size_t size = entries_.size();
  grow(places_, size, Offset{0}, checkpoint);
  places_.resize(size);
  if (row_.listed()) grow(items_, size, std::int64_t{0}, checkpoint);
  items_.resize(row_.listed() ? size : 0);
  in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) places_[i] = row_.place(entries_[i].item);
    if (!row_.listed()) return;
    for (std::size_t i = begin; i < end; ++i) items_[i] = row_.ids()[entries_[i].item];
  });
  return {.items = row_.listed() ? items_ : places_,
          .places = places_,
          .ranks = ranks_,
          .ties = ties_,
          .length = length,
          .scored = static_cast<Count>(size_)};
}

// The best items and some more, in no order.
template <class Row>
void ScoreRanker<Row>::collect(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  entries_.clear();
  if (keep == 0) return;
  if (found_ && knows_best(static_cast<Count>(keep), ties)) {
    for (const auto& [score, item] : found_->best) {
      entries_.push_back({static_cast<Key>(score), item});
    }
    return;
  }
  if (!is_read_) read(checkpoint);
  if (size_ <= kCountedEntries && size_ <= 2 * keep) {  // no bound would leave many out
    gather_all();
  } else {
    gather(keep, ties, checkpoint);
  }
  gather_nan(keep, ties, checkpoint);
}

// Puts the best in order by how many of the others beat each: no branch depends on the keys.
// Returns whether that could be told: not where some are equal, or too many.
template <class Row>
bool ScoreRanker<Row>::order_by_counting(std::size_t keep) {
  const std::size_t size = entries_.size();
  if (size > kCountedEntries) return false;
  std::array<Key, kCountedEntries> keys;
  std::array<std::uint32_t, kCountedEntries> above;
  const std::size_t padded = (size + kCompared - 1) / kCompared * kCompared;
  for (std::size_t i = 0; i < padded; ++i) keys[i] = i < size ? entries_[i].key : kLowest<Key>;
  kernels_.count_above(keys.data(), size, padded, above.data());
  constexpr Entry kNone{kLowest<Key>, std::numeric_limits<std::uint32_t>::max()};
  ordered_.assign(std::min(keep, size), kNone);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t place = above[i];
    if (place >= ordered_.size()) continue;
    if (ordered_[place].item != kNone.item) return false;
    ordered_[place] = entries_[i];
  }
  entries_.swap(ordered_);
  return true;
}

// Puts the best in order, those of one key by comparing them.
template <class Row>
void ScoreRanker<Row>::order(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  if (entries_.size() <= kComparedEntries || entries_.size() > 8 * keep) {
    keep_best(keep, ties, checkpoint);
    sort(std::span(entries_), better(ties), checkpoint);
    return;
  }
  order_by_key(checkpoint);
  for (std::size_t begin = 0; begin < std::min(keep, entries_.size());) {
    std::size_t end = begin;
    do {
      if (++end % kChunk == 0) checkpoint();
    } while (end < entries_.size() && is_same(entries_[begin].key, entries_[end].key));
    const auto tied = std::span(entries_).subspan(begin, end - begin);
    const std::size_t kept = std::min(end, keep) - begin;
    if (kept < tied.size()) move_first(tied, kept, better(ties), checkpoint);
    if (tied.size() > 1) sort(tied.first(kept), better(ties), checkpoint);
    begin = end;
  }
  if (entries_.size() > keep) entries_.resize(keep);
}

template <class Row>
void ScoreRanker<Row>::order_by_key(const Checkpoint& checkpoint) {
  const auto code_of = [](const Entry& entry) { return descending_code(entry.key); };
  if (entries_.size() > kComparedEntries) {
    radix_sort(entries_, ordered_, code_of, checkpoint);
  } else {
    std::ranges::sort(entries_, {}, code_of);
  }
}

template <class Row>
RankedList ScoreRanker<Row>::best(Count depth, Ties ties, const Checkpoint& checkpoint) {
  ranks_.clear();
  ties_.clear();
  const Count all = length(checkpoint);
  sorted_ = static_cast<std::size_t>(std::min(all, depth));
  collect(sorted_, ties, checkpoint);
  if (!order_by_counting(sorted_)) order(sorted_, ties, checkpoint);
  return ranked(all, checkpoint);
}

template <class Row>
Count ScoreRanker<Row>::first_tied_rank() const noexcept {
  const auto tied = std::ranges::adjacent_find(
      entries_, [](const Entry& one, const Entry& next) { return is_same(one.key, next.key); });
  return tied == entries_.end() ? 0 : tied - entries_.begin() + 1;
}

template <class Row>
void ScoreRanker<Row>::find_split_ties(std::span<const Count> cutoffs, std::vector<bool>& split,
                                       const Checkpoint& checkpoint) {
  split.assign(cutoffs.size(), false);
  if (cutoffs.empty()) return;
  const auto wanted = static_cast<std::size_t>(std::min(length(checkpoint), cutoffs.back() + 1));
  if (sorted_ < wanted) {
    sorted_ = 0;
    // Of equal scores, whichever is known.
    const bool highest = found_ && found_->highest;
    collect(wanted, highest ? Ties::highest_id : Ties::lowest_id, checkpoint);
    order_by_key(checkpoint);
  }
  for (std::size_t i = 0; i < cutoffs.size(); ++i) {
    const auto cutoff = static_cast<std::size_t>(cutoffs[i]);
    split[i] = cutoff < entries_.size() && is_same(entries_[cutoff - 1].key, entries_[cutoff].key);
  }
}

// Those of the positions that are ranked, each once, best first.
template <class Row>
void ScoreRanker<Row>::choose(std::span<const std::int64_t> positions, Ties ties,
                              const Checkpoint& checkpoint) {
  entries_.clear();
  if (!recommends_) return;
  items_.clear();
  in_chunks(positions.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t item : positions.subspan(begin, end - begin)) {
      if (std::cmp_less(item, size_)) items_.push_back(item);
    }
  });
  sort(std::span(items_), std::less<>(), checkpoint);
  const auto repeats = std::ranges::unique(items_);
  items_.erase(repeats.begin(), repeats.end());
  const auto look_at = [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t position : std::span(items_).subspan(begin, end - begin)) {
      const auto item = static_cast<std::uint32_t>(position);
      const Entry entry{row_.at(item), item};
      if (is_rankable(entry.key, item)) entries_.push_back(entry);
    }
  };
  in_chunks(items_.size(), checkpoint, look_at, row_.piece_size());
  order(entries_.size(), ties, checkpoint);
}

// Which of the entries, best first, is the first that the item beats.
template <class Row>
std::size_t ScoreRanker<Row>::first_beaten(const Entry& item, const Better& better) const {
  const auto beaten = std::ranges::partition_point(
      entries_, [&](const Entry& entry) { return !better(item, entry); });
  return static_cast<std::size_t>(beaten - entries_.begin());
}

// Counts for each of the bounds how many keys reach it, and how many are above it.
template <class Row>
void ScoreRanker<Row>::count_reaching(const Checkpoint& checkpoint) {
  const std::size_t count = bounds_.size();
  bounds_.reserve(2 * count);
  bounds_.insert(bounds_.end(), bounds_.begin(), bounds_.begin() + static_cast<Offset>(count));
  counts_.assign(2 * count, 0);
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
    kernels_.count_beating(keys, size, bounds_.data(), count, 2 * count, counts_.data());
  });
}

// Adds to the rank of each entry how many of the row beat it, where of equal ones the lowest
// position wins, or the highest.
template <class Row>
void ScoreRanker<Row>::count_by_position(bool highest, const Checkpoint& checkpoint) {
  const std::size_t count = entries_.size();
  // Those first that equal keys beat: at the begin of the row all, or none.
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, [&](std::size_t one, std::size_t other) {
    return (entries_[one].item < entries_[other].item) == highest && one != other;
  });
  bounds_.clear();
  for (const std::size_t entry : order_) bounds_.push_back(entries_[entry].key);
  counts_.assign(count, 0);
  std::size_t passed = 0;  // entries whose position lies behind
  const auto next_position = [&](std::size_t end) {
    if (passed == count) return end;
    const Entry& next = entries_[order_[highest ? passed : count - 1 - passed]];
    return std::min<std::size_t>(end, next.item + (highest ? 1U : 0U));
  };
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t at = begin; at < begin + size;) {
      const std::size_t next = next_position(begin + size);
      kernels_.count_beating(keys + (at - begin), next - at, bounds_.data(),
                             highest ? passed : count - passed, count, counts_.data());
      passed += next < begin + size ? 1 : 0;
      at = next;
    }
  });
  for (std::size_t i = 0; i < count; ++i) ranks_[order_[i]] += counts_[i];
}

// Ranks each item by itself: how many beat it. Returns whether positions say who wins the ties.
template <class Row>
bool ScoreRanker<Row>::count_each(Ties ties, const Checkpoint& checkpoint) {
  const Better before_others = better(ties);
  if (before_others.ids != nullptr) {
    bounds_.clear();
    for (const Entry& entry : entries_) bounds_.push_back(entry.key);
    count_reaching(checkpoint);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Count above = counts_[entries_.size() + i];
      if (counts_[i] > above + 1) return false;
      ranks_[i] += above;
    }
  } else {
    count_by_position(before_others.highest, checkpoint);
  }
  // Those that are excluded beat nobody.
  beating_.assign(entries_.size() + 1, 0);
  for_each_excluded(checkpoint,
                    [&](const Entry& entry) { ++beating_[first_beaten(entry, before_others)]; });
  Count above = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) ranks_[i] -= above += beating_[i];
  return true;
}

// Ranks all at once: how many of them each item of the row beats.
template <class Row>
void ScoreRanker<Row>::count_all(Ties ties, const Checkpoint& checkpoint) {
  const Better before_others = better(ties);
  beating_.assign(entries_.size() + 1, 0);
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const Entry item{keys[i], static_cast<std::uint32_t>(begin + i)};
      if (is_rankable(item.key, item.item)) ++beating_[first_beaten(item, before_others)];
    }
  });
  Count above = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) ranks_[i] += above += beating_[i];
}

// Returns whether it is known how all entries stand.
template <class Row>
bool ScoreRanker<Row>::recall_standings() {
  standings_.clear();
  if (!found_ || !found_->standings) return false;
  const std::span<const ItemRank> known = *found_->standings;
  for (const Entry& entry : entries_) {
    const auto standing = std::ranges::lower_bound(known, entry.item, {}, &ItemRank::item);
    if (standing == known.end() || standing->item != entry.item) return false;
    standings_.push_back(*standing);
  }
  return true;
}

// The ranks of the entries by how they stand.
template <class Row>
void ScoreRanker<Row>::recall_ranks(Ties ties) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& [item, above, equal, before] = standings_[i];
    ranks_[i] = 1 + above + (better(ties).highest ? equal - 1 - before : before);
  }
}

// What count_tied counts.
template <class Row>
void ScoreRanker<Row>::recall_tied() {
  scores_.clear();
  score_ties_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0 && is_same(scores_.back(), entries_[i].key)) continue;
    scores_.push_back(entries_[i].key);
    score_ties_.push_back({.first = 1 + standings_[i].above, .last = standings_[i].equal});
  }
  beating_.assign(scores_.size() + 1, 0);
}

// Counts the items that score as each of the entries does, and those that score more.
template <class Row>
void ScoreRanker<Row>::count_tied(const Checkpoint& checkpoint) {
  scores_.clear();
  for (const Entry& entry : entries_) {
    if (scores_.empty() || !is_same(scores_.back(), entry.key)) scores_.push_back(entry.key);
  }
  score_ties_.assign(scores_.size(), Tie{.first = 1, .last = 0});  // last: so many for now
  beating_.assign(scores_.size() + 1, 0);
  const auto count = [&](Key key, Count times) {
    const auto place = std::ranges::partition_point(
        scores_, [&](Key score) { return score > key || (is_nan(key) && !is_nan(score)); });
    auto index = static_cast<std::size_t>(place - scores_.begin());
    if (place != scores_.end() && is_same(*place, key)) score_ties_[index++].last += times;
    beating_[index] += times;
  };
  const bool each = scores_.size() <= kCountedEach && !has_nan_;
  if (each) {
    bounds_ = scores_;
    count_reaching(checkpoint);
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      const Count above = counts_[scores_.size() + i];
      score_ties_[i].first += above;
      score_ties_[i].last += counts_[i] - above;
    }
  } else {
    for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) {
        if (is_rankable(keys[i], begin + i)) count(keys[i], 1);
      }
    });
  }
  if (each) for_each_excluded(checkpoint, [&](const Entry& entry) { count(entry.key, -1); });
}

// From the counts to the ranks, and the tie of each entry.
template <class Row>
void ScoreRanker<Row>::tell_ties() {
  Count beating = 0;
  Count above = 0;
  std::size_t entry = 0;
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    beating += beating_[i];
    const Count equal = score_ties_[i].last;
    Tie tie{.first = score_ties_[i].first + beating, .last = 0};
    std::size_t end = entry;
    while (end < entries_.size() && is_same(entries_[end].key, scores_[i])) ++end;
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
  sorted_ = 0;
  ranks_.clear();
  ties_.clear();
  choose(positions, ties, checkpoint);
  if (is_strict(ties)) {
    rank_entries(ties, checkpoint);
  } else {
    if (recall_standings()) {
      recall_tied();
    } else {
      count_tied(checkpoint);
    }
    tell_ties();
  }
  return ranked(length(checkpoint), checkpoint);
}

// The strict rank of each entry.
template <class Row>
void ScoreRanker<Row>::rank_entries(Ties ties, const Checkpoint& checkpoint) {
  ranks_.assign(entries_.size(), 1);
  // The kernel does not say where NaN stands.
  const bool each = entries_.size() <= kCountedEach && !has_nan_;
  if (recall_standings()) {
    recall_ranks(ties);
  } else if (!each || !count_each(ties, checkpoint)) {
    ranks_.assign(entries_.size(), 1);
    count_all(ties, checkpoint);
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
AnyScoreRanker make(const Source& source, const Kernels& kernels) {
  return with_key_of(source.type, [&]<class Key>(std::type_identity<Key>) -> AnyScoreRanker {
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
  return make(matrix, kernels);
}

AnyScoreRanker make_score_ranker(const SparseScores& candidates, const Kernels& kernels) {
  return make(candidates, kernels);
}

AnyScoreRanker make_score_ranker(const Embeddings& embeddings, const Kernels& kernels) {
  return ScoreRanker<EmbeddingRow>(EmbeddingRow(embeddings, kernels), embeddings.min_score,
                                   kernels.float64);
}

}  // namespace exactk
