// Checks of scores and embeddings.
#pragma once

#include <cstdint>

#include "exactk/types.hpp"

namespace exactk {

// The bitwise "or" of the ids of so many items, which are their positions.
[[nodiscard]] std::uint64_t bits_below(Count items) noexcept;

}  // namespace exactk
