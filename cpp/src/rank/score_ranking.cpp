#include "rank/score_ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace metrik {
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

}  // namespace

template <class Key>
KeyRanking<Key>::KeyRanking(ScoreRow<Key> row, std::optional<double> min_score,
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

// Ids that ascend settle ties as the positions do.
template <class Key>
auto KeyRanking<Key>::better(Ties ties) const noexcept -> Better {
  const bool by_id = ties != Ties::input_order && !row_.ascends();
  return {.highest = ties == Ties::highest_id, .ids = by_id ? row_.ids().data() : nullptr};
}

// Calls body(keys, begin, size) for one piece after another.
template <class Key>
template <class Body>
void KeyRanking<Key>::for_each_piece(const Checkpoint& checkpoint, const Body& body) {
  constexpr std::size_t kPiece = ScoreRow<Key>::kPiece;
  for (std::size_t begin = 0; begin < size_; begin += kPiece) {
    const std::size_t size = std::min(kPiece, size_ - begin);
    body(row_.piece(begin, size), begin, size);
    if (size == kPiece) checkpoint();
  }
}

// Calls body(entry) for one item after another.
template <class Key>
template <class Body>
void KeyRanking<Key>::for_each_item(const Checkpoint& checkpoint, const Body& body) {
  for (std::size_t item = 0; item < size_; ++item) {
    if (item % kChunk == kChunk - 1) checkpoint();
    body(Entry{row_.at(item), static_cast<std::uint32_t>(item)});
  }
}

template <class Key>
void KeyRanking<Key>::mark_excluded(std::span<const std::int64_t> excluded,
                                    const Checkpoint& checkpoint) {
  in_chunks(excluded_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) excluded_bits_[excluded_[i] / 64] = 0;
  });
  excluded_.clear();
  grow(excluded_bits_, (size_ + 63) / 64, std::uint64_t{0}, checkpoint);
  in_chunks(excluded.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t position : excluded.subspan(begin, end - begin)) {
      const auto item = static_cast<std::uint64_t>(position);
      if (item >= size_ || is_excluded(item)) continue;
      excluded_bits_[item / 64] |= std::uint64_t{1} << (item % 64);
      excluded_.push_back(static_cast<std::uint32_t>(item));
    }
  });
}

template <class Key>
void KeyRanking<Key>::start(std::span<const std::int64_t> excluded, const Checkpoint& checkpoint) {
  size_ = row_.size();
  mark_excluded(excluded, checkpoint);
  has_nan_ = false;
  maxima_.resize((size_ + kChunkScores - 1) / kChunkScores * kGroups);
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    Key* const maxima = maxima_.data() + begin / kChunkScores * kGroups;
    const std::size_t chunks = size / kChunkScores;
    if (kernels_.group_maxima(keys, chunks, maxima)) has_nan_ = true;
    if (size % kChunkScores == 0) return;
    std::array<Key, kChunkScores> last;
    const auto rest = std::copy(keys + chunks * kChunkScores, keys + size, last.begin());
    std::fill(rest, last.end(), kLowest<Key>);
    if (kernels_.group_maxima(last.data(), 1, maxima + chunks * kGroups)) has_nan_ = true;
  });
}

template <class Key>
Count KeyRanking<Key>::count_nan(Offset& first, const Checkpoint& checkpoint) {
  Count count = 0;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (is_nan(entry.key) && count++ == 0) first = row_.place(entry.item);
  });
  return count;
}

template <class Key>
Count KeyRanking<Key>::length(const Checkpoint& checkpoint) {
  if (!recommends_) return 0;
  auto items = static_cast<Count>(size_);
  if (has_least_) {
    items = 0;
    for_each_piece(checkpoint, [&](const Key* keys, std::size_t, std::size_t size) {
      std::size_t above = 0;
      std::size_t equal = 0;
      kernels_.count_above(keys, size, least_, &above, &equal);
      items += static_cast<Count>(above + equal);
    });
  }
  in_chunks(excluded_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::uint32_t item : std::span(excluded_).subspan(begin, end - begin)) {
      items -= !has_least_ || row_.at(item) >= least_ ? 1 : 0;
    }
  });
  return std::max(items, Count{0});  // less only if another thread writes to the scores meanwhile
}

// A key that at least `wanted` items reach, if there are as many that are no NaN.
template <class Key>
Key KeyRanking<Key>::bound(std::size_t wanted, const Checkpoint& checkpoint) {
  // Few enough groups to choose among, and so many that the bound is close.
  const std::size_t chunks = maxima_.size() / kGroups;
  const std::size_t rows = std::min(chunks, 4 * wanted / kGroups + 1);
  if (rows * kGroups < wanted) return least_;
  folded_.assign(maxima_.begin(), maxima_.begin() + static_cast<std::ptrdiff_t>(rows * kGroups));
  for (std::size_t chunk = rows; chunk < chunks; ++chunk) {
    const Key* const maxima = &maxima_[chunk * kGroups];
    Key* const folded = &folded_[chunk % rows * kGroups];
    for (std::size_t i = 0; i < kGroups; ++i) folded[i] = std::max(folded[i], maxima[i]);
    if (chunk % kChunk == kChunk - 1) checkpoint();
  }
  const auto last = folded_.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::ranges::nth_element(folded_, last, std::greater<>());
  return std::max(least_, *last);
}

template <class Key>
void KeyRanking<Key>::keep_best(std::size_t keep, Ties ties) {
  if (entries_.size() <= keep) return;
  const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(keep - 1);
  std::ranges::nth_element(entries_, last, better(ties));
  entries_.resize(keep);
}

// The best items that are no NaN. However many reach the bound, few are held at a time.
template <class Key>
void KeyRanking<Key>::gather(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  const std::size_t room = std::min(2 * keep + 4 * kChunkScores, size_ + kChunkScores);
  Key least = bound(std::min(keep + excluded_.size(), size_), checkpoint);
  bool done = false;
  std::array<std::uint32_t, kChunkScores> found;
  const auto look_at = [&](std::size_t chunk) {
    const std::size_t begin = chunk * kChunkScores;
    const std::size_t size = std::min(kChunkScores, size_ - begin);
    const Key* const keys = row_.piece(begin, size);
    const std::size_t count = kernels_.find_at_least(keys, size, least, found.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto item = static_cast<std::uint32_t>(begin + found[i]);
      const Entry entry{keys[found[i]], item};
      // Compared again, as another thread may write to the scores.
      if (entry.key >= least && !is_excluded(item)) entries_.push_back(entry);
    }
    if (entries_.size() + kChunkScores <= room) return;
    keep_best(keep, ties);
    // Whoever comes must beat the last of these; one with the same key may do so by its id.
    least = std::max(least, entries_.back().key);
    if (better(ties).by_position()) least = successor(least, done);
  };
  constexpr std::size_t kSome = 4096;
  chunks_.resize(std::min(kSome, maxima_.size()));
  for (std::size_t begin = 0; begin < maxima_.size() && !done; begin += kSome) {
    const std::size_t size = std::min(kSome, maxima_.size() - begin);
    const std::size_t count = kernels_.find_at_least(&maxima_[begin], size, least, chunks_.data());
    std::size_t next = 0;  // chunk not yet looked at
    for (std::size_t i = 0; i < count && !done; ++i) {
      const std::size_t group = begin + chunks_[i];
      if (group / kGroups < next || maxima_[group] < least) continue;
      look_at(group / kGroups);
      next = group / kGroups + 1;
    }
    checkpoint();
  }
  keep_best(keep, ties);
}

template <class Key>
void KeyRanking<Key>::gather_nan(std::size_t keep, Ties ties, const Checkpoint& checkpoint) {
  if (!has_nan_ || has_least_ || entries_.size() >= keep) return;
  const std::size_t room = 2 * keep + kChunkScores;
  for_each_item(checkpoint, [&](const Entry& entry) {
    if (!is_nan(entry.key) || is_excluded(entry.item)) return;
    entries_.push_back(entry);
    if (entries_.size() >= room) keep_best(keep, ties);
  });
  keep_best(keep, ties);
}

template <class Key>
Ranked KeyRanking<Key>::ranked(Count length) {
  items_.clear();
  places_.clear();
  for (const Entry& entry : entries_) places_.push_back(row_.place(entry.item));
  if (row_.listed()) {
    for (const Entry& entry : entries_) items_.push_back(row_.ids()[entry.item]);
  }
  return {.items = row_.listed() ? items_ : places_,
          .places = places_,
          .ranks = ranks_,
          .length = length,
          .scored = static_cast<Count>(size_)};
}

template <class Key>
Ranked KeyRanking<Key>::best(Count depth, Ties ties, const Checkpoint& checkpoint) {
  entries_.clear();
  ranks_.clear();
  const Count all = length(checkpoint);
  const auto keep = static_cast<std::size_t>(std::clamp<Count>(all, 0, depth));
  if (keep > 0) {
    gather(keep, ties, checkpoint);
    gather_nan(keep, ties, checkpoint);
    sort(std::span(entries_), better(ties), checkpoint);
  }
  return ranked(all);
}

// Those of the positions that are ranked, each once, best first.
template <class Key>
void KeyRanking<Key>::choose(std::span<const std::int64_t> positions, Ties ties,
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
  in_chunks(items_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::int64_t position : std::span(items_).subspan(begin, end - begin)) {
      const auto item = static_cast<std::uint32_t>(position);
      const Entry entry{row_.at(item), item};
      if (is_rankable(entry.key, item)) entries_.push_back(entry);
    }
  });
  sort(std::span(entries_), better(ties), checkpoint);
}

// Which of the entries, best first, is the first that the item beats.
template <class Key>
std::size_t KeyRanking<Key>::first_beaten(const Entry& item, const Better& better) const {
  const auto beaten = std::ranges::partition_point(
      entries_, [&](const Entry& entry) { return !better(item, entry); });
  return static_cast<std::size_t>(beaten - entries_.begin());
}

// Ranks each item by itself: how many beat it. Returns whether positions say who wins the ties.
template <class Key>
bool KeyRanking<Key>::count_each(Ties ties, const Checkpoint& checkpoint) {
  const Better before_others = better(ties);
  bool settled = true;
  for_each_piece(checkpoint, [&](const Key* keys, std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const std::size_t before = std::clamp<std::size_t>(entry.item, begin, begin + size) - begin;
      std::size_t above[2];
      std::size_t equal[2];
      kernels_.count_above(keys, before, entry.key, &above[0], &equal[0]);
      kernels_.count_above(keys + before, size - before, entry.key, &above[1], &equal[1]);
      if (entry.item >= begin && entry.item < begin + size) --equal[1];  // it equals itself
      const std::size_t tied = before_others.highest ? equal[1] : equal[0];
      ranks_[i] += static_cast<Count>(above[0] + above[1] + tied);
      settled = settled && (before_others.ids == nullptr || equal[0] + equal[1] == 0);
    }
  });
  if (!settled) return false;
  // Those that are excluded beat nobody.
  beating_.assign(entries_.size() + 1, 0);
  in_chunks(excluded_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const std::uint32_t item : std::span(excluded_).subspan(begin, end - begin)) {
      ++beating_[first_beaten({row_.at(item), item}, before_others)];
    }
  });
  Count above = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) ranks_[i] -= above += beating_[i];
  return true;
}

// Ranks all at once: how many of them each item of the row beats.
template <class Key>
void KeyRanking<Key>::count_all(Ties ties, const Checkpoint& checkpoint) {
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

template <class Key>
Ranked KeyRanking<Key>::ranks_of(std::span<const std::int64_t> positions, Ties ties,
                                 const Checkpoint& checkpoint) {
  choose(positions, ties, checkpoint);
  ranks_.assign(entries_.size(), 1);
  // The kernel does not say where NaN stands.
  const bool each = entries_.size() <= kCountedEach && !has_nan_;
  if (!each || !count_each(ties, checkpoint)) {
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
  return ranked(length(checkpoint));
}

template class KeyRanking<float>;
template class KeyRanking<double>;
template class KeyRanking<std::int64_t>;

namespace {

template <class Source>
ScoreRanking make(const Source& source, const Kernels& kernels) {
  return with_key_of(source.type, [&]<class Key>(std::type_identity<Key>) -> ScoreRanking {
    ScoreRow<Key> row(source);
    if constexpr (std::is_same_v<Key, float>) {
      return KeyRanking<Key>(std::move(row), source.min_score, kernels.float32);
    } else if constexpr (std::is_same_v<Key, double>) {
      return KeyRanking<Key>(std::move(row), source.min_score, kernels.float64);
    } else {
      return KeyRanking<Key>(std::move(row), source.min_score, kernels.int64);
    }
  });
}

}  // namespace

ScoreRanking make_score_ranking(const ScoreMatrix& matrix, const Kernels& kernels) {
  return make(matrix, kernels);
}

ScoreRanking make_score_ranking(const CandidateScores& candidates, const Kernels& kernels) {
  return make(candidates, kernels);
}

}  // namespace metrik
