// Philox4x32-10, the counter-based random numbers of Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", 2011.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// Calls of the generator that are made at a time, for 128 bits each.
inline constexpr std::size_t kRandomCalls = 8;

constexpr std::int64_t kCallNumbers[kRandomCalls] = {0, 1, 2, 3, 4, 5, 6, 7};

// The keys of the rounds, in memory: instructions read them from there for nothing.
template <class Lanes>
struct RoundKeys {
  explicit RoundKeys(std::uint64_t seed) {
    auto first = static_cast<std::uint32_t>(seed);
    auto second = static_cast<std::uint32_t>(seed >> 32U);
    for (std::int64_t (&key)[2] : keys) {
      key[0] = first;
      key[1] = second;
      first += 0x9E3779B9;
      second += 0xBB67AE85;
    }
  }

  std::int64_t keys[10][2];
};

// Makes kRandomCalls calls with successive numbers, two words of `bits` each. The counter is the
// unit's key, the number of the call and that of the stream. A lane holds a 32-bit word; the bits
// above it are ignored.
template <class Lanes>
void draw_random_bits(std::uint64_t key, const RoundKeys<Lanes>& round_keys, std::uint32_t stream,
                      std::uint32_t first_call, std::uint64_t* bits) {
  using Words = Lanes::Integers;
  const Words multipliers[2] = {Lanes::broadcast(std::int64_t{0xD2511F53}),
                                Lanes::broadcast(std::int64_t{0xCD9E8D57})};
  const Words first_number = Lanes::broadcast(std::int64_t{first_call});
  for (std::size_t call = 0; call < kRandomCalls; call += Lanes::kWidth) {
    Words counter[4] = {Lanes::broadcast(static_cast<std::int64_t>(key)),
                        Lanes::broadcast(static_cast<std::int64_t>(key >> 32U)),
                        Lanes::plus(first_number, Lanes::load(kCallNumbers + call)),
                        Lanes::broadcast(std::int64_t{stream})};
    for (const std::int64_t (&round_key)[2] : round_keys.keys) {
      const Words first = Lanes::word_product(counter[0], multipliers[0]);
      const Words second = Lanes::word_product(counter[2], multipliers[1]);
      counter[0] = Lanes::bit_xor(Lanes::bit_xor(Lanes::high_word(second), counter[1]),
                                  Lanes::broadcast(round_key[0]));
      counter[1] = second;
      counter[2] = Lanes::bit_xor(Lanes::bit_xor(Lanes::high_word(first), counter[3]),
                                  Lanes::broadcast(round_key[1]));
      counter[3] = first;
    }
    Lanes::store_calls(bits + 2 * call, counter);
  }
}

}  // namespace exactk
