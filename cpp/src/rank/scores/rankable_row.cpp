#include "rank/scores/rankable_row.hpp"

#include <utility>

#include "rank/embeddings/embedding_row.hpp"
#include "rank/scores/score_row.hpp"

namespace exactk {

template <class Row>
RankableRow<Row>::RankableRow(Row row, std::optional<double> min_score,
                              const ScoreKernels<Key>& kernels)
    : Row(std::move(row)), kernels_(kernels), has_min_score_(min_score.has_value()) {
  if (!has_min_score_) return;
  bool none = false;
  least_rankable_key_ = this->least_key(*min_score, none);
  can_rank_ = !none;
}

template <class Row>
void RankableRow<Row>::exclude(std::span<const std::int64_t> positions) {
  has_nan_ = false;
  clear_excluded();
  constexpr std::size_t kWords = kChunkScores / 64;
  const std::size_t size = this->size();
  grow(excluded_bits_, (size / kChunkScores + 1) * kWords, std::uint64_t{0}, this->run());
  excluded_positions_.reserve(positions.size());
  in_chunks(positions.size(), this->run(), [&](std::size_t begin, std::size_t end) {
    std::size_t count = excluded_positions_.size();
    excluded_positions_.resize(count + end - begin);
    std::uint64_t* const bits = excluded_bits_.data();
    std::uint32_t* const excluded = excluded_positions_.data();
    for (const std::int64_t signed_position : positions.subspan(begin, end - begin)) {
      const auto position = static_cast<std::uint64_t>(signed_position);
      if (position >= size) continue;
      const std::uint64_t bit = std::uint64_t{1} << (position % 64);
      const std::uint64_t word = bits[position / 64];
      bits[position / 64] = word | bit;
      excluded[count] = static_cast<std::uint32_t>(position);
      count += (word & bit) == 0 ? 1U : 0U;
    }
    excluded_positions_.resize(count);
  });
}

// Clears the bits of the previous user: all, unless few of many are set.
template <class Row>
void RankableRow<Row>::clear_excluded() {
  if (excluded_positions_.size() >= excluded_bits_.size()) {
    in_chunks(excluded_bits_.size(), this->run(), [&](std::size_t begin, std::size_t end) {
      std::ranges::fill(std::span(excluded_bits_).subspan(begin, end - begin), 0);
    });
  } else {
    in_chunks(excluded_positions_.size(), this->run(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) excluded_bits_[excluded_positions_[i] / 64] = 0;
    });
  }
  excluded_positions_.clear();
}

template <class Row>
Count RankableRow<Row>::count_nan(Offset& first) {
  Count count = 0;
  for_each_item([&](const Item& item) {
    if (is_nan(item.key) && count++ == 0) first = this->offset_of(item.position);
  });
  return count;
}

template <class Row>
Count RankableRow<Row>::rankable_count() {
  if (!can_rank_) return 0;
  if (!has_min_score_) return candidate_count();
  Count items = 0;
  for_each_chunk([&](const Key* keys, std::size_t, std::size_t size) {
    kernels_.count_beating(keys, size, &least_rankable_key_, 1, 1, &items);
  });
  for_each_excluded([&](const Item& item) { items -= item.key >= least_rankable_key_ ? 1 : 0; });
  return std::max(items, Count{0});  // negative only if another thread writes to the scores
}

template class RankableRow<ScoreRow<float>>;
template class RankableRow<ScoreRow<double>>;
template class RankableRow<ScoreRow<std::int64_t>>;
template class RankableRow<EmbeddingRow>;

}  // namespace exactk
