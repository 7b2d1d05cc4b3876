// A user's scores, some at a time, as keys that the kernels compare: read where they lie if the
// kernels can, else converted without a loss. What has a score is counted by its position;
// its id may be another number.
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

#include "base/checkpoint.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"
#include "numeric/half.hpp"

namespace exactk {

// Which keys scores of a type become: exactly, and in the same order.
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

template <class Key>
class ScoreRow {
 public:
  using Score = Key;
  static constexpr bool kMayBeNan = true;

  explicit ScoreRow(const ScoreMatrix& matrix);
  explicit ScoreRow(const SparseScores& scores);

  void select_user(Count user, const Checkpoint& checkpoint);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // At most so many keys are read at a time.
  [[nodiscard]] static constexpr std::size_t chunk_size() noexcept { return kChunk; }
  // Keys at consecutive positions, valid until the next call.
  [[nodiscard]] const Key* read_chunk(std::size_t begin, std::size_t size);
  [[nodiscard]] Key key_at(std::size_t position) const noexcept;

  // Whether the items have ids other than their positions.
  [[nodiscard]] bool has_ids() const noexcept { return candidate_items_ != nullptr || is_sparse(); }
  // The ids by position, if there are any: those of sparse scores as they were when the user was
  // selected.
  [[nodiscard]] std::span<const std::int64_t> ids() const noexcept {
    return candidate_items_ != nullptr ? columns_ : std::span<const std::int64_t>(ids_);
  }
  // Whether the scores are sparse: their ids stand beside them.
  [[nodiscard]] bool is_sparse() const noexcept { return sparse_scores_ != nullptr; }
  // Whether a later position has a higher id.
  [[nodiscard]] bool ids_ascend() const noexcept { return ids_ascend_; }
  // The offset within the row as it is stored: of a matrix, the id.
  [[nodiscard]] Offset offset_of(std::size_t position) const noexcept {
    return static_cast<Offset>(candidate_items_ != nullptr ? column(position) : position);
  }

  // The key of the least score that a min_score lets pass; sets `none` if there is no such score.
  [[nodiscard]] Key least_key(double min_score, bool& none) const noexcept;

 private:
  void choose_layout(const std::byte* scores, std::ptrdiff_t user_stride);
  void copy_ids(Count user, const Checkpoint& checkpoint);
  // The column is read again, and may be another by now: it must be one at least.
  [[nodiscard]] std::size_t column(std::size_t position) const noexcept {
    return std::min(static_cast<std::size_t>(columns_[position]), last_column_);
  }
  [[nodiscard]] const std::byte* address(std::size_t offset) const noexcept {
    return row_ + static_cast<std::ptrdiff_t>(offset) * stride_;
  }
  template <class Visitor>
  [[nodiscard]] auto with_score_type(const Visitor& visitor) const;

  const ScoreMatrix* matrix_ = nullptr;  // one of the two
  const SparseScores* sparse_scores_ = nullptr;
  ScoreType type_;
  std::ptrdiff_t stride_;  // from a score to the next
  bool has_native_layout_ = false;
  const Lists* candidate_items_ = nullptr;  // the only columns of a matrix that may be ranked
  std::size_t last_column_ = 0;
  std::vector<Key> keys_;  // converted
  // Of the user.
  const std::byte* row_ = nullptr;
  std::size_t size_ = 0;
  std::span<const std::int64_t> columns_;  // by position, of the candidate items
  std::vector<std::int64_t> ids_;          // by position, of sparse scores
  bool ids_ascend_ = true;
};

template <class Score>
Score read_score(const std::byte* from) noexcept {
  Score score;  // NOLINT(*-member-init)
  std::memcpy(&score, from, sizeof(score));
  return score;
}

// What a score in memory is as a key.
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

// Calls visitor(type_identity<Score>) with the type in memory, one of those that have this key.
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
ScoreRow<Key>::ScoreRow(const ScoreMatrix& matrix)
    : matrix_(&matrix),
      type_(matrix.type),
      stride_(matrix.item_stride),
      candidate_items_(matrix.candidates ? &*matrix.candidates : nullptr),
      last_column_(static_cast<std::size_t>(std::max(matrix.items, Count{1}) - 1)),
      size_(candidate_items_ != nullptr ? 0 : static_cast<std::size_t>(matrix.items)) {
  if (candidate_items_ == nullptr) choose_layout(matrix.scores, matrix.user_stride);
}

template <class Key>
ScoreRow<Key>::ScoreRow(const SparseScores& scores)
    : sparse_scores_(&scores), type_(scores.type), stride_(scores.stride) {
  choose_layout(scores.scores, 0);
}

template <class Key>
void ScoreRow<Key>::choose_layout(const std::byte* scores, std::ptrdiff_t user_stride) {
  const auto is_key = []<class Score>(std::type_identity<Score>) {
    return std::is_same_v<Score, Key>;
  };
  constexpr auto kAlignment = static_cast<std::ptrdiff_t>(alignof(Key));
  has_native_layout_ = with_score_type(is_key) && std::cmp_equal(stride_, sizeof(Key)) &&
                       user_stride % kAlignment == 0 &&
                       reinterpret_cast<std::uintptr_t>(scores) % alignof(Key) == 0;
}

template <class Key>
void ScoreRow<Key>::select_user(Count user, const Checkpoint& checkpoint) {
  if (is_sparse()) {
    row_ = sparse_scores_->scores + sparse_scores_->items.begin(user) * stride_;
    copy_ids(user, checkpoint);
    size_ = ids_.size();
    return;
  }
  row_ = matrix_->scores + user * matrix_->user_stride;
  if (candidate_items_ == nullptr) return;
  const Lists& lists = *candidate_items_;
  columns_ = int64_row_items(lists, lists.row_count() == 1 ? 0 : user);
  size_ = columns_.size();
}

// A copy, as ids break ties: an order that changes while they are sorted is none.
template <class Key>
void ScoreRow<Key>::copy_ids(Count user, const Checkpoint& checkpoint) {
  const Lists& lists = sparse_scores_->items;
  ids_.clear();
  ids_ascend_ = true;
  std::visit(
      [&](const auto& items) {
        const auto row = row_slice(items, lists, user);
        ids_.reserve(row.size());
        in_chunks(row.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
          const auto chunk = row.subspan(begin, end - begin);
          ids_.insert(ids_.end(), chunk.begin(), chunk.end());
          bool ascend = ids_ascend_;  // a copy, as a member is written at each turn
          for (std::size_t i = std::max(begin, std::size_t{1}); i < end; ++i) {
            ascend = (ids_[i - 1] < ids_[i]) & ascend;
          }
          ids_ascend_ = ascend;
        });
      },
      lists.items);
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
  if constexpr (std::is_same_v<Key, double>) {
    return min_score;
  } else if constexpr (std::is_same_v<Key, float>) {
    // The least float that is not below: rounding may have gone down.
    const auto nearest = static_cast<float>(min_score);
    if (static_cast<double>(nearest) >= min_score) return nearest;
    return std::nextafter(nearest, std::numeric_limits<float>::infinity());
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
