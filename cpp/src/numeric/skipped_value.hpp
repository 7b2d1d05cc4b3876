// The value of a user who is left out of the mean.
#pragma once

#include <bit>
#include <cstdint>

namespace exactk {

// A NaN with other bits than the NaN of an undefined value, which does count in the mean.
inline constexpr auto kSkipped = std::bit_cast<double>(std::uint64_t{0x7ff8000000005c1d});

[[nodiscard]] inline bool is_skipped(double value) noexcept {
  return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(kSkipped);
}

}  // namespace exactk
