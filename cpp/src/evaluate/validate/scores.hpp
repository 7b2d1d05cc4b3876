// Checks of scores and embeddings.
#pragma once

#include <cstdint>

#include "exactk/types.hpp"

namespace exactk {

// Returns the bitwise "or" of the ids of `items` items whose ids are their positions.
[[nodiscard]] std::uint64_t bits_below(Count items) noexcept;

}  // namespace exactk
