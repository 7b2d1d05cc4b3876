// IEEE half precision: a sign, 5 bits of exponent, 10 of fraction.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace exactk {

[[nodiscard]] inline float from_half(std::uint16_t half) noexcept {
  const unsigned exponent = (half >> 10U) & 0x1fU;
  const unsigned fraction = half & 0x3ffU;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent != 0) {
    magnitude = std::bit_cast<float>(((exponent + 112) << 23U) | (fraction << 13U));
  } else {
    magnitude = static_cast<float>(fraction) * 0x1p-24F;  // subnormal
  }
  return half >> 15U != 0 ? -magnitude : magnitude;
}

}  // namespace exactk
