// The trust boundary. One pass over everything that comes in, before any user is read; whatever
// gets past it, the rest of the core may rely on.
#pragma once

#include <cstdint>

#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

// Throws InputError. Every array by itself, that they fit each other, and that the grades have the
// gains that the plan asks for. Returns the bitwise "or" of all ids.
[[nodiscard]] std::uint64_t validate(const Request& request, const Plan& plan);

}  // namespace exactk
