// Ranks a few items of a short row of scores: the rank of an item is the number of scores above its
// own.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A template on the lanes, so that each instruction set has its own; compilers find the vectors by
// themselves.
template <class Lanes, class Score>
PositionBits rank_short_row(const Score* scores, std::size_t size, Score least,
                            PositionBits positions, bool* is_certain) {
  constexpr std::size_t kBlock = 16;
  Score copies[kShortList];  // since another thread may write to the scores
  for (std::size_t i = 0; i < size; ++i) copies[i] = scores[i];
  const std::size_t padded_size = (size + kBlock - 1) / kBlock * kBlock;
  for (std::size_t i = size; i < padded_size; ++i) copies[i] = least;
  unsigned refused = 0;
  for (std::size_t i = 0; i < padded_size; ++i)
    refused |= copies[i] >= least ? 0 : 1;  // NaN is not
  *is_certain = refused == 0;
  PositionBits ranks = {0, 0};
  for (std::size_t first = 0; first < kShortList; first += 64) {
    std::uint64_t bits = first == 0 ? positions.low : positions.high;
    for (; bits != 0; bits &= bits - 1) {
      const Score score = copies[first + static_cast<std::size_t>(__builtin_ctzll(bits))];
      std::uint32_t above = 0;
      std::uint32_t equal = 0;
      for (std::size_t i = 0; i < padded_size; ++i) {
        above += copies[i] > score ? 1 : 0;
        equal += copies[i] == score ? 1 : 0;
      }
      if (equal != 1) *is_certain = false;
      (above < 64 ? ranks.low : ranks.high) |= std::uint64_t{1} << above % 64;
    }
  }
  return ranks;
}

}  // namespace exactk
