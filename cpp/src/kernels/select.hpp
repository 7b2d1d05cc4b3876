// What it takes to rank scores without sorting them: maxima of groups, from which a bound follows;
// the scores that reach the bound; and how many scores beat others.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A comparison with NaN is false: NaN is never the greatest, nor at least anything.
template <class Lanes, bool masked>
bool group_maxima(const typename Lanes::Score* scores, std::size_t chunks,
                  const std::uint64_t* excluded, typename Lanes::Score* maxima) {
  using Vector = Lanes::Vector;
  constexpr std::size_t kVectors = kGroups / Lanes::kWidth;
  auto odd = Lanes::no_mask();
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    Vector greatest[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) greatest[v] = Lanes::all(Lanes::kLowest);
    for (std::size_t i = 0; i < kChunkScores; i += kGroups) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const std::size_t place = i + v * Lanes::kWidth;
        const Vector some = Lanes::load(scores + place);
        odd |= Lanes::is_nan(some);
        if constexpr (masked) {
          const Vector left = Lanes::lowered(some, excluded[place / 64] >> (place % 64));
          greatest[v] = Lanes::greater_of(left, greatest[v]);
        } else {
          greatest[v] = Lanes::greater_of(some, greatest[v]);
        }
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      Lanes::store(maxima + v * Lanes::kWidth, greatest[v]);
    }
    scores += kChunkScores;
    maxima += kGroups;
    if constexpr (masked) excluded += kChunkScores / 64;
  }
  return odd != 0;
}

template <class Lanes>
bool group_maxima(const typename Lanes::Score* scores, std::size_t chunks,
                  const std::uint64_t* excluded, typename Lanes::Score* maxima) {
  return excluded == nullptr ? group_maxima<Lanes, false>(scores, chunks, excluded, maxima)
                             : group_maxima<Lanes, true>(scores, chunks, excluded, maxima);
}

template <class Lanes>
std::size_t find_at_least(const typename Lanes::Score* scores, std::size_t size,
                          typename Lanes::Score least, std::uint32_t* positions) {
  constexpr std::size_t kWord = 64;
  const auto bound = Lanes::all(least);
  std::size_t count = 0;
  std::size_t begin = 0;
  for (; begin + kWord <= size; begin += kWord) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < kWord; i += Lanes::kWidth) {
      bits |= std::uint64_t{Lanes::at_least(Lanes::load(scores + begin + i), bound)} << i;
    }
    for (; bits != 0; bits &= bits - 1) {
      positions[count++] =
          static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    }
  }
  for (; begin < size; ++begin) {
    positions[count] = static_cast<std::uint32_t>(begin);
    count += scores[begin] >= least ? 1 : 0;
  }
  return count;
}

// So many scores, at most 64, are read once and compared with one bound after another. `counted`: a
// bit a score.
template <class Lanes, std::size_t size>
void count_some(const typename Lanes::Score* scores, const typename Lanes::Score* bounds,
                std::size_t strict, std::size_t size_of_bounds, std::uint64_t counted,
                std::int64_t* counts) {
  for (std::size_t i = 0; i < size_of_bounds; ++i) {
    const auto bound = Lanes::all(bounds[i]);
    std::uint64_t bits = 0;
    for (std::size_t lane = 0; lane < size; lane += Lanes::kWidth) {
      const auto some = Lanes::load(scores + lane);
      const std::uint64_t beating =
          i < strict ? Lanes::at_least(some, bound) : Lanes::above(some, bound);
      bits |= beating << lane;
    }
    counts[i] += Lanes::count(bits & counted);
  }
}

template <class Lanes>
void count_beating(const typename Lanes::Score* scores, std::size_t size,
                   const typename Lanes::Score* bounds, std::size_t strict,
                   std::size_t size_of_bounds, std::int64_t* counts) {
  constexpr std::size_t kWord = 64;
  constexpr std::uint64_t kEach = ~std::uint64_t{0};
  std::size_t begin = 0;
  for (; begin + kWord <= size; begin += kWord) {
    count_some<Lanes, kWord>(scores + begin, bounds, strict, size_of_bounds, kEach, counts);
  }
  for (; begin + Lanes::kWidth <= size; begin += Lanes::kWidth) {
    count_some<Lanes, Lanes::kWidth>(scores + begin, bounds, strict, size_of_bounds, kEach, counts);
  }
  if (begin == size) return;
  typename Lanes::Score last[Lanes::kWidth];
  for (std::size_t i = 0; i < Lanes::kWidth; ++i) {
    last[i] = begin + i < size ? scores[begin + i] : Lanes::kLowest;
  }
  const std::uint64_t counted = (std::uint64_t{1} << (size - begin)) - 1;
  count_some<Lanes, Lanes::kWidth>(last, bounds, strict, size_of_bounds, counted, counts);
}

template <class Lanes>
void count_above(const typename Lanes::Score* scores, std::size_t size, std::size_t padded,
                 std::uint32_t* counts) {
  constexpr std::size_t kVectors = kCompared / Lanes::kWidth;
  for (std::size_t begin = 0; begin < padded; begin += kCompared) {
    typename Lanes::Vector own[kVectors];
    typename Lanes::Counts above[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      own[v] = Lanes::load(scores + begin + v * Lanes::kWidth);
      above[v] = Lanes::none();
    }
    for (std::size_t i = 0; i < size; ++i) {
      const auto score = Lanes::all(scores[i]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        above[v] = Lanes::one_more_where_above(above[v], score, own[v]);
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
    .count_beating = &count_beating<Lanes>,
    .count_above = &count_above<Lanes>};

}  // namespace exactk
