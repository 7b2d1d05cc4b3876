// A bound that as many keys reach as are wanted, without an order of the keys: by counting those
// that reach one bound after another, which takes a vector at a time.
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

// A key that at least so many reach, and hardly more if it can be had, or the least: by halving the
// range of keys. Begins near `last`, an answer to a question like this one, and leaves its own
// there. count(key, reaching) adds how many reach the key.
template <class Key, class Counting>
Key key_reached_by(std::size_t wanted, Key least, Key& last, const Counting& count) {
  using Distance = std::make_unsigned_t<Bits<Key>>;
  constexpr Distance kFar = Distance{1} << (8 * sizeof(Key) - 4);
  constexpr Distance kNear = kFar >> 10U;
  const auto bits_of = [](Key key) { return in_order<Key>(std::bit_cast<Bits<Key>>(key)); };
  const auto key_of = [](Bits<Key> bits) { return std::bit_cast<Key>(in_order<Key>(bits)); };
  Bits<Key> reached = bits_of(least);  // by enough, or the least there is
  Bits<Key> above = bits_of(kHighest<Key>);
  Bits<Key> probe = bits_of(last);
  if (probe <= reached || probe >= above) probe = std::midpoint(reached, above);
  for (Distance step = kNear; probe != reached; step = std::min(4 * step, kFar)) {
    Count reaching = 0;
    count(key_of(probe), reaching);
    const bool enough = std::cmp_greater_equal(reaching, wanted);
    (enough ? reached : above) = probe;
    if (enough && std::cmp_less_equal(reaching, wanted + wanted / 16)) break;
    const Bits<Key> middle = std::midpoint(reached, above);
    const auto distance = static_cast<Distance>(enough ? middle : above) -
                          static_cast<Distance>(enough ? reached : middle);
    const auto moved = static_cast<Bits<Key>>(std::min<Distance>(step, distance));
    probe = enough ? reached + moved : above - moved;
  }
  last = key_of(reached);
  return last;
}

}  // namespace exactk
