// Kernels for ranking scores without sorting: the maxima of groups, which give a bound; the scores
// that reach a bound; and the number of scores that beat others.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

inline constexpr std::size_t kWord = 64;  // scores whose bits are in one integer

// Comparisons with NaN are false, so NaN is never the greatest nor at least anything.
template <class Lanes, bool masked>
bool group_maxima(const typename Lanes::Score* scores, std::size_t chunks,
                  const std::uint64_t* excluded, typename Lanes::Score* maxima) {
  using Vector = Lanes::Vector;
  constexpr std::size_t kVectors = kGroups / Lanes::kWidth;
  auto nan_mask = Lanes::empty_mask();
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    Vector greatest[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) greatest[v] = Lanes::broadcast(Lanes::kLowest);
    for (std::size_t word = 0; word < kChunkScores / kWord; ++word) {
      const std::uint64_t bits = masked ? excluded[word] : 0;
#pragma GCC unroll 16  // so that the bits are spread over a vector once
      for (std::size_t i = 0; i < kWord; i += Lanes::kWidth) {
        const std::size_t v = i / Lanes::kWidth % kVectors;
        const Vector values = Lanes::load(scores + word * kWord + i);
        nan_mask |= Lanes::is_nan(values);
        if constexpr (masked) {
          greatest[v] = Lanes::greater_of(Lanes::lower_where(values, bits, i), greatest[v]);
        } else {
          greatest[v] = Lanes::greater_of(values, greatest[v]);
        }
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      Lanes::store(maxima + v * Lanes::kWidth, greatest[v]);
    }
    scores += kChunkScores;
    maxima += kGroups;
    if constexpr (masked) excluded += kChunkScores / kWord;
  }
  return nan_mask != 0;
}

template <class Lanes>
bool group_maxima(const typename Lanes::Score* scores, std::size_t chunks,
                  const std::uint64_t* excluded, typename Lanes::Score* maxima) {
  return excluded == nullptr ? group_maxima<Lanes, false>(scores, chunks, excluded, maxima)
                             : group_maxima<Lanes, true>(scores, chunks, excluded, maxima);
}

// Calls visitor(position) with the positions of the scores that are at least `least`, ascending.
template <class Lanes, class Visitor>
void visit_at_least(const typename Lanes::Score* scores, std::size_t size,
                    typename Lanes::Score least, const Visitor& visitor) {
  const auto bound = Lanes::broadcast(least);
  std::size_t begin = 0;
  for (; begin + kWord <= size; begin += kWord) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < kWord; i += Lanes::kWidth) {
      bits |= std::uint64_t{Lanes::at_least(Lanes::load(scores + begin + i), bound)} << i;
    }
    for (; bits != 0; bits &= bits - 1) {
      visitor(begin + static_cast<std::size_t>(__builtin_ctzll(bits)));
    }
  }
  for (; begin < size; ++begin) {
    if (scores[begin] >= least) visitor(begin);
  }
}

template <class Lanes>
std::size_t find_at_least(const typename Lanes::Score* scores, std::size_t size,
                          typename Lanes::Score least, std::uint32_t* positions) {
  std::size_t count = 0;
  visit_at_least<Lanes>(scores, size, least, [&](std::size_t position) {
    positions[count++] = static_cast<std::uint32_t>(position);
  });
  return count;
}

template <class Lanes>
std::size_t list_at_least(const typename Lanes::Score* scores, std::size_t size,
                          typename Lanes::Score least, std::uint32_t first,
                          typename Lanes::Score* listed, std::uint32_t* positions) {
  std::size_t count = 0;
  visit_at_least<Lanes>(scores, size, least, [&](std::size_t position) {
    listed[count] = scores[position];
    positions[count++] = first + static_cast<std::uint32_t>(position);
  });
  return count;
}

// Reads `size` scores, at most 64, once and compares them with one bound after another.
// `counted_mask` has one bit per score.
template <class Lanes, std::size_t size>
void count_beating_block(const typename Lanes::Score* scores, const typename Lanes::Score* bounds,
                         std::size_t strict, std::size_t bound_count, std::uint64_t counted_mask,
                         std::int64_t* counts) {
  for (std::size_t i = 0; i < bound_count; ++i) {
    const auto bound = Lanes::broadcast(bounds[i]);
    std::uint64_t bits = 0;
    for (std::size_t lane = 0; lane < size; lane += Lanes::kWidth) {
      const auto values = Lanes::load(scores + lane);
      const std::uint64_t beating_mask =
          i < strict ? Lanes::at_least(values, bound) : Lanes::above(values, bound);
      bits |= beating_mask << lane;
    }
    counts[i] += Lanes::count(bits & counted_mask);
  }
}

template <class Lanes>
void count_beating(const typename Lanes::Score* scores, std::size_t size,
                   const typename Lanes::Score* bounds, std::size_t strict, std::size_t bound_count,
                   std::int64_t* counts) {
  constexpr std::uint64_t kAllScores = ~std::uint64_t{0};
  std::size_t begin = 0;
  for (; begin + kWord <= size; begin += kWord) {
    count_beating_block<Lanes, kWord>(scores + begin, bounds, strict, bound_count, kAllScores,
                                      counts);
  }
  for (; begin + Lanes::kWidth <= size; begin += Lanes::kWidth) {
    count_beating_block<Lanes, Lanes::kWidth>(scores + begin, bounds, strict, bound_count,
                                              kAllScores, counts);
  }
  if (begin == size) return;
  typename Lanes::Score last[Lanes::kWidth];
  for (std::size_t i = 0; i < Lanes::kWidth; ++i) {
    last[i] = begin + i < size ? scores[begin + i] : Lanes::kLowest;
  }
  const std::uint64_t counted_mask = (std::uint64_t{1} << (size - begin)) - 1;
  count_beating_block<Lanes, Lanes::kWidth>(last, bounds, strict, bound_count, counted_mask,
                                            counts);
}

// Counts whole vectors for a few bounds at once.
template <class Lanes, std::size_t bound_count>
void count_around_bounds(const typename Lanes::Score* scores, std::size_t size,
                         const typename Lanes::Score* bounds, std::int64_t* above,
                         std::int64_t* below) {
  typename Lanes::Vector broadcast[bound_count];
  typename Lanes::Counts above_counts[bound_count];
  typename Lanes::Counts below_counts[bound_count];
  for (std::size_t i = 0; i < bound_count; ++i) {
    broadcast[i] = Lanes::broadcast(bounds[i]);
    above_counts[i] = below_counts[i] = Lanes::zero_counts();
  }
  for (std::size_t begin = 0; begin < size; begin += Lanes::kWidth) {
    const auto values = Lanes::load(scores + begin);
    for (std::size_t i = 0; i < bound_count; ++i) {
      above_counts[i] = Lanes::increment_where_above(above_counts[i], values, broadcast[i]);
      below_counts[i] = Lanes::increment_where_above(below_counts[i], broadcast[i], values);
    }
  }
  for (std::size_t i = 0; i < bound_count; ++i) {
    std::uint32_t lanes[Lanes::kWidth];
    Lanes::store(lanes, above_counts[i]);
    for (const std::uint32_t count : lanes) above[i] += count;
    Lanes::store(lanes, below_counts[i]);
    for (const std::uint32_t count : lanes) below[i] += count;
  }
}

// Counts at most as many scores as a lane of a counter can hold.
template <class Lanes>
void count_around_in_part(const typename Lanes::Score* scores, std::size_t size,
                          const typename Lanes::Score* bounds, std::size_t bound_count,
                          std::int64_t* above, std::int64_t* below) {
  constexpr std::size_t kBounds = 4;
  const std::size_t whole = size - size % Lanes::kWidth;
  std::size_t i = 0;
  for (; i + kBounds <= bound_count; i += kBounds) {
    count_around_bounds<Lanes, kBounds>(scores, whole, bounds + i, above + i, below + i);
  }
  for (; i < bound_count; ++i) {
    count_around_bounds<Lanes, 1>(scores, whole, bounds + i, above + i, below + i);
  }
  for (std::size_t bound = 0; bound < bound_count; ++bound) {
    for (std::size_t position = whole; position < size; ++position) {
      above[bound] += scores[position] > bounds[bound] ? 1 : 0;
      below[bound] += scores[position] < bounds[bound] ? 1 : 0;
    }
  }
}

template <class Lanes>
void count_around(const typename Lanes::Score* scores, std::size_t size,
                  const typename Lanes::Score* bounds, std::size_t bound_count, std::int64_t* above,
                  std::int64_t* below) {
  constexpr std::size_t kMaxSize = std::size_t{1} << 30U;
  for (; size > kMaxSize; scores += kMaxSize, size -= kMaxSize) {
    count_around_in_part<Lanes>(scores, kMaxSize, bounds, bound_count, above, below);
  }
  count_around_in_part<Lanes>(scores, size, bounds, bound_count, above, below);
}

template <class Lanes>
void count_above(const typename Lanes::Score* scores, std::size_t size, std::size_t padded_size,
                 std::uint32_t* counts) {
  constexpr std::size_t kVectors = kCompareBlock / Lanes::kWidth;
  for (std::size_t begin = 0; begin < padded_size; begin += kCompareBlock) {
    typename Lanes::Vector bounds[kVectors];
    typename Lanes::Counts above[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      bounds[v] = Lanes::load(scores + begin + v * Lanes::kWidth);
      above[v] = Lanes::zero_counts();
    }
    for (std::size_t i = 0; i < size; ++i) {
      const auto score = Lanes::broadcast(scores[i]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        above[v] = Lanes::increment_where_above(above[v], score, bounds[v]);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      Lanes::store(counts + begin + v * Lanes::kWidth, above[v]);
    }
  }
}

template <class Lanes>
inline constexpr ScoreKernels<typename Lanes::Score> kScoreKernels = {
    .group_maxima = &group_maxima<Lanes>,
    .find_at_least = &find_at_least<Lanes>,
    .list_at_least = &list_at_least<Lanes>,
    .count_beating = &count_beating<Lanes>,
    .count_around = &count_around<Lanes>,
    .count_above = &count_above<Lanes>};

}  // namespace exactk
