#include "rank/scores/score_ranker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace exactk {

template <class Row>
void ScoreRanker<Row>::load_scores(std::span<const std::int64_t> excluded) {
  row_.exclude(excluded);
  maxima_.clear();
  screening_.reset();
  if constexpr (Row::kMayBeNan) maxima_.read(row_);
}

template <class Row>
Count ScoreRanker<Row>::list_length() {
  if (screening_ && row_.has_min_score() && row_.can_rank()) return screening_->length;
  return row_.rankable_count();
}

template <class Row>
void ScoreRanker<Row>::select_best(Count depth, Count length, Ties ties) {
  if (has_list_ && list_ties_ == ties && list_depth_ >= depth) return;
  has_list_ = true;
  list_ties_ = ties;
  list_depth_ = depth;
  const Count list_depth = std::min(length, depth);
  const auto size = static_cast<std::size_t>(list_depth);
  if (screening_ && has_best(list_depth, ties)) {
    selector_.select_from(screening_->best, row_, size, ties);
  } else {
    if (size > 0 && !maxima_.is_read()) maxima_.read(row_);
    selector_.select(row_, maxima_, size, ties);
  }
}

template <class Row>
RankedList ScoreRanker<Row>::best(Count depth, Ties ties) {
  const Count length = list_length();
  select_best(depth, length, ties);
  const auto items =
      selector_.items().first(std::min(selector_.items().size(), static_cast<std::size_t>(depth)));
  const std::size_t size = items.size();
  grow(offsets_, size, Offset{0}, row_.run());
  offsets_.resize(size);
  in_chunks(size, row_.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) offsets_[i] = row_.offset_of(items[i].position);
  });
  return {.offsets = offsets_,
          .length = length,
          .scored_end = static_cast<Count>(row_.size()),
          .excluded_bits = row_.excluded_bits(0)};
}

template <class Row>
RankedList ScoreRanker<Row>::best_entries(Count depth, Ties ties, const TruthPositions& truth) {
  const Count length = list_length();
  select_best(depth, length, ties);
  const auto items =
      selector_.items().first(std::min(selector_.items().size(), static_cast<std::size_t>(depth)));
  const std::size_t row_size = row_.size();
  // Never cleared: a stale index refers to an item at another position, and so is ignored.
  grow(list_indices_, row_size, std::uint32_t{0}, row_.run());
  entries_.clear();
  grow(entries_, items.size(), RankedList::kNoEntry, row_.run());
  in_chunks(items.size(), row_.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      list_indices_[items[i].position] = static_cast<std::uint32_t>(i);
    }
  });
  in_chunks(truth.positions.size(), row_.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto position = static_cast<std::size_t>(truth.positions[i]);
      if (position >= row_size) continue;
      const std::size_t index = list_indices_[position];
      if (index >= items.size() || items[index].position != position) continue;
      if (entries_[index] == RankedList::kNoEntry) entries_[index] = truth.entry_at(i);
    }
  });
  return {.entries = entries_,
          .length = length,
          .scored_end = static_cast<Count>(row_.size()),
          .excluded_bits = row_.excluded_bits(0)};
}

template <class Row>
RankedList ScoreRanker<Row>::ranks_of(const TruthPositions& truth, Ties ties) {
  has_list_ = false;
  const auto screened = screening_ ? screening_->truth_ranks : std::nullopt;
  counter_.count(row_, truth, ties, screened);
  return {.entries = counter_.entries(),
          .ranks = counter_.ranks(),
          .ties = counter_.ties(),
          .length = list_length(),
          .scored_end = static_cast<Count>(row_.size()),
          .excluded_bits = row_.excluded_bits(0)};
}

template <class Row>
RankedList ScoreRanker<Row>::ranks_of_best(Count depth, const TruthPositions& truth) {
  const Count length = list_length();
  select_best(depth + 1, length, Ties::lowest_id);
  const auto size = static_cast<std::size_t>(depth);
  const auto items = selector_.items().first(std::min(selector_.items().size(), size));
  const bool is_split = selector_.items().size() > size && size > 0 && ties_with_next(size - 1);
  counter_.count_listed(row_, truth, items, is_split);
  return {.entries = counter_.entries(),
          .ranks = counter_.ranks(),
          .ties = counter_.ties(),
          .length = length,
          .scored_end = static_cast<Count>(row_.size()),
          .excluded_bits = row_.excluded_bits(0)};
}

template class ScoreRanker<ScoreRow<float>>;
template class ScoreRanker<ScoreRow<double>>;
template class ScoreRanker<ScoreRow<std::int64_t>>;
template class ScoreRanker<EmbeddingRow>;

namespace {

template <class Source>
AnyScoreRanker make_row_ranker(const Source& source, const Kernels& kernels, const Run& run) {
  return with_key_type(source.type, [&]<class Key>(std::type_identity<Key>) -> AnyScoreRanker {
    ScoreRow<Key> row(source, run);
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

AnyScoreRanker make_score_ranker(const ScoreMatrix& matrix, const Kernels& kernels,
                                 const Run& run) {
  return make_row_ranker(matrix, kernels, run);
}

AnyScoreRanker make_score_ranker(const SparseScores& scores, const Kernels& kernels,
                                 const Run& run) {
  return make_row_ranker(scores, kernels, run);
}

AnyScoreRanker make_score_ranker(const Embeddings& embeddings, const Kernels& kernels,
                                 const Run& run) {
  return ScoreRanker<EmbeddingRow>(EmbeddingRow(embeddings, kernels, run), embeddings.min_score,
                                   kernels.float64);
}

}  // namespace exactk
