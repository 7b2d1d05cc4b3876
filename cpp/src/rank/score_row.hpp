// A user's scores, some at a time, as keys that the kernels compare: in place where they lie as the
// kernels read them, else converted without a loss.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "checkpoint.hpp"
#include "metrik/scores.hpp"
#include "metrik/types.hpp"

namespace metrik {

// IEEE half precision: a sign, 5 bits of exponent, 10 of fraction.
[[nodiscard]] inline float from_half(std::uint16_t half) noexcept {
  const unsigned exponent = (half >> 10U) & 0x1fU;
  const unsigned fraction = half & 0x3ffU;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent != 0) {
    magnitude = std::bit_cast<float>(((exponent + 112) << 23U) | (fraction << 13U));
  } else {
    magnitude = static_cast<float>(fraction) * 0x1p-24F;  // subnormal
  }
  return half >> 15U != 0 ? -magnitude : magnitude;
}

template <class Key>
[[nodiscard]] bool is_nan(Key key) noexcept {
  if constexpr (std::is_floating_point_v<Key>) {
    return std::isnan(key);
  } else {
    return false;
  }
}

// Which keys scores of a type become: exactly, and in the same order.
template <class Visitor>
auto with_key_of(ScoreType type, const Visitor& visitor) {
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
  // So many of them at a time at most.
  static constexpr std::size_t kPiece = kChunk;

  explicit ScoreRow(const ScoreMatrix& matrix);

  void start(Count user) noexcept { row_ = matrix_.scores + user * matrix_.user_stride; }

  // Keys of consecutive items, valid until the next call.
  [[nodiscard]] const Key* piece(std::size_t begin, std::size_t size);
  [[nodiscard]] Key at(std::size_t item) const noexcept;

  // The key of the least score that a min_score lets pass; sets `none` if there is no such score.
  [[nodiscard]] Key least(double min_score, bool& none) const noexcept;

 private:
  [[nodiscard]] const std::byte* address(std::size_t item) const noexcept {
    return row_ + static_cast<std::ptrdiff_t>(item) * matrix_.item_stride;
  }
  template <class Visitor>
  [[nodiscard]] auto with_type(const Visitor& visitor) const;

  const ScoreMatrix& matrix_;
  const std::byte* row_ = nullptr;
  bool in_place_;
  std::vector<Key> keys_;  // converted
};

template <class Score>
Score read(const std::byte* from) noexcept {
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
auto ScoreRow<Key>::with_type(const Visitor& visitor) const {
  if constexpr (std::is_same_v<Key, float>) {
    switch (matrix_.type) {
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
    switch (matrix_.type) {
      case ScoreType::int32:
        return visitor(std::type_identity<std::int32_t>{});
      case ScoreType::uint32:
        return visitor(std::type_identity<std::uint32_t>{});
      default:
        return visitor(std::type_identity<double>{});
    }
  } else {
    if (matrix_.type == ScoreType::uint64) return visitor(std::type_identity<std::uint64_t>{});
    return visitor(std::type_identity<std::int64_t>{});
  }
}

template <class Key>
ScoreRow<Key>::ScoreRow(const ScoreMatrix& matrix) : matrix_(matrix) {
  const auto is_key = []<class Score>(std::type_identity<Score>) {
    return std::is_same_v<Score, Key>;
  };
  constexpr auto kAlignment = static_cast<std::ptrdiff_t>(alignof(Key));
  in_place_ = with_type(is_key) && std::cmp_equal(matrix.item_stride, sizeof(Key)) &&
              matrix.user_stride % kAlignment == 0 &&
              reinterpret_cast<std::uintptr_t>(matrix.scores) % alignof(Key) == 0;
}

template <class Key>
const Key* ScoreRow<Key>::piece(std::size_t begin, std::size_t size) {
  if (in_place_) return reinterpret_cast<const Key*>(address(begin));
  if (keys_.size() < size) keys_.resize(size);
  return with_type([&]<class Score>(std::type_identity<Score>) -> const Key* {
    const std::byte* from = address(begin);
    for (std::size_t i = 0; i < size; ++i, from += matrix_.item_stride) {
      keys_[i] = Conversion<Key, Score>::key(read<Score>(from));
    }
    return keys_.data();
  });
}

template <class Key>
Key ScoreRow<Key>::at(std::size_t item) const noexcept {
  return with_type([&]<class Score>(std::type_identity<Score>) {
    return Conversion<Key, Score>::key(read<Score>(address(item)));
  });
}

template <class Key>
Key ScoreRow<Key>::least(double min_score, bool& none) const noexcept {
  none = false;
  if constexpr (std::is_same_v<Key, double>) {
    return min_score;
  } else if constexpr (std::is_same_v<Key, float>) {
    // The least float that is not below: rounding may have gone down.
    const auto nearest = static_cast<float>(min_score);
    if (static_cast<double>(nearest) >= min_score) return nearest;
    return std::nextafter(nearest, std::numeric_limits<float>::infinity());
  } else {
    const bool is_unsigned = matrix_.type == ScoreType::uint64;
    const double whole = std::ceil(min_score);
    const double lowest = is_unsigned ? 0 : -0x1p63;
    const double beyond = is_unsigned ? 0x1p64 : 0x1p63;
    none = whole >= beyond;
    if (none || whole <= lowest) return std::numeric_limits<Key>::min();
    return is_unsigned ? Conversion<Key, std::uint64_t>::key(static_cast<std::uint64_t>(whole))
                       : static_cast<std::int64_t>(whole);
  }
}

}  // namespace metrik
