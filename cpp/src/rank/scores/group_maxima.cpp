#include "rank/scores/group_maxima.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "numeric/bisection.hpp"
#include "rank/embeddings/embedding_row.hpp"
#include "rank/scores/score_row.hpp"

namespace exactk {
namespace {

// This many maxima stay in the L1 cache, so they can be read several times cheaply.
constexpr std::size_t kNearGroups = 2048;

}  // namespace

template <class Row>
void GroupMaxima<Row>::read(RankableRow<Row>& row) {
  is_read_ = true;
  const std::size_t groups = (row.size() + kChunkScores - 1) / kChunkScores * kGroups;
  grow(maxima_, groups, Key{}, row.run());
  maxima_.resize(groups);
  const auto group_maxima = row.kernels().group_maxima;
  row.for_each_chunk([&](const Key* keys, std::size_t begin, std::size_t size) {
    const std::uint64_t* const excluded_bits = row.excluded_bits(begin);
    Key* const maxima = maxima_.data() + begin / kChunkScores * kGroups;
    const std::size_t chunks = size / kChunkScores;
    if (group_maxima(keys, chunks, excluded_bits, maxima)) row.note_nan();
    if (size % kChunkScores == 0) return;
    std::array<Key, kChunkScores> last;
    const auto rest = std::copy(keys + chunks * kChunkScores, keys + size, last.begin());
    std::fill(rest, last.end(), kLowestKey<Key>);
    const std::uint64_t* const last_excluded_bits =
        excluded_bits == nullptr ? nullptr : excluded_bits + chunks * kChunkScores / 64;
    Key* const last_maxima = maxima + chunks * kGroups;
    if (group_maxima(last.data(), 1, last_excluded_bits, last_maxima)) row.note_nan();
  });
}

// Returns the maxima of all groups or, if there are many, of at least `groups` sets of groups.
template <class Row>
auto GroupMaxima<Row>::fold(RankableRow<Row>& row, std::size_t groups) -> std::span<const Key> {
  const std::size_t chunks = maxima_.size() / kGroups;
  const std::size_t rows = groups / kGroups + 1;
  if (chunks <= rows) return maxima_;
  folded_maxima_.clear();
  folded_maxima_.reserve(rows * kGroups);
  in_chunks(rows * kGroups, row.run(), [&](std::size_t begin, std::size_t end) {
    const auto maxima = std::span(maxima_).subspan(begin, end - begin);
    folded_maxima_.insert(folded_maxima_.end(), maxima.begin(), maxima.end());
  });
  for (std::size_t chunk = rows; chunk < chunks; ++chunk) {
    const Key* const maxima = &maxima_[chunk * kGroups];
    Key* const folded = &folded_maxima_[chunk % rows * kGroups];
    for (std::size_t i = 0; i < kGroups; ++i) folded[i] = std::max(folded[i], maxima[i]);
    if (chunk % kChunk == kChunk - 1) row.run().checkpoint();
  }
  return folded_maxima_;
}

template <class Row>
auto GroupMaxima<Row>::find_bound(RankableRow<Row>& row, std::size_t min_count) -> Key {
  const auto count_beating = row.kernels().count_beating;
  if (maxima_.size() >= 2 * min_count) {
    const std::span<const Key> maxima = fold(row, std::max(kNearGroups, 4 * min_count));
    return find_threshold(
        min_count, row.least_rankable_key(), last_bound_, [&](Key key, Count& count) {
          in_chunks(maxima.size(), row.run(), [&](std::size_t begin, std::size_t end) {
            count_beating(&maxima[begin], end - begin, &key, 1, 1, &count);
          });
        });
  }
  min_count += row.excluded_count();  // excluded items may be the best of all
  if (min_count >= row.size()) return row.least_rankable_key();
  return find_threshold(min_count, row.least_rankable_key(), last_bound_,
                        [&](Key key, Count& count) {
                          row.for_each_chunk([&](const Key* keys, std::size_t, std::size_t size) {
                            count_beating(keys, size, &key, 1, 1, &count);
                          });
                        });
}

template class GroupMaxima<ScoreRow<float>>;
template class GroupMaxima<ScoreRow<double>>;
template class GroupMaxima<ScoreRow<std::int64_t>>;
template class GroupMaxima<EmbeddingRow>;

}  // namespace exactk
