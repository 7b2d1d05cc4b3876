// The order of sort keys: numeric, with NaN below all numbers.
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

// Whether neither key orders before the other.
template <class Key>
[[nodiscard]] bool is_same_key(Key one, Key other) noexcept {
  return one == other || (is_nan(one) && is_nan(other));
}

// Maps a key's bits to an integer that orders as the keys do. The mapping is its own inverse. Not
// for NaN.
template <class Key>
using KeyBits = std::conditional_t<sizeof(Key) == 4, std::int32_t, std::int64_t>;
template <class Key>
[[nodiscard]] KeyBits<Key> ordered_bits(KeyBits<Key> bits) noexcept {
  const bool is_flipped = std::is_floating_point_v<Key> && bits < 0;
  return is_flipped ? bits ^ std::numeric_limits<KeyBits<Key>>::max() : bits;
}

// Returns a code that descends as keys ascend; equal keys share one code.
template <class Key>
[[nodiscard]] std::make_unsigned_t<KeyBits<Key>> descending_code(Key key) noexcept {
  using Unsigned = std::make_unsigned_t<KeyBits<Key>>;
  if (is_nan(key)) return std::numeric_limits<Unsigned>::max();
  key += Key{0};  // -0.0 becomes 0.0
  const auto ascending = static_cast<Unsigned>(ordered_bits<Key>(std::bit_cast<KeyBits<Key>>(key)));
  return static_cast<Unsigned>(std::numeric_limits<KeyBits<Key>>::max()) - ascending;
}

}  // namespace exactk
