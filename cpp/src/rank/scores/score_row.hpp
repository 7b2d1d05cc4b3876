// A user's scores in chunks of keys that the kernels compare: read in place if the kernels can,
// otherwise converted exactly. Scored items are addressed by position; their ids may differ from
// it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/prefetch.hpp"
#include "base/run.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"
#include "numeric/half.hpp"

namespace exactk {

// Maps a score type to its key type, which preserves values and order exactly.
template <class Visitor>
auto with_key_type(ScoreType type, const Visitor& visitor) {
  switch (type) {
    case ScoreType::float64:
    case ScoreType::int32:
    case ScoreType::uint32:
      return visitor(std::type_identity<double>{});
    case ScoreType::int64:
    case ScoreType::uint64:
      return visitor(std::type_identity<std::int64_t>{});
    default:
      return visitor(std::type_identity<float>{});
  }
}

// Returns the lowest number that is not below the bound: rounding may have gone down.
template <class Number>
[[nodiscard]] Number least_from(double bound) noexcept {
  const auto nearest = static_cast<Number>(bound);
  if (static_cast<double>(nearest) >= bound) return nearest;
  return std::nextafter(nearest, std::numeric_limits<Number>::infinity());
}

template <class Key>
class ScoreRow {
 public:
  using Score = Key;
  static constexpr bool kMayBeNan = true;

  ScoreRow(const ScoreMatrix& matrix, const Run& run);
  ScoreRow(const SparseScores& scores, const Run& run);

  [[nodiscard]] const Run& run() const noexcept { return run_; }

  void select_user(Count user);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // The most keys that one read returns.
  [[nodiscard]] static constexpr std::size_t chunk_size() noexcept { return kChunk; }
  // Returns keys at consecutive positions, valid until the next call.
  [[nodiscard]] const Key* read_chunk(std::size_t begin, std::size_t size);
  [[nodiscard]] Key key_at(std::size_t position) const noexcept;

  // Whether the items have ids other than their positions.
  [[nodiscard]] bool has_ids() const noexcept { return candidate_items_ != nullptr || is_sparse(); }
  // Returns the ids by position, if there are any. Ids of sparse scores are a copy from when the
  // user was selected.
  [[nodiscard]] std::span<const std::int64_t> ids() const noexcept {
    return candidate_items_ != nullptr ? columns_ : std::span<const std::int64_t>(ids_);
  }
  // Returns by position what breaks ties by id, if ids do not ascend with positions.
  [[nodiscard]] std::span<const std::int64_t> tie_ids() const noexcept {
    const bool are_by_column = !is_sparse() && candidate_items_ == nullptr;
    return are_by_column ? matrix_->tie_ids : std::span<const std::int64_t>(ids_);
  }
  // Whether the scores are sparse, with ids beside them.
  [[nodiscard]] bool is_sparse() const noexcept { return sparse_scores_ != nullptr; }
  // Whether ids ascend with positions.
  [[nodiscard]] bool ids_ascend() const noexcept { return ids_ascend_; }
  // Returns the offset within the stored row; for a matrix, the id.
  [[nodiscard]] Offset offset_of(std::size_t position) const noexcept {
    return static_cast<Offset>(candidate_items_ != nullptr ? column(position) : position);
  }

  // Returns the lowest key that reaches min_score; sets `none` if no score can.
  [[nodiscard]] Key least_key(double min_score, bool& none) const noexcept;

 private:
  void choose_layout(const std::byte* scores, std::ptrdiff_t row_stride);
  void select_row(Count user);
  void copy_ids(Count user);
  void prefetch_row(Count user) const;
  // The column is read again and another thread may have changed it, so it is clamped to existing
  // columns.
  [[nodiscard]] std::size_t column(std::size_t position) const noexcept {
    return std::min(static_cast<std::size_t>(columns_[position]), last_column_);
  }
  [[nodiscard]] const std::byte* address(std::size_t offset) const noexcept {
    return row_ + static_cast<std::ptrdiff_t>(offset) * stride_;
  }
  template <class Visitor>
  [[nodiscard]] auto with_score_type(const Visitor& visitor) const;

  const Run& run_;
  const ScoreMatrix* matrix_ = nullptr;  // one of the two is set
  const SparseScores* sparse_scores_ = nullptr;
  ScoreType type_;
  std::ptrdiff_t stride_;  // between scores
  bool has_native_layout_ = false;
  const Lists* candidate_items_ = nullptr;  // the only columns of a matrix that may be ranked
  std::size_t last_column_ = 0;
  std::vector<Key> keys_;  // converted keys
  // Per-user state.
  const std::byte* row_ = nullptr;
  std::size_t size_ = 0;
  std::span<const std::int64_t> columns_;  // by position: candidate items
  std::vector<std::int64_t> ids_;  // by position: ids of sparse scores, tie_ids of candidate items
  bool ids_ascend_ = true;
};

template <class Score>
Score read_score(const std::byte* from) noexcept {
  Score score;  // NOLINT(*-member-init)
  std::memcpy(&score, from, sizeof(score));
  return score;
}

// Converts a score in memory to a key.
template <class Key, class Score>
struct Conversion {
  static Key key(Score score) noexcept {
    if constexpr (std::is_same_v<Score, std::uint64_t>) {
      return std::bit_cast<std::int64_t>(score ^ (std::uint64_t{1} << 63U));
    } else {
      return static_cast<Key>(score);
    }
  }
};
struct Half {
  std::uint16_t bits;
};
template <class Key>
struct Conversion<Key, Half> {
  static Key key(Half half) noexcept { return from_half(half.bits); }
};

// Calls visitor(type_identity<Score>) with the type in memory, among those that have this key type.
template <class Key>
template <class Visitor>
auto ScoreRow<Key>::with_score_type(const Visitor& visitor) const {
  if constexpr (std::is_same_v<Key, float>) {
    switch (type_) {
      case ScoreType::float16:
        return visitor(std::type_identity<Half>{});
      case ScoreType::int8:
        return visitor(std::type_identity<std::int8_t>{});
      case ScoreType::int16:
        return visitor(std::type_identity<std::int16_t>{});
      case ScoreType::uint8:
        return visitor(std::type_identity<std::uint8_t>{});
      case ScoreType::uint16:
        return visitor(std::type_identity<std::uint16_t>{});
      default:
        return visitor(std::type_identity<float>{});
    }
  } else if constexpr (std::is_same_v<Key, double>) {
    switch (type_) {
      case ScoreType::int32:
        return visitor(std::type_identity<std::int32_t>{});
      case ScoreType::uint32:
        return visitor(std::type_identity<std::uint32_t>{});
      default:
        return visitor(std::type_identity<double>{});
    }
  } else {
    if (type_ == ScoreType::uint64) return visitor(std::type_identity<std::uint64_t>{});
    return visitor(std::type_identity<std::int64_t>{});
  }
}

template <class Key>
ScoreRow<Key>::ScoreRow(const ScoreMatrix& matrix, const Run& run)
    : run_(run),
      matrix_(&matrix),
      type_(matrix.type),
      stride_(matrix.item_stride),
      candidate_items_(matrix.candidates ? &*matrix.candidates : nullptr),
      last_column_(static_cast<std::size_t>(std::max(matrix.items, Count{1}) - 1)),
      size_(candidate_items_ != nullptr ? 0 : static_cast<std::size_t>(matrix.items)),
      ids_ascend_(matrix.tie_ids.empty()) {
  if (candidate_items_ == nullptr) choose_layout(matrix.scores, matrix.row_stride);
}

template <class Key>
ScoreRow<Key>::ScoreRow(const SparseScores& scores, const Run& run)
    : run_(run), sparse_scores_(&scores), type_(scores.type), stride_(scores.stride) {
  choose_layout(scores.scores, 0);
}

template <class Key>
void ScoreRow<Key>::choose_layout(const std::byte* scores, std::ptrdiff_t row_stride) {
  const auto is_key = []<class Score>(std::type_identity<Score>) {
    return std::is_same_v<Score, Key>;
  };
  constexpr auto kAlignment = static_cast<std::ptrdiff_t>(alignof(Key));
  has_native_layout_ = with_score_type(is_key) && std::cmp_equal(stride_, sizeof(Key)) &&
                       row_stride % kAlignment == 0 &&
                       reinterpret_cast<std::uintptr_t>(scores) % alignof(Key) == 0;
}

// Fetches the user's ids and scores while the user before is ranked. CPUs do so by themselves, but
// not beyond the page that is read.
template <class Key>
[[gnu::always_inline]] inline void ScoreRow<Key>::prefetch_row(Count user) const {
  const Lists& lists = sparse_scores_->items;
  if (user >= lists.row_count() || stride_ < 0) return;
  const std::size_t size = std::visit(
      [&](const auto& items) {
        const auto row = row_slice(items, lists, user);
        prefetch(row.data(), row.size_bytes());
        return row.size();
      },
      lists.items);
  prefetch(sparse_scores_->scores + lists.begin(user) * stride_,
           size * static_cast<std::size_t>(stride_));
}

template <class Key>
void ScoreRow<Key>::select_user(Count user) {
  if (is_sparse()) {
    row_ = sparse_scores_->scores + sparse_scores_->items.begin(user) * stride_;
    copy_ids(user);
    size_ = ids_.size();
    prefetch_row(user + 1);
    return;
  }
  select_row(user);
}

// Selects the user's row of the matrix, or an empty one.
template <class Key>
void ScoreRow<Key>::select_row(Count user) {
  const bool has_row = matrix_->has(user);
  row_ = has_row ? matrix_->scores + matrix_->row_of(user) * matrix_->row_stride : matrix_->scores;
  if (candidate_items_ == nullptr) {
    size_ = has_row ? static_cast<std::size_t>(matrix_->items) : 0;
    return;
  }
  const Lists& lists = *candidate_items_;
  columns_ = has_row ? int64_row_items(lists, lists.row_count() == 1 ? 0 : user)
                     : std::span<const std::int64_t>{};
  size_ = columns_.size();
  if (ids_ascend_) return;
  ids_.resize(size_);
  in_chunks(size_, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ids_[i] = matrix_->tie_ids[column(i)];
  });
}

// Copies the ids, because they break ties: an order that changes during a sort is not an order.
template <class Key>
void ScoreRow<Key>::copy_ids(Count user) {
  const Lists& lists = sparse_scores_->items;
  std::visit(
      [&](const auto& items) {
        const auto row = row_slice(items, lists, user);
        grow(ids_, row.size(), std::int64_t{0}, run_);
        ids_.resize(row.size());
        in_chunks(row.size(), run_, [&](std::size_t begin, std::size_t end) {
          // A plain loop, because insert and std::copy do not vectorize the conversion.
          for (std::size_t i = begin; i < end; ++i) ids_[i] = static_cast<std::int64_t>(row[i]);
        });
      },
      lists.items);
  // Unsorted ids are noticed in the first block.
  constexpr std::size_t kBlock = 64;
  ids_ascend_ = true;
  for (std::size_t begin = 1; begin < ids_.size() && ids_ascend_; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, ids_.size());
    std::size_t descents = 0;  // or repeats; without branches
    for (std::size_t i = begin; i < end; ++i) descents += ids_[i - 1] < ids_[i] ? 0U : 1U;
    ids_ascend_ = descents == 0;
    if (begin % kChunk == 1) run_.checkpoint();
  }
}

template <class Key>
const Key* ScoreRow<Key>::read_chunk(std::size_t begin, std::size_t size) {
  if (has_native_layout_) return reinterpret_cast<const Key*>(address(begin));
  if (keys_.size() < size) keys_.resize(size);
  return with_score_type([&]<class Score>(std::type_identity<Score>) -> const Key* {
    if (candidate_items_ != nullptr) {
      for (std::size_t i = 0; i < size; ++i) {
        keys_[i] = Conversion<Key, Score>::key(read_score<Score>(address(column(begin + i))));
      }
      return keys_.data();
    }
    const std::byte* from = address(begin);
    for (std::size_t i = 0; i < size; ++i, from += stride_) {
      keys_[i] = Conversion<Key, Score>::key(read_score<Score>(from));
    }
    return keys_.data();
  });
}

template <class Key>
Key ScoreRow<Key>::key_at(std::size_t position) const noexcept {
  const std::byte* const from = address(static_cast<std::size_t>(offset_of(position)));
  return with_score_type([&]<class Score>(std::type_identity<Score>) {
    return Conversion<Key, Score>::key(read_score<Score>(from));
  });
}

template <class Key>
Key ScoreRow<Key>::least_key(double min_score, bool& none) const noexcept {
  none = false;
  if constexpr (std::is_floating_point_v<Key>) {
    return least_from<Key>(min_score);
  } else {
    const bool is_unsigned = type_ == ScoreType::uint64;
    const double whole = std::ceil(min_score);
    const double lowest = is_unsigned ? 0 : -0x1p63;
    const double beyond = is_unsigned ? 0x1p64 : 0x1p63;
    none = whole >= beyond;
    if (none || whole <= lowest) return std::numeric_limits<Key>::min();
    return is_unsigned ? Conversion<Key, std::uint64_t>::key(static_cast<std::uint64_t>(whole))
                       : static_cast<std::int64_t>(whole);
  }
}

}  // namespace exactk
