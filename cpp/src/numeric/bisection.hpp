// Finds a key that at least min_count keys reach, without sorting: it counts the keys that reach
// one candidate after another, which vectorizes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "exactk/types.hpp"
#include "numeric/key_order.hpp"

namespace exactk {

template <class Key>
inline constexpr Key kHighest = std::is_floating_point_v<Key> ? std::numeric_limits<Key>::infinity()
                                                              : std::numeric_limits<Key>::max();

// Bisects the range of keys for one that at least `min_count` keys reach, and at most a sixteenth
// more if possible; returns `least` if there is none. Starts near `last`, the result of a similar
// search, and stores its own result there. count(key, reaching) adds the number of keys that reach
// `key`.
template <class Key, class CountReaching>
Key find_threshold(std::size_t min_count, Key least, Key& last, const CountReaching& count) {
  using Distance = std::make_unsigned_t<KeyBits<Key>>;
  constexpr Distance kFar = Distance{1} << (8 * sizeof(Key) - 4);
  constexpr Distance kNear = kFar >> 10U;
  const auto bits_of = [](Key key) { return ordered_bits<Key>(std::bit_cast<KeyBits<Key>>(key)); };
  const auto key_of = [](KeyBits<Key> bits) { return std::bit_cast<Key>(ordered_bits<Key>(bits)); };
  KeyBits<Key> low = bits_of(least);  // reached by enough keys, or the least key
  KeyBits<Key> high = bits_of(kHighest<Key>);
  KeyBits<Key> probe = bits_of(last);
  if (probe <= low || probe >= high) probe = std::midpoint(low, high);
  for (Distance step = kNear; probe != low; step = std::min(4 * step, kFar)) {
    Count reaching = 0;
    count(key_of(probe), reaching);
    const bool enough = std::cmp_greater_equal(reaching, min_count);
    (enough ? low : high) = probe;
    if (enough && std::cmp_less_equal(reaching, min_count + min_count / 16)) break;
    const KeyBits<Key> midpoint = std::midpoint(low, high);
    const auto distance = static_cast<Distance>(enough ? midpoint : high) -
                          static_cast<Distance>(enough ? low : midpoint);
    const auto shift = static_cast<KeyBits<Key>>(std::min<Distance>(step, distance));
    probe = enough ? low + shift : high - shift;
  }
  last = key_of(low);
  return last;
}

}  // namespace exactk
