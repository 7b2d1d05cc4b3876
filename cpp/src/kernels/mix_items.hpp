// Mixes the bits of items and their grades, for digests.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A template, so that each instruction set has its own; compilers find the vectors by themselves.
template <class Lanes>
std::uint64_t mix_items(const std::uint64_t* keys, const double* grades, std::size_t size,
                        std::uint64_t* mixed) {
  const auto mix = [](std::uint64_t key, double grade) {
    const double unsigned_zero = grade + 0.0;  // the bits of -0 are those of 0
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &unsigned_zero, sizeof(bits));
    std::uint64_t word = key ^ ((bits ^ kGradeSeed) * kGradeFactor);
    word *= kFirstMixFactor;
    word ^= word >> 32U;
    word *= kSecondMixFactor;
    return word ^ (word >> 32U);
  };
  std::uint64_t sum = 0;
  if (grades == nullptr) {
    for (std::size_t i = 0; i < size; ++i) sum += mixed[i] = mix(keys[i], 1);
  } else {
    for (std::size_t i = 0; i < size; ++i) sum += mixed[i] = mix(keys[i], grades[i]);
  }
  return sum;
}

}  // namespace exactk
