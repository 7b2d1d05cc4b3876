// A user's row of scores with its rankable items: those that are not excluded and score at least
// min_score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "numeric/key_order.hpp"
#include "rank/score_order.hpp"

namespace exactk {

template <class Key>
inline constexpr Key kLowestKey =
    std::is_floating_point_v<Key> ? -std::numeric_limits<Key>::infinity()
                                  : std::numeric_limits<Key>::min();

// `Row` reads the scores: a ScoreRow or an EmbeddingRow.
template <class Row>
class RankableRow : public Row {
 public:
  using Key = Row::Score;
  using Item = ScoredItem<Key>;
  using Better = BetterItem<Key>;

  RankableRow(Row row, std::optional<double> min_score, const ScoreKernels<Key>& kernels);

  [[nodiscard]] const ScoreKernels<Key>& kernels() const noexcept { return kernels_; }

  // Call after selecting a user. Ignores positions beyond the end of the row.
  void exclude(std::span<const std::int64_t> positions);
  [[nodiscard]] std::size_t excluded_count() const noexcept { return excluded_positions_.size(); }
  // Returns one bit per item, starting at a whole chunk, or null if no item is excluded.
  [[nodiscard]] const std::uint64_t* excluded_bits(std::size_t begin) const noexcept {
    return excluded_positions_.empty() ? nullptr : &excluded_bits_[begin / 64];
  }
  [[nodiscard]] bool is_excluded(std::size_t position) const noexcept {
    return (excluded_bits_[position / 64] >> (position % 64) & 1U) != 0;
  }

  // Whether a NaN was read, even for an excluded item.
  [[nodiscard]] bool has_nan() const noexcept { return has_nan_; }
  void note_nan() noexcept { has_nan_ = true; }
  // Counts the NaN scores and sets `first` to the offset of the first one.
  [[nodiscard]] Count count_nan(Offset& first);

  [[nodiscard]] bool has_min_score() const noexcept { return has_min_score_; }
  // The lowest rankable key, NaN aside.
  [[nodiscard]] Key least_rankable_key() const noexcept { return least_rankable_key_; }
  // Whether any score can be high enough.
  [[nodiscard]] bool can_rank() const noexcept { return can_rank_; }
  [[nodiscard]] bool is_rankable(Key key, std::size_t position) const noexcept {
    return !is_excluded(position) &&
           (key >= least_rankable_key_ || (!has_min_score_ && is_nan(key)));
  }
  // Returns the score of the item at the position, or nullopt if it may not be ranked.
  [[nodiscard]] std::optional<Key> rankable_score(std::size_t position) {
    const Key key = this->key_at(position);
    return is_rankable(key, position) ? std::optional(key) : std::nullopt;
  }
  // Whether items may be left out for scoring -inf or NaN.
  [[nodiscard]] bool may_mask() const noexcept {
    return has_min_score_ && std::is_floating_point_v<Key>;
  }
  // Whether the item at the position is left out for scoring -inf or NaN.
  [[nodiscard]] bool is_masked(std::size_t position) {
    const Key key = this->key_at(position);
    return may_mask() && !is_excluded(position) && !(key >= least_rankable_key_) &&
           !(key > -std::numeric_limits<Key>::infinity());
  }

  // Number of items that are not excluded.
  [[nodiscard]] Count candidate_count() const noexcept {
    return static_cast<Count>(this->size() - excluded_positions_.size());
  }
  // Number of rankable items.
  [[nodiscard]] Count rankable_count();

  // Returns the order of the items. Ascending ids break ties as positions do.
  [[nodiscard]] Better order(Ties ties) const noexcept {
    const bool is_by_id = ties != Ties::input_order && !this->ids_ascend();
    return {.highest_first = ties == Ties::highest_id,
            .ids = is_by_id ? this->tie_ids().data() : nullptr};
  }

  // Calls body(keys, begin, size) for each chunk of positions in order.
  template <class Body>
  void for_each_chunk(const Body& body) {
    const std::size_t chunk_size = this->chunk_size();
    for (std::size_t begin = 0; begin < this->size(); begin += chunk_size) {
      const std::size_t size = std::min(chunk_size, this->size() - begin);
      body(this->read_chunk(begin, size), begin, size);
      if (size == chunk_size) this->run().checkpoint();
    }
  }
  // Calls body(item) for each item.
  template <class Body>
  void for_each_item(const Body& body) {
    const auto visit_range = [&](std::size_t begin, std::size_t end) {
      for (std::size_t position = begin; position < end; ++position) {
        body(Item{this->key_at(position), static_cast<std::uint32_t>(position)});
      }
    };
    in_chunks(this->size(), this->run(), visit_range, this->chunk_size());
  }
  // Calls body(item) for each excluded item.
  template <class Body>
  void for_each_excluded(const Body& body) {
    const auto visit_range = [&](std::size_t begin, std::size_t end) {
      for (const std::uint32_t position :
           std::span(excluded_positions_).subspan(begin, end - begin)) {
        body(Item{this->key_at(position), position});
      }
    };
    in_chunks(excluded_positions_.size(), this->run(), visit_range, this->chunk_size());
  }

 private:
  void clear_excluded();

  const ScoreKernels<Key>& kernels_;
  Key least_rankable_key_ = kLowestKey<Key>;
  bool has_min_score_;
  bool can_rank_ = true;
  // Per-user state.
  bool has_nan_ = false;
  std::vector<std::uint32_t> excluded_positions_;  // each once
  std::vector<std::uint64_t> excluded_bits_;       // one per item, in whole chunks
};

}  // namespace exactk
