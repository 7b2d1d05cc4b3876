// What it takes to rank scores without sorting them: maxima of groups, from which a bound follows;
// the scores that reach the bound; and how many scores beat one.
#pragma once

#include "kernels/table.hpp"

namespace metrik {

// A comparison with NaN is false: NaN is never the greatest, nor at least anything.
template <class Lanes>
bool group_maxima(const typename Lanes::Score* scores, std::size_t chunks,
                  typename Lanes::Score* maxima) {
  using Vector = Lanes::Vector;
  constexpr std::size_t kVectors = kGroups / Lanes::kWidth;
  auto odd = Lanes::no_mask();
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    Vector greatest[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) greatest[v] = Lanes::all(Lanes::kLowest);
    for (std::size_t i = 0; i < kChunkScores; i += kGroups) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Vector some = Lanes::load(scores + i + v * Lanes::kWidth);
        odd |= Lanes::is_nan(some);
        greatest[v] = Lanes::greater_of(some, greatest[v]);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      Lanes::store(maxima + v * Lanes::kWidth, greatest[v]);
    }
    scores += kChunkScores;
    maxima += kGroups;
  }
  return odd != 0;
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

template <class Lanes>
void count_above(const typename Lanes::Score* scores, std::size_t size, typename Lanes::Score score,
                 std::size_t* above, std::size_t* equal) {
  const auto bound = Lanes::all(score);
  std::size_t greater = 0;
  std::size_t reaching = 0;
  std::size_t i = 0;
  for (; i + Lanes::kWidth <= size; i += Lanes::kWidth) {
    const auto some = Lanes::load(scores + i);
    greater += Lanes::count(Lanes::above(some, bound));
    reaching += Lanes::count(Lanes::at_least(some, bound));
  }
  for (; i < size; ++i) {
    greater += scores[i] > score ? 1 : 0;
    reaching += scores[i] >= score ? 1 : 0;
  }
  *above = greater;
  *equal = reaching - greater;
}

template <class Lanes>
inline constexpr ScoreKernels<typename Lanes::Score> kScoreKernels = {
    .group_maxima = &group_maxima<Lanes>,
    .find_at_least = &find_at_least<Lanes>,
    .count_above = &count_above<Lanes>};

}  // namespace metrik
