// The ranks of the hits of a short list, as bits.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "exactk/types.hpp"

namespace exactk {

struct HitBits {
  std::uint64_t low = 0;   // of the ranks from 1 on
  std::uint64_t high = 0;  // of the ranks from 65 on

  [[nodiscard]] static HitBits all() noexcept { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }
  // Returns the bit of a rank, or none for rank 0.
  [[nodiscard]] static HitBits at(Count rank) noexcept {
    if (rank == 0) return {};
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>((rank - 1) % 64);
    return rank <= 64 ? HitBits{bit, 0} : HitBits{0, bit};
  }

  [[nodiscard]] HitBits down_to(Count rank) const noexcept {
    return {low & first_bits(rank), high & first_bits(rank - 64)};
  }
  // Counts bits in pairs, nibbles, bytes and the word: std::popcount is a call on older CPUs.
  [[nodiscard]] Count count() const noexcept {
    const auto in_nibbles = [](std::uint64_t bits) {
      bits -= bits >> 1U & 0x5555555555555555U;
      return (bits & 0x3333333333333333U) + (bits >> 2U & 0x3333333333333333U);
    };
    const std::uint64_t nibbles = in_nibbles(low) + in_nibbles(high);
    const std::uint64_t bytes =
        (nibbles & 0x0f0f0f0f0f0f0f0fU) + (nibbles >> 4U & 0x0f0f0f0f0f0f0f0fU);
    return static_cast<Count>(bytes * 0x0101010101010101U >> 56U);
  }
  // Returns the first rank of a hit; 0 if there is none.
  [[nodiscard]] Count first_rank() const noexcept {
    if (low != 0) return std::countr_zero(low) + 1;
    return high != 0 ? std::countr_zero(high) + 65 : 0;
  }

 private:
  // Returns the lowest bits, as many as asked for.
  [[nodiscard]] static std::uint64_t first_bits(Count count) noexcept {
    if (count <= 0) return 0;
    return count < 64 ? (std::uint64_t{1} << static_cast<unsigned>(count)) - 1 : ~std::uint64_t{0};
  }
};

// Calls body(rank) for each hit. One loop over both words, since the end of each is hard to
// predict.
template <class Body>
void for_each_rank(HitBits hits, const Body& body) {
  Count rank = 1;
  for (Count remaining = hits.count(); remaining > 0; --remaining) {
    if (hits.low == 0) {
      hits.low = std::exchange(hits.high, 0);
      rank = 65;
    }
    body(rank + std::countr_zero(hits.low));
    hits.low &= hits.low - 1;
  }
}

}  // namespace exactk
