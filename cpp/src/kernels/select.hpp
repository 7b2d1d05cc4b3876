// What it takes to rank scores without sorting them: maxima of groups, from which a bound follows;
// the scores that reach the bound; and how many scores beat others.
#pragma once

#include "kernels/table.hpp"

namespace metrik {

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
        Vector some = Lanes::load(scores + place);
        odd |= Lanes::is_nan(some);
        if constexpr (masked) some = Lanes::lowered(some, excluded[place / 64] >> (place % 64));
        greatest[v] = Lanes::greater_of(some, greatest[v]);
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

// The scores are read once, and those of a block compared with one bound after another.
template <class Lanes>
void count_beating(const typename Lanes::Score* scores, std::size_t size,
                   const typename Lanes::Score* bounds, std::size_t strict,
                   std::size_t size_of_bounds, std::int64_t* counts) {
  constexpr std::size_t kVectors = 4;
  constexpr std::size_t kBlock = kVectors * Lanes::kWidth;
  std::size_t begin = 0;
  for (; begin + kBlock <= size; begin += kBlock) {
    typename Lanes::Vector some[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      some[v] = Lanes::load(scores + begin + v * Lanes::kWidth);
    }
    for (std::size_t i = 0; i < size_of_bounds; ++i) {
      const auto bound = Lanes::all(bounds[i]);
      unsigned count = 0;
      for (std::size_t v = 0; v < kVectors; ++v) {
        count += Lanes::count(i < strict ? Lanes::at_least(some[v], bound)
                                         : Lanes::above(some[v], bound));
      }
      counts[i] += count;
    }
  }
  for (; begin < size; ++begin) {
    for (std::size_t i = 0; i < size_of_bounds; ++i) {
      counts[i] += (i < strict ? scores[begin] >= bounds[i] : scores[begin] > bounds[i]) ? 1 : 0;
    }
  }
}

template <class Lanes>
inline constexpr ScoreKernels<typename Lanes::Score> kScoreKernels = {
    .group_maxima = &group_maxima<Lanes>,
    .find_at_least = &find_at_least<Lanes>,
    .count_beating = &count_beating<Lanes>};

}  // namespace metrik
