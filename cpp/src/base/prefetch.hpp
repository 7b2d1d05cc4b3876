// Fetches memory into a near cache before it is read.
#pragma once

#include <algorithm>
#include <cstddef>

namespace exactk {

// Fetches the beginning, beside which a near cache has room for much else. Always inline, like
// every function that does nothing else: GCC drops the calls of functions without a visible effect.
[[gnu::always_inline]] inline void prefetch(const void* memory, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMost = std::size_t{1} << 14U;
  const auto* const lines = static_cast<const std::byte*>(memory);
  for (std::size_t i = 0; i < std::min(bytes, kMost); i += kLine) __builtin_prefetch(lines + i);
}

}  // namespace exactk
