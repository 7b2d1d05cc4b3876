#include "rank/scores/score_ranker.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace exactk {

template <class Row>
void ScoreRanker<Row>::load_scores(std::span<const std::int64_t> excluded,
                                   const Checkpoint& checkpoint) {
  row_.exclude(excluded, checkpoint);
  maxima_.clear();
  screening_.reset();
  if constexpr (Row::kMayBeNan) maxima_.read(row_, checkpoint);
}

template <class Row>
Count ScoreRanker<Row>::list_length(const Checkpoint& checkpoint) {
  if (screening_ && row_.has_min_score() && row_.can_rank()) return screening_->length;
  return row_.rankable_count(checkpoint);
}

// The list of the items, but for their ranks, ties and entries.
template <class Row>
RankedList ScoreRanker<Row>::make_ranked_list(std::span<const ScoredItem<Key>> items, Count length,
                                              const Checkpoint& checkpoint) {
  const bool is_sparse = row_.is_sparse();
  const std::size_t size = items.size();
  grow(offsets_, size, Offset{0}, checkpoint);
  offsets_.resize(size);
  if (is_sparse) grow(items_, size, std::int64_t{0}, checkpoint);
  items_.resize(is_sparse ? size : 0);
  in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) offsets_[i] = row_.offset_of(items[i].position);
    if (!is_sparse) return;
    for (std::size_t i = begin; i < end; ++i) items_[i] = row_.ids()[items[i].position];
  });
  return {.items = is_sparse ? items_ : offsets_,
          .offsets = offsets_,
          .length = length,
          .scored_end = static_cast<Count>(row_.size())};
}

template <class Row>
RankedList ScoreRanker<Row>::best(Count depth, Ties ties, const Checkpoint& checkpoint) {
  has_list_ = true;
  const Count length = list_length(checkpoint);
  const Count list_depth = std::min(length, depth);
  const auto size = static_cast<std::size_t>(list_depth);
  if (screening_ && has_best(list_depth, ties)) {
    selector_.select_from(screening_->best, row_, size, ties, checkpoint);
  } else {
    if (size > 0 && !maxima_.is_read()) maxima_.read(row_, checkpoint);
    selector_.select(row_, maxima_, size, ties, checkpoint);
  }
  return make_ranked_list(selector_.items(), length, checkpoint);
}

template <class Row>
RankedList ScoreRanker<Row>::best(Count depth, Ties ties, const TruthPositions& truth,
                                  const Checkpoint& checkpoint) {
  RankedList list = best(depth, ties, checkpoint);
  const auto items = selector_.items();
  entries_.clear();
  in_chunks(items.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const auto& item : items.subspan(begin, end - begin)) {
      const auto match =
          std::ranges::lower_bound(truth.positions, static_cast<std::int64_t>(item.position));
      const bool is_match = match != truth.positions.end() && *match == item.position;
      const auto index = static_cast<std::size_t>(match - truth.positions.begin());
      entries_.push_back(is_match ? truth.entry_at(index) : RankedList::kNoEntry);
    }
  });
  list.entries = entries_;
  return list;
}

template <class Row>
RankedList ScoreRanker<Row>::ranks_of(const TruthPositions& truth, Ties ties,
                                      const Checkpoint& checkpoint) {
  has_list_ = false;
  const auto screened = screening_ ? screening_->truth_ranks : std::nullopt;
  counter_.count(row_, truth, ties, screened, checkpoint);
  RankedList list = make_ranked_list(counter_.items(), list_length(checkpoint), checkpoint);
  list.entries = counter_.entries();
  list.ranks = counter_.ranks();
  list.ties = counter_.ties();
  return list;
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
