// The order of keys: that of their numbers, NaN below all others.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace exactk {

template <class Key>
[[nodiscard]] bool is_nan(Key key) noexcept {
  if constexpr (std::is_floating_point_v<Key>) {
    return std::isnan(key);
  } else {
    return false;
  }
}

// Whether neither is before the other.
template <class Key>
[[nodiscard]] bool is_same_key(Key one, Key other) noexcept {
  return one == other || (is_nan(one) && is_nan(other));
}

// The key's bits as an integer that is in the order of the keys, and back: the same for both. No
// NaN.
template <class Key>
using KeyBits = std::conditional_t<sizeof(Key) == 4, std::int32_t, std::int64_t>;
template <class Key>
[[nodiscard]] KeyBits<Key> ordered_bits(KeyBits<Key> bits) noexcept {
  const bool is_flipped = std::is_floating_point_v<Key> && bits < 0;
  return is_flipped ? bits ^ std::numeric_limits<KeyBits<Key>>::max() : bits;
}

// A number that is the less the higher the key: the same for keys that are the same.
template <class Key>
[[nodiscard]] std::make_unsigned_t<KeyBits<Key>> descending_code(Key key) noexcept {
  using Code = std::make_unsigned_t<KeyBits<Key>>;
  if (is_nan(key)) return std::numeric_limits<Code>::max();
  key += Key{0};  // -0.0 becomes 0.0
  const auto ascending = static_cast<Code>(ordered_bits<Key>(std::bit_cast<KeyBits<Key>>(key)));
  return static_cast<Code>(std::numeric_limits<KeyBits<Key>>::max()) - ascending;
}

}  // namespace exactk
