// The value of a user who is in no mean.
#pragma once

#include <bit>
#include <cstdint>

namespace exactk {

// Another NaN than that of a value which is in the mean and undefined: only their bits differ.
inline constexpr auto kSkipped = std::bit_cast<double>(std::uint64_t{0x7ff8000000005c1d});

[[nodiscard]] inline bool is_skipped(double value) noexcept {
  return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(kSkipped);
}

}  // namespace exactk
